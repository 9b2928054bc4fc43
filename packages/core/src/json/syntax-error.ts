// What a failed scan reports, and the line, column and path of it. All of this runs on the error path only.

import { decodeText } from "./json-string.ts";
import { ABSENT, COUNT_SHIFT, END, ESCAPED, HEAD, JsonKind, KIND_MASK, NODE_INTS, START } from "./tape.ts";

/** Codes with which a scan fails; all are in the table of error codes. */
export type JsonErrorCode = "json_syntax" | "json_duplicate_member" | "json_depth" | "json_members" | "json_encoding";

/** Why and where a text was refused. Holds member names, never values. */
export interface JsonSyntaxError {
  readonly code: JsonErrorCode;
  /** What was wrong, where, and what would be right; not stable. */
  readonly message: string;
  /** Byte offset in the scanned buffer. */
  readonly offset: number;
  /** Line, from 1; lines end with LF. */
  readonly line: number;
  /** Column, from 1, in code points. */
  readonly column: number;
  /** Where in the structure: `$.messages[3].content`. Long names and very deep paths are shortened. */
  readonly path: string;
}

/** State of a scan at the moment it failed, enough to say where that was. */
export interface FailurePoint {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly tape: Int32Array;
  /** The innermost open container, or ABSENT. */
  readonly parent: number;
  /** Complete children of it. */
  readonly count: number;
  /** The name node whose value was being read, or ABSENT. */
  readonly key: number;
}

const MAX_NAME_CHARACTERS = 64;
const MAX_PATH_STEPS = 32;

/** Describes a failure. */
export function describeFailure(
  code: JsonErrorCode,
  problem: string,
  offset: number,
  point: FailurePoint,
): JsonSyntaxError {
  const { line, column } = lineAndColumn(point.bytes, point.start, offset);
  const path = pathOf(point);
  const message = `${problem} at line ${line}, column ${column} (byte ${offset}, ${path})`;
  return { code, message, offset, line, column, path };
}

function lineAndColumn(bytes: Uint8Array, start: number, offset: number): { line: number; column: number } {
  let line = 1;
  let column = 1;
  const stop = Math.min(offset, bytes.length);
  for (let i = start; i < stop; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === 0x0a) {
      line++;
      column = 1;
    } else if ((byte & 0xc0) !== 0x80) column++;
  }
  return { line, column };
}

/** While a container is open its END holds the container around it, and the head of that one its count (see README.md). */
function pathOf(point: FailurePoint): string {
  const { tape, parent, key } = point;
  const steps: string[] = [];
  let container = parent;
  let name = key;
  let count = point.count;
  while (container !== ABSENT) {
    if (((tape[container + HEAD] ?? 0) & KIND_MASK) === JsonKind.array) steps.push(`[${count}]`);
    else if (name !== ABSENT) steps.push(nameStep(point, name));
    name = container - NODE_INTS;
    container = tape[container + END] ?? ABSENT;
    count = container === ABSENT ? 0 : (tape[container + HEAD] ?? 0) >>> COUNT_SHIFT;
  }
  steps.reverse();
  if (steps.length <= MAX_PATH_STEPS) return `$${steps.join("")}`;
  return `$${steps.slice(0, MAX_PATH_STEPS).join("")}…`;
}

function nameStep({ bytes, tape }: FailurePoint, node: number): string {
  const start = (tape[node + START] ?? 0) + 1;
  const whole = (tape[node + END] ?? 0) - 1;
  const isShort = whole - start <= MAX_NAME_CHARACTERS;
  const isEscaped = ((tape[node + HEAD] ?? 0) & ESCAPED) !== 0;
  // A long name is cut in its escaped form, where a cut could split an escape; it is then shown undecoded.
  const end = isShort ? whole : start + MAX_NAME_CHARACTERS;
  const text =
    isShort && isEscaped
      ? decodeText({ bytes, start, end })
      : Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
  if (!isShort) return `[${JSON.stringify(`${text}…`)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(text) ? `.${text}` : `[${JSON.stringify(text)}]`;
}
