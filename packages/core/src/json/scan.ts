// One-shot scans: a JSON text in, a document with a tape of its own or a typed error out.

import type { Document } from "./document.ts";
import type { ScanLimits } from "./scan-limits.ts";
import { Scanner } from "./scanner.ts";
import type { JsonSyntaxError } from "./syntax-error.ts";

/** A document, or why there is none. */
export type ScanResult =
  | { readonly ok: true; readonly document: Document }
  | { readonly ok: false; readonly error: JsonSyntaxError };

/**
 * Scans a whole buffer as one JSON text (RFC 8259, strict: no byte order mark, nothing after the text, valid UTF-8, no repeated
 * names unless allowed). The document refers to `bytes` and is valid as long as they are unchanged. Never throws on any bytes.
 */
export function scan(bytes: Uint8Array, limits?: ScanLimits): ScanResult {
  return scanRange(bytes, 0, bytes.length, limits);
}

/** As {@link scan}, for the bytes from `start` to `end`; offsets in the result are offsets in `bytes`. */
export function scanRange(bytes: Uint8Array, start: number, end: number, limits?: ScanLimits): ScanResult {
  const scanner = new Scanner(limits, end - start);
  const document = scanner.scan(bytes, start, end);
  if (document !== null) return { ok: true, document };
  // The cast holds because a scanner that returns no document has set its error.
  return { ok: false, error: scanner.error as JsonSyntaxError };
}
