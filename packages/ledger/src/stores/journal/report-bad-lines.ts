/** Tells an operator of bytes in a journal that are no lines. */
import type { Logger } from "@dragoman/core";

import type { BadLine, JournalLine } from "./segment-reader.ts";

/** Logs each with its place; returns how many there are. */
export function reportBadLines(logger: Logger, file: string, bad: readonly BadLine[]): number {
  for (const { offset, byteLength, reason } of bad)
    logger.error({ file, offset, byteLength, reason }, "A line of the journal cannot be read and is skipped.");
  return bad.length;
}

/** A line whose bytes are whole and whose JSON is not of its kind. */
export function misfit({ offset, end }: JournalLine): BadLine {
  return { offset, byteLength: end - offset, reason: "format" };
}
