/**
 * How long an upstream asks to wait, read from the headers that vendors use for it. Values that are no time, or lie in the past,
 * are ignored; callers cap the result.
 */
import { findHeader, type HeaderList, type NeutralError } from "@dragoman/core";

import { readDurationMs } from "./duration.ts";

const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/;

const readDecimal = (text: string | undefined): number | undefined => {
  const trimmed = text?.trim();
  return trimmed !== undefined && DECIMAL.test(trimmed) ? Number(trimmed) : undefined;
};

/** `retry-after` as delta-seconds or as an HTTP date (RFC 9110 §10.2.3). */
function readRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const seconds = readDecimal(text);
  if (seconds !== undefined) return seconds * 1000;
  const at = readHttpDate(text);
  return at === undefined || at <= nowMs ? undefined : at - nowMs;
}

function readHttpDate(text: string): number | undefined {
  // Date.parse takes much more than HTTP dates; all of those begin with a day's name.
  if (!/^[A-Z][a-z]{2,8},? /.test(text.trim())) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** The longest reset of a limit whose remaining count is zero; a limit that is not used up does not make anyone wait. */
function readLimitReset(headers: HeaderList): number | undefined {
  let longest: number | undefined;
  for (const what of ["requests", "tokens"]) {
    const reset = findHeader(headers, `x-ratelimit-reset-${what}`);
    const remaining = findHeader(headers, `x-ratelimit-remaining-${what}`)?.trim();
    if (reset === undefined || (remaining !== undefined && remaining !== "0")) continue;
    const duration = readDurationMs(reset);
    if (duration !== undefined && (longest === undefined || duration > longest)) longest = duration;
  }
  return longest;
}

/** The wait an upstream asks for, in milliseconds: `retry-after-ms`, else `retry-after`, else the reset of a used-up limit. */
export function readRetryAfterMs(headers: HeaderList, nowMs: number): number | undefined {
  const milliseconds = readDecimal(findHeader(headers, "retry-after-ms"));
  if (milliseconds !== undefined) return Math.ceil(milliseconds);
  const wait = readRetryAfter(findHeader(headers, "retry-after"), nowMs) ?? readLimitReset(headers);
  return wait === undefined ? undefined : Math.ceil(wait);
}

/** Fields that tell a client when to come back, in the order in which they are relayed. */
const RELAYED_FIELDS = ["retry-after", "retry-after-ms"];

/** Whether a value is a time that a client can read; anything else would only reach it to be misread. */
function isTime(name: string, value: string): boolean {
  return readDecimal(value) !== undefined || (name === "retry-after" && readHttpDate(value) !== undefined);
}

/** The retry fields of an answer as the upstream spelled them, or undefined when there are none that can be read. */
export function relayedRetryAfter(headers: HeaderList): HeaderList | undefined {
  const relayed = RELAYED_FIELDS.flatMap((name) => {
    const value = findHeader(headers, name);
    return value === undefined || !isTime(name, value) ? [] : [name, value];
  });
  return relayed.length === 0 ? undefined : relayed;
}

/** The retry hint of an error for its client: what the upstream said, else our own wait in whole seconds, rounded up. */
export function retryHintHeaders(error: NeutralError): HeaderList {
  if (error.retryAfterHeaders !== undefined) return error.retryAfterHeaders;
  return error.retryAfterMs === undefined ? [] : ["retry-after", String(Math.ceil(error.retryAfterMs / 1000))];
}

/** What an upstream says about retrying: `x-should-retry`, or undefined when it says nothing. */
export function readShouldRetry(headers: HeaderList): boolean | undefined {
  const value = findHeader(headers, "x-should-retry")?.trim().toLowerCase();
  if (value === "true") return true;
  return value === "false" ? false : undefined;
}
