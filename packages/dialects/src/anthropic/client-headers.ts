/** What this dialect reads from the headers of a client: its credential, its protocol version, and whether it is one of ours. */
import { findHeader, findHeaders, type CredentialReading, type HeaderList, type NeutralError } from "@dragoman/core";

import { invalidRequest } from "../shared/neutral-error.ts";
import { API_VERSIONS } from "./members.ts";

const BEARER = /^bearer[ \t]+(.+)$/i;

/** Reads `x-api-key` and `authorization: Bearer`: old and new SDKs differ in which they send. Two that differ are a conflict. */
export function readCredential(headers: HeaderList): CredentialReading {
  const secrets = new Set<string>();
  for (const value of findHeaders(headers, "x-api-key")) if (value.trim() !== "") secrets.add(value.trim());
  for (const value of findHeaders(headers, "authorization")) {
    const secret = BEARER.exec(value.trim())?.[1]?.trim();
    if (secret !== undefined && secret !== "") secrets.add(secret);
  }
  if (secrets.size > 1) return { ok: false, reason: "conflict" };
  const [secret] = secrets;
  return { ok: true, secret: secret ?? null };
}

/** Refuses a protocol version that nobody knows; an absent one counts as the first. */
export function checkHeaders(headers: HeaderList): NeutralError | null {
  const version = findHeader(headers, "anthropic-version")?.trim();
  if (version === undefined || version === "" || API_VERSIONS.includes(version)) return null;
  return invalidRequest(`anthropic-version: expected one of ${API_VERSIONS.join(", ")}.`);
}

/** Whether a request belongs to this dialect's clients, by path or by the header that all of them send. */
export function claims(path: string, headers: HeaderList): boolean {
  return (
    path === "/v1/messages" ||
    path.startsWith("/v1/messages/") ||
    findHeader(headers, "anthropic-version") !== undefined
  );
}
