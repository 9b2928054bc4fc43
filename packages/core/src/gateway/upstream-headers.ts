/**
 * Headers of an upstream call: written anew from the encoder's, the account's and the credential's. Nothing of the client's
 * head passes but what a deployment allows by name; credentials never do.
 */
import type { Credential, Deployment } from "../config/index.ts";
import type { HeaderList } from "../dialect/index.ts";

/** Never forwarded, even where the configuration allows it: credentials, hop-by-hop and framing fields (RFC 9110 §7.6.1). */
const NEVER = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "proxy-authorization",
  "cookie",
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "content-length",
  "content-type",
  "content-encoding",
  "accept",
  "accept-encoding",
  "user-agent",
]);

/** Whether a client's header may be forwarded when a deployment lists it. */
export function isForwardable(lowerName: string): boolean {
  return (
    !NEVER.has(lowerName) &&
    !lowerName.startsWith("proxy-") &&
    !lowerName.startsWith("x-forwarded-") &&
    !lowerName.startsWith("x-dragoman-")
  );
}

/** What `buildUpstreamHeaders` needs. */
export interface UpstreamHeaderParts {
  readonly deployment: Deployment;
  readonly credential: Credential | null;
  readonly dialectHeaders: HeaderList;
  readonly clientHeaders: HeaderList;
  readonly isStream: boolean;
  readonly userAgent: string;
}

/** Builds the flat header list of one upstream call; host and length are the transport's. */
export function buildUpstreamHeaders(parts: UpstreamHeaderParts): HeaderList {
  const { deployment, credential } = parts;
  const headers = [
    "content-type",
    "application/json",
    "accept",
    parts.isStream ? "text/event-stream" : "application/json",
    "accept-encoding",
    "identity",
    "user-agent",
    parts.userAgent,
  ];
  const credentialValue = credential?.headerValue ?? null;
  if (credentialValue !== null) headers.push(deployment.provider.credentialHeader.name, credentialValue);
  for (const item of parts.dialectHeaders) headers.push(item);
  for (const item of deployment.provider.headers) headers.push(item);
  const allowed = deployment.options["headersAllow"];
  if (Array.isArray(allowed)) appendAllowed(headers, parts.clientHeaders, allowed);
  return headers;
}

const appendAllowed = (headers: string[], clientHeaders: HeaderList, allowed: readonly unknown[]): void => {
  for (let index = 0; index + 1 < clientHeaders.length; index += 2) {
    const name = (clientHeaders[index] as string).toLowerCase();
    if (allowed.includes(name) && isForwardable(name)) headers.push(name, clientHeaders[index + 1] as string);
  }
};
