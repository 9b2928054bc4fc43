// The layout of the tape, the flat array in which a scan records the structure of a JSON text. Invariants are in README.md of
// this room.

/** Kinds of JSON value as small numbers, the form in which the tape holds them and {@link Document.kind} returns them. */
export const JsonKind: {
  readonly object: 1;
  readonly array: 2;
  readonly string: 3;
  readonly number: 4;
  readonly true: 5;
  readonly false: 6;
  readonly null: 7;
} = { object: 1, array: 2, string: 3, number: 4, true: 5, false: 6, null: 7 };

/** One of the numbers of `JsonKind`. */
export type JsonKind = (typeof JsonKind)[keyof typeof JsonKind];

/**
 * Names one value (or member name) of a {@link Document}. Valid only for the document that gave it out; {@link ABSENT} stands for
 * "no such node" and may be passed wherever a node is asked for by a question (`isString`, `member`, `firstElement`).
 */
export type NodeIndex = number;

/** The node that is not there. */
export const ABSENT: -1 = -1;

/** Ints a node takes. */
export const NODE_INTS = 4;
/** Offset in a node of its head: kind, flag, and above {@link COUNT_SHIFT} the signature (names) or count (containers). */
export const HEAD = 0;
/** Offset in a node of the position of its first byte. */
export const START = 1;
/** Offset in a node of the position after its last byte; in a container still open, of the container around it. */
export const END = 2;
/** Offset in a node of the next sibling, or {@link ABSENT}; in a container still open, of the saved name filter of its object. */
export const NEXT = 3;

/** Bits of a head that hold the kind. */
export const KIND_MASK = 7;
/** On a string: it holds at least one escape. On an object: one of its names does. */
export const ESCAPED = 8;
/** Where the count of a container, or the signature of a name, begins in a head. */
export const COUNT_SHIFT = 4;

/** A run of bytes inside a larger buffer, as offsets, so that nothing is copied to talk about it. */
export interface ByteSlice {
  readonly bytes: Uint8Array;
  /** Offset of the first byte. */
  readonly start: number;
  /** Offset after the last byte. */
  readonly end: number;
}

/** The inside of a JSON string token: the bytes between its quotes, escapes still in place. */
export type TextSlice = ByteSlice;

/** The whole source text of one JSON value, a string's quotes included. */
export type RawSlice = ByteSlice;
