/** Headers of an answer to a client: ours, written anew; nothing of an upstream's head passes unlisted. */
import { findHeader, type ClientDialect, type HeaderList, type Issue } from "../dialect/index.ts";
import type { ExchangeTiming } from "./exchange-timing.ts";

const CORRELATION = /^[A-Za-z0-9._-]{1,128}$/;

/** The upstream's own id of a call, when it has the shape of one. */
export function readUpstreamRequestId(headers: HeaderList): string | null {
  const value =
    findHeader(headers, "x-request-id") ?? findHeader(headers, "request-id") ?? findHeader(headers, "apim-request-id");
  return value !== undefined && CORRELATION.test(value) ? value : null;
}

/** What the debug headers tell; shown only where they are on for the caller. */
export interface DebugFacts {
  readonly deploymentId: string | null;
  readonly attempts: number;
  readonly issues: readonly Issue[];
  readonly timing: ExchangeTiming | null;
}

/** What every answer's headers are made of. */
export interface AnswerHeaderParts {
  readonly client: ClientDialect;
  readonly requestId: string;
  readonly generation: number;
  readonly upstreamRequestId: string | null;
  /** What the caller's limits leave, in its dialect; null where it has none. */
  readonly rateLimits: HeaderList | null;
  readonly debug: DebugFacts | null;
}

/** Ids, the caller's limits and, where they are on, debug headers: present on answers and errors alike. */
export function buildCommonHeaders(parts: AnswerHeaderParts): string[] {
  const headers = [...parts.client.identify(parts.requestId), "x-dragoman-generation", String(parts.generation)];
  if (parts.upstreamRequestId !== null) headers.push("x-upstream-request-id", parts.upstreamRequestId);
  if (parts.rateLimits !== null) headers.push(...parts.rateLimits);
  const { debug } = parts;
  if (debug === null) return headers;
  if (debug.deploymentId !== null) headers.push("x-dragoman-deployment", headerSafe(debug.deploymentId));
  headers.push("x-dragoman-attempts", String(debug.attempts));
  const codes = [...new Set(debug.issues.map((issue) => issue.code))];
  if (codes.length > 0) headers.push("x-dragoman-adaptations", codes.join(","));
  const timing = debug.timing?.header() ?? "";
  if (timing !== "") headers.push("server-timing", timing);
  return headers;
}

/** Headers of a whole JSON answer. */
export function buildJsonHeaders(parts: AnswerHeaderParts): HeaderList {
  const headers = buildCommonHeaders(parts);
  headers.push("content-type", "application/json");
  return headers;
}

/** Headers of a streamed answer. `no-transform` keeps compressing middleware and proxies from buffering it. */
export function buildStreamHeaders(parts: AnswerHeaderParts): HeaderList {
  const headers = buildCommonHeaders(parts);
  headers.push(
    "content-type",
    parts.client.streamContentType,
    "cache-control",
    "no-cache, no-transform",
    "x-accel-buffering",
    "no",
  );
  return headers;
}

/** Deployment ids are free text in the configuration; a header value is visible ASCII. */
const headerSafe = (value: string): string => value.replaceAll(/[^\x21-\x7e]/g, "_");
