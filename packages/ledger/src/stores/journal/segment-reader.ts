/**
 * Reads the lines of a journal's file from any place where one begins. Invariants: a line counts only with its line feed and its
 * checksum; what is no line is reported with its place, and reading goes on behind the next line feed; what comes after the last line
 * feed is left, since its writer may still be at it; memory is bounded by the longest line.
 */
import { crc32 } from "node:zlib";

import type { ReadableFile } from "./journal-files.ts";
import { LINE_OVERHEAD } from "./line-buffer.ts";
import type { LineKind } from "./line-json.ts";

/** A line, not parsed. */
export interface JournalLine {
  readonly kind: LineKind;
  /** Valid until the next read. */
  readonly json: Uint8Array;
  readonly offset: number;
  /** Where the line after it begins. */
  readonly end: number;
}

/** Bytes that are no line. */
export interface BadLine {
  readonly offset: number;
  readonly byteLength: number;
  readonly reason: "checksum" | "format" | "too-long";
}

/** What a read found. */
export interface LineBatch {
  readonly lines: readonly JournalLine[];
  readonly bad: readonly BadLine[];
  /** Nothing whole is left before `until`. */
  readonly isAtEnd: boolean;
}

/** About 250 entries, which one transaction books in little time. */
const CHUNK_BYTES = 128 * 1024;
/** Far more than a line with all its names can have. */
const MAX_LINE_BYTES: number = 1024 * 1024;

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const DIGITS = /^[0-9a-f]{8}$/;
/** Lines begin with `{"k":"` and the kind, whose first letter is its own. */
const KIND_AT = 6;
const PREFIX: Buffer = Buffer.from('{"k":"');
const KINDS: ReadonlyMap<number, LineKind> = new Map(
  (["start", "hold", "attempt", "entry", "close"] as const).map((kind) => [kind.charCodeAt(0), kind]),
);

export class SegmentReader {
  readonly #file: ReadableFile;
  readonly #maxLineBytes: number;
  #chunk: Buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  /** Place of the chunk's first byte in the file. */
  #offset: number;
  #start = 0;
  #end = 0;
  /** Where a line began that is too long, and whose end was not found yet. */
  #tooLongFrom: number | null = null;

  constructor(file: ReadableFile, from: number, maxLineBytes: number = MAX_LINE_BYTES) {
    this.#file = file;
    this.#offset = from;
    this.#maxLineBytes = maxLineBytes;
  }

  /** Place behind everything that was read: where the next line begins, or the torn one. */
  get position(): number {
    return this.#tooLongFrom ?? this.#offset + this.#start;
  }

  /** Reads lines that end at `until` at the latest, at most one chunk of them. */
  async read(until: number): Promise<LineBatch> {
    const lines: JournalLine[] = [];
    const bad: BadLine[] = [];
    const count = await this.#fill(until);
    this.#split(lines, bad);
    return { lines, bad, isAtEnd: count === 0 };
  }

  /** Reads on behind what is there. Bytes of lines that were given out are gone afterwards. */
  async #fill(until: number): Promise<number> {
    this.#chunk.copy(this.#chunk, 0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#offset += this.#start;
    this.#start = 0;
    if (this.#end === this.#chunk.byteLength) this.#grow();
    const wanted = Math.min(this.#chunk.byteLength - this.#end, until - this.#offset - this.#end);
    if (wanted <= 0) return 0;
    const count = await this.#file.read(this.#chunk.subarray(this.#end, this.#end + wanted), this.#offset + this.#end);
    this.#end += count;
    return count;
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(this.#chunk.byteLength * 2);
    this.#chunk.copy(larger, 0, 0, this.#end);
    this.#chunk = larger;
  }

  #split(lines: JournalLine[], bad: BadLine[]): void {
    for (;;) {
      const feed = this.#chunk.subarray(0, this.#end).indexOf(LINE_FEED, this.#start);
      if (feed < 0) break;
      const offset = this.#offset + this.#start;
      const line = this.#chunk.subarray(this.#start, feed);
      this.#start = feed + 1;
      this.#take(line, offset, lines, bad);
    }
    if (this.#end - this.#start > this.#maxLineBytes || this.#tooLongFrom !== null) {
      this.#tooLongFrom ??= this.#offset + this.#start;
      this.#start = this.#end;
    }
  }

  #take(line: Buffer, offset: number, lines: JournalLine[], bad: BadLine[]): void {
    const end = offset + line.byteLength + 1;
    if (this.#tooLongFrom !== null || line.byteLength > this.#maxLineBytes) {
      const from = this.#tooLongFrom ?? offset;
      this.#tooLongFrom = null;
      bad.push({ offset: from, byteLength: end - from, reason: "too-long" });
      return;
    }
    const fault = faultOf(line);
    if (fault !== null) {
      bad.push({ offset, byteLength: line.byteLength + 1, reason: fault });
      return;
    }
    const json = line.subarray(LINE_OVERHEAD - 1);
    const kind = KINDS.get(json[KIND_AT] as number);
    // Lines of a later format's kinds say nothing to this one.
    if (kind !== undefined) lines.push({ kind, json, offset, end });
  }
}

function faultOf(line: Buffer): BadLine["reason"] | null {
  const digits = line.toString("latin1", 0, LINE_OVERHEAD - 2);
  if (line[LINE_OVERHEAD - 2] !== SPACE || !DIGITS.test(digits)) return "format";
  const json = line.subarray(LINE_OVERHEAD - 1);
  if (crc32(json) !== Number.parseInt(digits, 16)) return "checksum";
  return json.subarray(0, KIND_AT).equals(PREFIX) ? null : "format";
}
