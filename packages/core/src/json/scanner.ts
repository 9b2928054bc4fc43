// The strict JSON scanner (RFC 8259): one pass over bytes that records structure on a tape. One method is the parse loop; a
// scanner owns one tape and one document and uses them again for every text. While a container is open its tape fields END and
// NEXT save the state of the container around it, so the loop needs no stack of its own (see README.md).

import { Document, rebindDocument } from "./document.ts";
import { DuplicateNames, hasEqualName } from "./duplicate-names.ts";
import { resolveLimits } from "./scan-limits.ts";
import type { ResolvedLimits, ScanLimits } from "./scan-limits.ts";
import { describeFailure } from "./syntax-error.ts";
import type { JsonErrorCode, JsonSyntaxError } from "./syntax-error.ts";
import { ABSENT, COUNT_SHIFT, END, ESCAPED, JsonKind, KIND_MASK, NEXT, NODE_INTS, START } from "./tape.ts";
import { escapeLength, literalKind, numberEnd, skipSpace, stopCandidate } from "./tokens.ts";
import { firstInvalidUtf8, isUtf8Range } from "./utf8.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const OBJECT = JsonKind.object;
const ARRAY = JsonKind.array;
const STRING = JsonKind.string;

/** Up to this many members a filter and a walk find a repeated name; larger objects are checked with a table when they close. */
const SMALL_OBJECT = 16;
/** Tape of a fresh scanner: an int per 8 bytes of text, a guess for chat bodies, within these bounds. */
const MIN_TAPE_INTS = 64;
const MAX_FIRST_TAPE_INTS = 16_384;
/** Offsets are kept as 32-bit integers. */
const MAX_OFFSET = 0x7fff_ffff;

/** The word loop finds the first stop byte in a word by its lowest set bit, which holds where words are little-endian. */
const IS_LITTLE_ENDIAN: boolean = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

const NO_BYTES: Uint8Array = new Uint8Array(0);
const NO_WORDS: Int32Array = new Int32Array(0);

/**
 * Scans JSON texts one after another with the same memory. The document that `scan` returns is one object used again: it is valid
 * until the next `scan` of this scanner, and as long as its bytes are.
 */
export class Scanner {
  readonly #limits: ResolvedLimits;
  readonly #names: DuplicateNames;
  readonly #document: Document;
  #tape: Int32Array;
  #words: Int32Array;
  #wordsOf: ArrayBufferLike;
  #bytes: Uint8Array;
  #start: number;
  #end: number;
  #error: JsonSyntaxError | null;

  /** `expectedBytes` sizes the first tape; it grows as needed. */
  constructor(limits?: ScanLimits, expectedBytes: number = 0) {
    this.#limits = resolveLimits(limits);
    this.#names = new DuplicateNames(this.#limits.hashSeed);
    this.#tape = new Int32Array(Math.min(Math.max(expectedBytes >> 3, MIN_TAPE_INTS), MAX_FIRST_TAPE_INTS));
    this.#document = new Document(NO_BYTES, this.#tape, this.#limits.duplicates === "last-wins");
    this.#words = NO_WORDS;
    this.#wordsOf = NO_WORDS.buffer;
    this.#bytes = NO_BYTES;
    this.#start = 0;
    this.#end = 0;
    this.#error = null;
  }

  /** Why the last `scan` returned null; null after a good one. */
  get error(): JsonSyntaxError | null {
    return this.#error;
  }

  /** Steps that the search for repeated names in large objects has taken so far; a cost in bounds, for tests and metrics. */
  get nameProbes(): number {
    return this.#names.probes;
  }

  /** Memory that the tape holds between scans, in bytes. */
  get tapeBytes(): number {
    return this.#tape.byteLength;
  }

  /** Lets go of the last text, so that its memory can be freed; the document of the last scan is no longer valid. */
  forget(): void {
    this.#bytes = NO_BYTES;
    this.#words = NO_WORDS;
    this.#wordsOf = NO_WORDS.buffer;
    rebindDocument(this.#document, NO_BYTES, this.#tape);
  }

  /** Scans the bytes from `start` to `end` as one JSON text. Offsets in the result are offsets in `bytes`. */
  scan(bytes: Uint8Array, start: number = 0, end: number = bytes.length): Document | null {
    this.#error = null;
    if (start < 0 || end > bytes.length || start > end || !Number.isInteger(start) || !Number.isInteger(end)) {
      throw new RangeError(`no range ${start} to ${end} in ${bytes.length} bytes`);
    }
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    if (!this.#parse(bytes, start, end)) return null;
    if (!isUtf8Range(bytes, start, end)) {
      this.#fail("json_encoding", "invalid UTF-8", end, ABSENT, 0, ABSENT);
      return null;
    }
    rebindDocument(this.#document, bytes, this.#tape);
    return this.#document;
  }

  /**
   * The parse loop. It is long because its state lives in locals. Each turn of the outer loop reads one value,
   * in an object its name first; the inner loop then takes what follows a value until another one is due.
   */
  #parse(bytes: Uint8Array, start: number, end: number): boolean {
    if (end > MAX_OFFSET) return this.#fail("json_members", "JSON text of 2 GiB or more", start, ABSENT, 0, ABSENT);
    const { maxDepth, maxMembers } = this.#limits;
    const refusesDuplicates = this.#limits.duplicates === "refuse";
    const base = bytes.byteOffset;
    const words = this.#wordsFor(bytes);
    const wordEnd = IS_LITTLE_ENDIAN && base + end <= MAX_OFFSET ? (base + end) >> 2 : 0;
    let tape = this.#tape;
    let room = this.#room();
    let i = start;
    let top = 0;
    let depth = 0;
    // State of the innermost open container.
    let parent: number = ABSENT;
    let isInObject = false;
    let count = 0;
    let last: number = ABSENT;
    let filter = 0;
    let byte = 0;

    for (;;) {
      if (top > room) {
        if (!this.#makeRoom(top + (isInObject ? 2 * NODE_INTS : NODE_INTS))) {
          return this.#fail("json_members", "more values than allowed", i, parent, count, ABSENT);
        }
        tape = this.#tape;
        room = this.#room();
      }
      byte = i < end ? (bytes[i] as number) : 0;
      if (byte <= 0x20 && i < end) {
        i = skipSpace(bytes, i, end);
        byte = i < end ? (bytes[i] as number) : 0;
      }

      if (isInObject) {
        if (byte !== QUOTE) {
          return this.#fail("json_syntax", "expected a member name in quotes", i, parent, count, ABSENT);
        }
        if (count >= maxMembers) {
          return this.#fail("json_members", `more than ${maxMembers} members in an object`, i, parent, count, ABSENT);
        }
        const nameStart = i++;
        let head: number = STRING;
        for (;;) {
          i = stopCandidate(words, wordEnd, base, i);
          if (i >= end) return this.#fail("json_syntax", "member name without closing quote", i, parent, count, ABSENT);
          byte = bytes[i] as number;
          if (byte === QUOTE) break;
          if (byte === BACKSLASH) {
            const length = escapeLength(bytes, i, end);
            if (length === 0)
              return this.#fail("json_syntax", "invalid escape in a member name", i, parent, count, ABSENT);
            head = STRING | ESCAPED;
            i += length;
          } else if (byte < 0x20) {
            return this.#fail("json_syntax", "control character in a member name", i, parent, count, ABSENT);
          } else i++;
        }
        if (head === STRING) {
          // Length, first, middle and last byte tell nearly all names of one object apart. An empty name reads its own quotes.
          const length = i - nameStart - 1;
          const signature =
            (bytes[nameStart + 1] as number) |
            ((bytes[i - 1] as number) << 8) |
            ((bytes[nameStart + 1 + (length >> 1)] as number) << 16) |
            ((length & 15) << 24);
          head |= signature << COUNT_SHIFT;
          if (refusesDuplicates && count < SMALL_OBJECT) {
            const bit = 1 << (Math.imul(signature, 0x9e37_79b1) >>> 27);
            if ((filter & bit) !== 0 && hasEqualName(bytes, tape, parent + NODE_INTS, head, nameStart, i + 1)) {
              return this.#fail(
                "json_duplicate_member",
                "member name repeated in its object",
                nameStart,
                parent,
                count,
                ABSENT,
              );
            }
            filter |= bit;
          }
        } else {
          tape[parent] = (tape[parent] as number) | ESCAPED;
        }
        i++;
        if (last !== ABSENT) tape[last + NEXT] = top;
        last = top;
        tape[top] = head;
        tape[top + START] = nameStart;
        tape[top + END] = i;
        tape[top + NEXT] = ABSENT;
        top += NODE_INTS;
        if (i < end && (bytes[i] as number) <= 0x20) i = skipSpace(bytes, i, end);
        if (i >= end || bytes[i] !== COLON) {
          return this.#fail("json_syntax", "expected ':' after a member name", i, parent, count, last);
        }
        i++;
        if (i < end && (bytes[i] as number) <= 0x20) i = skipSpace(bytes, i, end);
        byte = i < end ? (bytes[i] as number) : 0;
      } else if (parent !== ABSENT) {
        if (last !== ABSENT) tape[last + NEXT] = top;
        last = top;
      }

      // A value. Its node is complete when its branch ends, except for a container that is not empty.
      const valueStart = i;
      let head: number = STRING;
      if (byte === QUOTE) {
        i++;
        for (;;) {
          i = stopCandidate(words, wordEnd, base, i);
          if (i >= end) return this.#fail("json_syntax", "string without closing quote", i, parent, count, last);
          byte = bytes[i] as number;
          if (byte === QUOTE) break;
          if (byte === BACKSLASH) {
            const length = escapeLength(bytes, i, end);
            if (length === 0) return this.#fail("json_syntax", "invalid escape in a string", i, parent, count, last);
            head = STRING | ESCAPED;
            i += length;
          } else if (byte < 0x20) {
            return this.#fail(
              "json_syntax",
              "control character in a string, which must be escaped",
              i,
              parent,
              count,
              last,
            );
          } else i++;
        }
        i++;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (++depth > maxDepth) {
          return this.#fail("json_depth", `nested deeper than ${maxDepth}`, i, parent, count, last);
        }
        i++;
        if (i < end && (bytes[i] as number) <= 0x20) i = skipSpace(bytes, i, end);
        head = byte === OPEN_OBJECT ? OBJECT : ARRAY;
        if (i < end && bytes[i] === byte + 2) {
          depth--;
          i++;
        } else {
          // A container's first value finds the count that its head was made with.
          if (count > 0) tape[parent] = ((tape[parent] as number) & 15) | (count << COUNT_SHIFT);
          tape[top] = head;
          tape[top + START] = valueStart;
          tape[top + END] = parent;
          tape[top + NEXT] = filter;
          parent = top;
          top += NODE_INTS;
          isInObject = head === OBJECT;
          count = 0;
          last = ABSENT;
          filter = 0;
          continue;
        }
      } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
        i = numberEnd(bytes, i, end);
        if (i < 0) return this.#fail("json_syntax", "malformed number", ~i, parent, count, last);
        head = JsonKind.number;
      } else {
        const kind = literalKind(bytes, i, end);
        if (kind === 0) {
          const problem = i >= end ? "text ends where a value is due" : "expected a value";
          return this.#fail("json_syntax", problem, i, parent, count, last);
        }
        head = kind;
        i += kind === JsonKind.false ? 5 : 4;
      }
      tape[top] = head;
      tape[top + START] = valueStart;
      tape[top + END] = i;
      tape[top + NEXT] = ABSENT;
      top += NODE_INTS;

      // What follows a value.
      for (;;) {
        byte = i < end ? (bytes[i] as number) : 0;
        if (byte <= 0x20 && i < end) {
          i = skipSpace(bytes, i, end);
          byte = i < end ? (bytes[i] as number) : 0;
        }
        if (parent === ABSENT) {
          if (i < end) return this.#fail("json_syntax", "bytes after the JSON text", i, parent, count, last);
          return true;
        }
        if (byte === COMMA) {
          i++;
          count++;
          break;
        }
        if (byte !== (isInObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
          const problem = isInObject ? "expected ',' or '}' after a member" : "expected ',' or ']' after an element";
          return this.#fail("json_syntax", problem, i, parent, count, last);
        }
        count++;
        i++;
        depth--;
        const closed = parent;
        const closedHead = ((tape[closed] as number) & 15) | (count << COUNT_SHIFT);
        if (isInObject && refusesDuplicates && (count > SMALL_OBJECT || (closedHead & ESCAPED) !== 0)) {
          const repeated = this.#names.find(bytes, tape, closed + NODE_INTS, count);
          if (repeated !== ABSENT) {
            return this.#fail(
              "json_duplicate_member",
              "member name repeated in its object",
              tape[repeated + START] as number,
              parent,
              count,
              ABSENT,
            );
          }
        }
        parent = tape[closed + END] as number;
        filter = tape[closed + NEXT] as number;
        tape[closed] = closedHead;
        tape[closed + END] = i;
        tape[closed + NEXT] = ABSENT;
        if (parent !== ABSENT) {
          const parentHead = tape[parent] as number;
          count = parentHead >>> COUNT_SHIFT;
          isInObject = (parentHead & KIND_MASK) === OBJECT;
          last = isInObject ? closed - NODE_INTS : closed;
        }
      }
    }
  }

  #wordsFor(bytes: Uint8Array): Int32Array {
    if (this.#wordsOf !== bytes.buffer) {
      this.#wordsOf = bytes.buffer;
      this.#words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2);
    }
    return this.#words;
  }

  /** The highest top at which a name and a value can still be added without asking {@link Scanner.#makeRoom}. */
  #room(): number {
    return Math.min(this.#tape.length, this.#limits.maxNodes * NODE_INTS) - 2 * NODE_INTS;
  }

  /** Grows the tape to hold `needed` ints; false when that is more than the limit of nodes. */
  #makeRoom(needed: number): boolean {
    if (needed > this.#limits.maxNodes * NODE_INTS) return false;
    if (needed <= this.#tape.length) return true;
    const grown = new Int32Array(Math.max(this.#tape.length * 2, needed));
    grown.set(this.#tape);
    this.#tape = grown;
    return true;
  }

  /** Many plain parameters rather than an object: the parse loop keeps its state in locals. Bytes that are no UTF-8 come first. */
  #fail(code: JsonErrorCode, problem: string, offset: number, parent: number, count: number, key: number): false {
    const bytes = this.#bytes;
    const start = this.#start;
    const end = this.#end;
    const invalid = isUtf8Range(bytes, start, end) ? -1 : firstInvalidUtf8(bytes, start, end);
    const point = { bytes, start, end, tape: this.#tape, parent, count, key };
    this.#error =
      invalid !== -1 && (invalid <= offset || code === "json_duplicate_member")
        ? describeFailure("json_encoding", "invalid UTF-8", invalid, { ...point, parent: ABSENT })
        : describeFailure(code, problem, offset, point);
    return false;
  }
}
