// Finds a repeated member name in one large or escaped object in linear time, whoever chose the names: a seeded hash table whose
// probes are bounded, then a Set of decoded names, which the engine hashes with a seed of its own.

import { decodeText, escapedLength, escapePoint, writeCodePoint } from "./json-string.ts";
import { ABSENT, END, ESCAPED, HEAD, NEXT, START } from "./tape.ts";

/** Steps one name may take in the table before the object is taken to be hostile. Benign names need 1 to 3 at this load. */
const MAX_PROBES = 32;

const BACKSLASH = 0x5c;
const NO_SLOTS: Int32Array = new Int32Array(0);

/** The table, kept and used again by its scanner. */
export class DuplicateNames {
  readonly #seed: number;
  #slots: Int32Array;
  #hashes: Int32Array;
  readonly #scratch: Uint8Array;
  #probes: number;

  constructor(seed: number) {
    this.#seed = seed | 0;
    this.#scratch = new Uint8Array(4);
    this.#slots = NO_SLOTS;
    this.#hashes = NO_SLOTS;
    this.#probes = 0;
  }

  /** Steps taken in the table so far. */
  get probes(): number {
    return this.#probes;
  }

  /** The first name of the chain at `first` that an earlier one equals, or ABSENT. Names with escapes are compared decoded. */
  find(bytes: Uint8Array, tape: Int32Array, first: number, count: number): number {
    this.#clear(count);
    const slots = this.#slots;
    const hashes = this.#hashes;
    const mask = slotCount(count) - 1;
    for (let node = first; node !== ABSENT; node = tape[node + NEXT] as number) {
      const hash = hashName(bytes, tape, node, this.#seed, this.#scratch);
      let slot = hash & mask;
      let probes = 1;
      // Slots hold node + 1, so that 0 is empty.
      for (let other = slots[slot] as number; other !== 0; other = slots[slot] as number) {
        if (hashes[slot] === hash && equalNames(bytes, tape, other - 1, node)) return node;
        if (++probes > MAX_PROBES) return findDecoded(bytes, tape, first);
        slot = (slot + 1) & mask;
      }
      this.#probes += probes;
      slots[slot] = node + 1;
      hashes[slot] = hash;
    }
    return ABSENT;
  }

  #clear(count: number): void {
    const size = slotCount(count);
    if (this.#slots.length < size) {
      this.#slots = new Int32Array(size);
      this.#hashes = new Int32Array(size);
    } else this.#slots.fill(0, 0, size);
  }
}

/** A power of two that leaves at least half of the slots empty. */
function slotCount(count: number): number {
  return 1 << (33 - Math.clz32(count));
}

function findDecoded(bytes: Uint8Array, tape: Int32Array, first: number): number {
  const seen = new Set<string>();
  for (let node = first; node !== ABSENT; node = tape[node + NEXT] as number) {
    const name = nameOf(bytes, tape, node);
    if (seen.has(name)) return node;
    seen.add(name);
  }
  return ABSENT;
}

function equalNames(bytes: Uint8Array, tape: Int32Array, one: number, other: number): boolean {
  if (isEscaped(tape, one) || isEscaped(tape, other)) return nameOf(bytes, tape, one) === nameOf(bytes, tape, other);
  const length = (tape[one + END] as number) - (tape[one + START] as number);
  return hasEqualBytes(
    bytes,
    tape[one + START] as number,
    tape[other + START] as number,
    length,
    tape[other + END] as number,
  );
}

function isEscaped(tape: Int32Array, node: number): boolean {
  return ((tape[node + HEAD] as number) & ESCAPED) !== 0;
}

function nameOf(bytes: Uint8Array, tape: Int32Array, node: number): string {
  return decodeText({ bytes, start: (tape[node + START] as number) + 1, end: (tape[node + END] as number) - 1 });
}

function hasEqualBytes(bytes: Uint8Array, one: number, other: number, length: number, otherEnd: number): boolean {
  if (otherEnd - other !== length) return false;
  for (let i = 1; i < length; i++) {
    if (bytes[one + i] !== bytes[other + i]) return false;
  }
  return true;
}

/**
 * Hashes the decoded bytes of a name: multiply and rotate per byte, then the finaliser of MurmurHash3 so that low bits depend on all
 * bytes. Escapes are decoded on the way, because a string per name would make escaped names many times as costly as plain ones.
 */
function hashName(bytes: Uint8Array, tape: Int32Array, node: number, seed: number, scratch: Uint8Array): number {
  const end = (tape[node + END] as number) - 1;
  const hasEscapes = isEscaped(tape, node);
  let hash = seed;
  for (let i = (tape[node + START] as number) + 1; i < end;) {
    const byte = bytes[i] as number;
    if (!hasEscapes || byte !== BACKSLASH) {
      hash = mix(hash, byte);
      i++;
      continue;
    }
    const point = escapePoint(bytes, i);
    const length = writeCodePoint(scratch, 0, point);
    for (let at = 0; at < length; at++) hash = mix(hash, scratch[at] as number);
    i += escapedLength(bytes, i, point);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}

function mix(hash: number, byte: number): number {
  const mixed = Math.imul(hash ^ byte, 0x5bd1_e995);
  return (mixed << 13) | (mixed >>> 19);
}

/** Whether a name equal to the one from `from` to `to` is in the chain that starts at `key`; names with escapes are left out. */
export function hasEqualName(
  bytes: Uint8Array,
  tape: Int32Array,
  key: number,
  head: number,
  from: number,
  to: number,
): boolean {
  for (let node = key; node !== ABSENT; node = tape[node + NEXT] as number) {
    if (tape[node + HEAD] !== head) continue;
    const other = tape[node + START] as number;
    if ((tape[node + END] as number) - other !== to - from) continue;
    let i = 1;
    while (from + i < to && bytes[from + i] === bytes[other + i]) i++;
    if (from + i === to) return true;
  }
  return false;
}
