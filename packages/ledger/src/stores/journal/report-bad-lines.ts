/** Tells an operator of bytes in a journal that are no lines. */
import type { Logger } from "@dragoman/core";

import type { BadLine } from "./segment-reader.ts";

/** Logs each with its place; returns how many there are. */
export function reportBadLines(logger: Logger, file: string, bad: readonly BadLine[]): number {
  for (const { offset, byteLength, reason } of bad)
    logger.error({ file, offset, byteLength, reason }, "A line of the journal cannot be read and is skipped.");
  return bad.length;
}
