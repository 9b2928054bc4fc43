// Read-only view of a scanned JSON text: navigation over the tape, values decoded on demand. Holds the source bytes, never copies
// them; a node that is ABSENT is an answer, not an error.

import { ABSENT, COUNT_SHIFT, END, ESCAPED, HEAD, JsonKind, KIND_MASK, NEXT, NODE_INTS, START } from "./tape.ts";
import type { NodeIndex, RawSlice, TextSlice } from "./tape.ts";

/** Points a document at another text; for the scanner that owns it. */
export let rebindDocument: (document: Document, bytes: Uint8Array, tape: Int32Array) => void;

/**
 * A scanned JSON text. Made by `scan` or a `Scanner`, never directly. The bytes it was made from must not change while it is used.
 */
export class Document {
  #bytes: Uint8Array;
  #tape: Int32Array;
  #buffer: Buffer | null;
  readonly #lastWins: boolean;

  static {
    rebindDocument = (document, bytes, tape) => {
      document.#bytes = bytes;
      document.#tape = tape;
      document.#buffer = null;
    };
  }

  /** @internal */
  constructor(bytes: Uint8Array, tape: Int32Array, lastWins: boolean) {
    this.#bytes = bytes;
    this.#tape = tape;
    this.#buffer = null;
    this.#lastWins = lastWins;
  }

  /** The buffer that was scanned; all offsets are offsets in it. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** The outermost value. */
  get root(): NodeIndex {
    return 0;
  }

  /** The kind of a node as a number of `JsonKind`; 0 for ABSENT. */
  kind(node: NodeIndex): JsonKind | 0 {
    // The cast holds because the scanner writes only these kinds.
    return node < 0 ? 0 : (((this.#tape[node + HEAD] as number) & KIND_MASK) as JsonKind);
  }

  /** Offset of the first byte of a value or name, a string's quote included. */
  start(node: NodeIndex): number {
    return this.#tape[node + START] as number;
  }

  /** Offset after the last byte of a value or name. */
  end(node: NodeIndex): number {
    return this.#tape[node + END] as number;
  }

  isObject(node: NodeIndex): boolean {
    return this.kind(node) === JsonKind.object;
  }

  isArray(node: NodeIndex): boolean {
    return this.kind(node) === JsonKind.array;
  }

  isString(node: NodeIndex): boolean {
    return this.kind(node) === JsonKind.string;
  }

  isNumber(node: NodeIndex): boolean {
    return this.kind(node) === JsonKind.number;
  }

  isBoolean(node: NodeIndex): boolean {
    const kind = this.kind(node);
    return kind === JsonKind.true || kind === JsonKind.false;
  }

  isNull(node: NodeIndex): boolean {
    return this.kind(node) === JsonKind.null;
  }

  /** Members of an object or elements of an array; 0 for anything else. */
  count(node: NodeIndex): number {
    const kind = this.kind(node);
    return kind === JsonKind.object || kind === JsonKind.array
      ? (this.#tape[node + HEAD] as number) >>> COUNT_SHIFT
      : 0;
  }

  /**
   * The value of an object's member; ABSENT when it has none of this name or the node is no object. Where repeated names are
   * tolerated the last one counts.
   */
  member(node: NodeIndex, name: string): NodeIndex {
    const key = this.memberKey(node, name);
    return key === ABSENT ? ABSENT : key + NODE_INTS;
  }

  /** The name node of an object's member, as `member` finds it. */
  memberKey(node: NodeIndex, name: string): NodeIndex {
    const tape = this.#tape;
    const first = name.charCodeAt(0);
    let found: NodeIndex = ABSENT;
    for (let key = this.firstMember(node); key !== ABSENT; key = tape[key + NEXT] as number) {
      // Nearly all names differ in their first letter. A full comparison of each costs three times as much, and an object with a
      // hundred thousand members is gone through for every member that a dialect knows.
      const isPlain = ((tape[key + HEAD] as number) & ESCAPED) === 0 && first < 0x80;
      if (isPlain && this.#bytes[(tape[key + START] as number) + 1] !== first) continue;
      if (!this.nameEquals(key, name)) continue;
      found = key;
      if (!this.#lastWins) break;
    }
    return found;
  }

  /** The name node of the first member, or ABSENT when there is none or the node is no object. */
  firstMember(node: NodeIndex): NodeIndex {
    return this.kind(node) === JsonKind.object && this.count(node) > 0 ? node + NODE_INTS : ABSENT;
  }

  /** The value of the member whose name node this is. */
  memberValue(key: NodeIndex): NodeIndex {
    return key + NODE_INTS;
  }

  /** The next name node, or ABSENT after the last. */
  nextMember(key: NodeIndex): NodeIndex {
    return this.#tape[key + NEXT] as number;
  }

  /** The first element, or ABSENT when there is none or the node is no array. */
  firstElement(node: NodeIndex): NodeIndex {
    return this.kind(node) === JsonKind.array && this.count(node) > 0 ? node + NODE_INTS : ABSENT;
  }

  /** The next element, or ABSENT after the last. */
  nextElement(node: NodeIndex): NodeIndex {
    return this.#tape[node + NEXT] as number;
  }

  /** The decoded name of a name node. */
  memberName(key: NodeIndex): string {
    return this.string(key);
  }

  /** Whether the decoded name is this one. */
  nameEquals(key: NodeIndex, name: string): boolean {
    return this.stringEquals(key, name);
  }

  /** The decoded string of a string or name node. An escape naming a lone surrogate stays one. */
  string(node: NodeIndex): string {
    const tape = this.#tape;
    const start = tape[node + START] as number;
    const end = tape[node + END] as number;
    const buffer = this.#asBuffer();
    if (((tape[node + HEAD] as number) & ESCAPED) === 0) return buffer.toString("utf8", start + 1, end - 1);
    // The cast holds because the scanner found a valid string token here.
    return JSON.parse(buffer.toString("utf8", start, end)) as string;
  }

  /** Whether the node is a string (or name) that decodes to this value. Allocates nothing unless either side is unusual. */
  stringEquals(node: NodeIndex, value: string): boolean {
    if (node < 0) return false;
    const tape = this.#tape;
    const head = tape[node + HEAD] as number;
    if ((head & KIND_MASK) !== JsonKind.string) return false;
    const start = (tape[node + START] as number) + 1;
    const length = (tape[node + END] as number) - 1 - start;
    if ((head & ESCAPED) !== 0) return this.string(node) === value;
    // UTF-8 takes 1 to 3 bytes a code unit.
    if (length < value.length || length > value.length * 3) return false;
    const bytes = this.#bytes;
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit >= 0x80) return this.string(node) === value;
      if (unit !== bytes[start + i]) return false;
    }
    return length === value.length;
  }

  /** The inside of a string or name, between its quotes, escapes in place. */
  text(node: NodeIndex): TextSlice {
    return { bytes: this.#bytes, start: this.start(node) + 1, end: this.end(node) - 1 };
  }

  /** The whole source text of a value. */
  raw(node: NodeIndex): RawSlice {
    return { bytes: this.#bytes, start: this.start(node), end: this.end(node) };
  }

  /** Whether a string or name holds an escape, so that its inside is not its decoded value. */
  hasEscape(node: NodeIndex): boolean {
    return node >= 0 && ((this.#tape[node + HEAD] as number) & (KIND_MASK | ESCAPED)) === (JsonKind.string | ESCAPED);
  }

  /** The value of a number node as a double: `1e400` gives Infinity, long integers lose digits; `raw` keeps the spelling. */
  number(node: NodeIndex): number {
    return Number(this.#asBuffer().toString("latin1", this.start(node), this.end(node)));
  }

  /** The value of a boolean node. */
  boolean(node: NodeIndex): boolean {
    return this.kind(node) === JsonKind.true;
  }

  /**
   * The decoded JS value of a node and all below it, as JSON.parse gives it, but objects have a null prototype, so that a member
   * `__proto__` is a member. Undefined for ABSENT. Builds the whole value: for small things.
   */
  value(node: NodeIndex): unknown {
    switch (this.kind(node)) {
      case JsonKind.object: {
        const object = Object.create(null) as Record<string, unknown>;
        for (let key = this.firstMember(node); key !== ABSENT; key = this.nextMember(key)) {
          object[this.memberName(key)] = this.value(key + NODE_INTS);
        }
        return object;
      }
      case JsonKind.array: {
        const array: unknown[] = [];
        for (let item = this.firstElement(node); item !== ABSENT; item = this.nextElement(item))
          array.push(this.value(item));
        return array;
      }
      case JsonKind.string:
        return this.string(node);
      case JsonKind.number:
        return this.number(node);
      case JsonKind.true:
        return true;
      case JsonKind.false:
        return false;
      case JsonKind.null:
        return null;
      default:
        return undefined;
    }
  }

  /**
   * The JSON Pointer (RFC 6901) of a value: `/messages/3/content`. For a name node, that of its member. Searched from the root, for
   * messages about one node, not for loops.
   */
  path(node: NodeIndex): string {
    let pointer = "";
    let at: NodeIndex = this.root;
    while (at !== node) {
      const step = this.#stepTowards(at, node);
      if (step === null) return pointer;
      pointer += `/${step.name}`;
      if (step.child === node) return pointer;
      at = step.child;
    }
    return pointer;
  }

  /** The child of a container in which a node lies. Nodes are in source order, so it is the last child not after the node. */
  #stepTowards(container: NodeIndex, node: NodeIndex): { readonly name: string; readonly child: NodeIndex } | null {
    if (this.isArray(container)) {
      let index = 0;
      let child = this.firstElement(container);
      if (child === ABSENT || node < child) return null;
      for (let next = this.nextElement(child); next !== ABSENT && next <= node; next = this.nextElement(child)) {
        child = next;
        index++;
      }
      return { name: String(index), child };
    }
    let key = this.firstMember(container);
    if (key === ABSENT || node < key) return null;
    for (let next = this.nextMember(key); next !== ABSENT && next <= node; next = this.nextMember(key)) key = next;
    const name = this.memberName(key).replaceAll("~", "~0").replaceAll("/", "~1");
    return { name, child: node === key ? key : key + NODE_INTS };
  }

  #asBuffer(): Buffer {
    const bytes = this.#bytes;
    this.#buffer ??= Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#buffer;
  }
}
