/** JSON at byte level: a strict scan to a flat tape, a read-only view, edits and segments that keep the source's bytes. */
export { Document } from "./document.ts";
export { Edits } from "./edit.ts";
export { decodeText, encodeString, escapeBytes, unescapeBytes } from "./json-string.ts";
export { DEFAULT_SCAN_LIMITS } from "./scan-limits.ts";
export type { ResolvedLimits, ScanLimits } from "./scan-limits.ts";
export { scan, scanRange } from "./scan.ts";
export type { ScanResult } from "./scan.ts";
export { Scanner } from "./scanner.ts";
export { ScannerPool } from "./scanner-pool.ts";
export { COALESCE_BELOW_BYTES, concat, SegmentWriter } from "./segments.ts";
export type { Segments, SegmentWriterOptions } from "./segments.ts";
export type { JsonErrorCode, JsonSyntaxError } from "./syntax-error.ts";
export { ABSENT, JsonKind } from "./tape.ts";
export type { ByteSlice, NodeIndex, RawSlice, TextSlice } from "./tape.ts";
