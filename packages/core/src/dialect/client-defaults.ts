/** What a client dialect does where its author says nothing: usual credentials, claims by path, an estimate by bytes. */
import { ABSENT, type Document, type NodeIndex } from "../json/index.ts";
import type { ClientRoute, CredentialReading } from "./client-dialect.ts";
import { findHeaders, type HeaderList } from "./header-list.ts";
import type { LimitDimension, LimitStanding } from "./limit-standing.ts";
import { compilePattern } from "./registry.ts";

/** A comment record that every reader of event streams skips (WHATWG HTML, event stream interpretation). */
export const KEEP_ALIVE_COMMENT: Uint8Array = Buffer.from(": keep-alive\n\n");

const BEARER = /^bearer +(\S.*)$/i;

/** Reads `authorization: Bearer` and `x-api-key`. Two secrets that differ are a conflict. */
export function readUsualCredential(headers: HeaderList): CredentialReading {
  const bearers = findHeaders(headers, "authorization").map((value) => BEARER.exec(value.trim())?.[1]?.trim());
  const secrets = [...bearers, ...findHeaders(headers, "x-api-key").map((value) => value.trim())].filter(
    (secret): secret is string => secret !== undefined && secret !== "",
  );
  const [secret = null] = secrets;
  return secrets.every((other) => other === secret) ? { ok: true, secret } : { ok: false, reason: "conflict" };
}

const LIMIT_NAMES: Readonly<Record<LimitDimension, string>> = {
  requests: "requests",
  tokens: "tokens",
  inputTokens: "input-tokens",
  outputTokens: "output-tokens",
};

/** `x-ratelimit-limit-…`, `-remaining-…` and `-reset-…`, the last in whole seconds from now, rounded up. */
export function encodeUsualRateLimits(standings: readonly LimitStanding[], nowMs: number): HeaderList {
  const headers: string[] = [];
  for (const { dimension, limit, remaining, resetMs } of standings) {
    const name = LIMIT_NAMES[dimension];
    headers.push(`x-ratelimit-limit-${name}`, String(limit), `x-ratelimit-remaining-${name}`, String(remaining));
    headers.push(`x-ratelimit-reset-${name}`, String(Math.max(Math.ceil((resetMs - nowMs) / 1000), 0)));
  }
  return headers;
}

/** A dialect claims the paths of its own routes. */
export function claimsOwnRoutes(routes: readonly ClientRoute[]): (path: string) => boolean {
  const exact = new Set(routes.map(({ path }) => path));
  const patterns = routes.map(({ path }) => compilePattern(path)).filter((pattern) => pattern !== null);
  return (path) => exact.has(path) || patterns.some((pattern) => pattern.test(path));
}

/** Bytes of text that a token takes on average. */
const BYTES_PER_TOKEN = 4;
/** A string without a blank that is longer than this is a medium in base64. */
const LONGEST_WORD_BYTES = 2_048;
/** Base64 characters of a medium that make a token: between what vendors take for images and for documents. */
const MEDIA_BYTES_PER_TOKEN = 100;
const SPACE = 0x20;

/** Estimates input tokens by the bytes of a body's strings; long ones without a blank count as media. */
export function estimateFromBytes(document: Document): number {
  return Math.ceil(tokensOf(document, document.root));
}

function tokensOf(document: Document, node: NodeIndex): number {
  let tokens = 0;
  if (document.isObject(node)) {
    for (let key = document.firstMember(node); key !== ABSENT; key = document.nextMember(key))
      tokens += tokensOf(document, document.memberValue(key));
  } else if (document.isArray(node)) {
    for (let element = document.firstElement(node); element !== ABSENT; element = document.nextElement(element))
      tokens += tokensOf(document, element);
  } else if (document.isString(node)) {
    const length = document.end(node) - document.start(node) - 2;
    tokens = length / (isMedium(document, node, length) ? MEDIA_BYTES_PER_TOKEN : BYTES_PER_TOKEN);
  }
  return tokens;
}

function isMedium(document: Document, node: NodeIndex, length: number): boolean {
  if (length <= LONGEST_WORD_BYTES) return false;
  const start = document.start(node);
  return !document.bytes.subarray(start, start + LONGEST_WORD_BYTES).includes(SPACE);
}
