// Where clients of this dialect put their key. Values are returned, never kept.
import { findHeaders } from "@dragoman/core";
import type { CredentialReading, HeaderList } from "@dragoman/core";

const BEARER = /^bearer +(\S.*)$/i;

/** Reads the bearer token, else the `api-key` header of Azure-style clients. Two that differ are a conflict. */
export function readCredential(headers: HeaderList): CredentialReading {
  const secrets: string[] = [];
  for (const value of findHeaders(headers, "authorization")) {
    const token = BEARER.exec(value.trim())?.[1];
    if (token !== undefined) secrets.push(token.trim());
  }
  for (const value of findHeaders(headers, "api-key")) if (value.trim() !== "") secrets.push(value.trim());
  const [secret] = secrets;
  if (secret === undefined) return { ok: true, secret: null };
  return secrets.every((other) => other === secret) ? { ok: true, secret } : { ok: false, reason: "conflict" };
}
