// Request bodies in pooled memory: chunks are gathered into one aligned buffer that is counted and reused. A buffer belongs to
// exactly one collector or live body at a time, or lies in the pool; whoever keeps bytes after the last release copies them.

import { GatewayError } from "../errors/index.ts";

/** Zero bytes that follow every body in its buffer, so that a scanner may read words past the end. */
export const BODY_SLACK_BYTES = 8;

const SMALLEST_CLASS_BITS = 12;
const LARGEST_CLASS_BITS = 22;
const LARGEST_POOLED_BYTES = 1 << LARGEST_CLASS_BITS;
const POISON = 0xdb;

/** How a {@link BodyPool} keeps memory. */
export interface BodyPoolOptions {
  /** Bytes that may lie unused in the pool. Buffers in use do not count. */
  readonly maxPooledBytes: number;
  /** Overwrites released buffers with 0xDB, so that a use after release shows. For tests; costs a pass over the memory. */
  readonly poison?: boolean;
  /** Makes a buffer of exactly `size` bytes at a 4-byte aligned offset. By default each has an `ArrayBuffer` of its own. */
  readonly allocate?: (size: number) => Uint8Array;
}

/**
 * Keeps released body buffers by size class, powers of two from 4 KiB to 4 MiB. Larger bodies get plain memory that is left to
 * the garbage collector.
 */
export class BodyPool {
  readonly #free: Uint8Array[][] = [];
  readonly #maxPooledBytes: number;
  readonly #poison: boolean;
  readonly #allocate: (size: number) => Uint8Array;
  #pooledBytes = 0;

  constructor(options: BodyPoolOptions) {
    this.#maxPooledBytes = options.maxPooledBytes;
    this.#poison = options.poison ?? false;
    this.#allocate = options.allocate ?? allocateOwn;
    for (let bits = SMALLEST_CLASS_BITS; bits <= LARGEST_CLASS_BITS; bits++) this.#free.push([]);
  }

  /** Bytes that lie unused in the pool. */
  get pooledBytes(): number {
    return this.#pooledBytes;
  }

  /**
   * Starts a body of at most `maxBytes`. `sizeHint` is the announced length or null; it sizes the first buffer, but an
   * announcement alone never claims more than 4 MiB.
   */
  collect(sizeHint: number | null, maxBytes: number): BodyCollector {
    return new BodyCollector(this, sizeHint, maxBytes);
  }

  /**
   * A buffer of at least `size` bytes with undefined content.
   * @internal
   */
  take(size: number): Uint8Array {
    if (size > LARGEST_POOLED_BYTES) return this.#make(Math.ceil(size / 4) * 4);
    const bits = classBits(size);
    const buffer = this.#free[bits - SMALLEST_CLASS_BITS]?.pop();
    if (buffer === undefined) return this.#make(1 << bits);
    this.#pooledBytes -= buffer.length;
    return buffer;
  }

  /**
   * Gives a buffer of {@link BodyPool.take} back.
   * @internal
   */
  give(buffer: Uint8Array): void {
    if (this.#poison) buffer.fill(POISON);
    if (buffer.length > LARGEST_POOLED_BYTES || this.#pooledBytes + buffer.length > this.#maxPooledBytes) return;
    this.#free[classBits(buffer.length) - SMALLEST_CLASS_BITS]?.push(buffer);
    this.#pooledBytes += buffer.length;
  }

  #make(size: number): Uint8Array {
    const buffer = this.#allocate(size);
    if (buffer.length !== size || buffer.byteOffset % 4 !== 0) {
      throw new GatewayError(
        "state_violation",
        `allocate must return ${size} bytes at an offset that is a multiple of 4.`,
      );
    }
    return buffer;
  }
}

/** Gathers one body. Ends with exactly one of `finish` and `discard`; a refused chunk discards by itself. */
export class BodyCollector {
  readonly #pool: BodyPool;
  readonly #maxBytes: number;
  readonly #expectedBytes: number;
  /** Null once the memory belongs to a body or to the pool again. */
  #buffer: Uint8Array | null;
  #length = 0;

  /** @internal */
  constructor(pool: BodyPool, sizeHint: number | null, maxBytes: number) {
    this.#pool = pool;
    this.#maxBytes = maxBytes;
    this.#expectedBytes = Math.min(sizeHint ?? 0, maxBytes);
    this.#buffer = pool.take(Math.min(this.#expectedBytes + BODY_SLACK_BYTES, LARGEST_POOLED_BYTES));
  }

  /** Bytes gathered so far. */
  get byteLength(): number {
    return this.#length;
  }

  /**
   * Copies a chunk. False when the body is longer than `maxBytes`: the memory is then given back and nothing more is taken, as
   * after `discard`.
   */
  push(chunk: Uint8Array): boolean {
    if (this.#buffer === null) return false;
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) {
      this.discard();
      return false;
    }
    const buffer = this.#withRoom(this.#buffer, length + BODY_SLACK_BYTES);
    buffer.set(chunk, this.#length);
    this.#length = length;
    return true;
  }

  /** The whole body with one holder, the caller. Throws `state_violation` after `finish`, `discard` or a refused chunk. */
  finish(): PooledBody {
    const buffer = this.#buffer;
    if (buffer === null) throw new GatewayError("state_violation", "This body was already finished or discarded.");
    this.#buffer = null;
    buffer.fill(0, this.#length, this.#length + BODY_SLACK_BYTES);
    return new PooledBody(this.#pool, buffer, this.#length);
  }

  /** Gives the memory back. Does nothing after `finish` or an earlier `discard`. */
  discard(): void {
    if (this.#buffer !== null) this.#pool.give(this.#buffer);
    this.#buffer = null;
  }

  #withRoom(buffer: Uint8Array, size: number): Uint8Array {
    if (size <= buffer.length) return buffer;
    // Doubling keeps the copies linear; an announced length is not overshot, so that a large body ends in memory of its size.
    const doubled = Math.max(size, buffer.length * 2);
    const expected = this.#expectedBytes + BODY_SLACK_BYTES;
    const grown = this.#pool.take(size <= expected ? Math.min(doubled, expected) : doubled);
    grown.set(buffer.subarray(0, this.#length));
    this.#pool.give(buffer);
    this.#buffer = grown;
    return grown;
  }
}

/**
 * A gathered body: `bytes` is exactly the body at a 4-byte aligned offset, followed in memory by {@link BODY_SLACK_BYTES} zeros.
 * Reference counted, starting with one holder; the implementation of the gateway's `BodyBuffer`.
 */
export class PooledBody {
  readonly bytes: Uint8Array;
  readonly #pool: BodyPool;
  readonly #buffer: Uint8Array;
  #holders = 1;

  /** @internal */
  constructor(pool: BodyPool, buffer: Uint8Array, length: number) {
    this.bytes = buffer.subarray(0, length);
    this.#pool = pool;
    this.#buffer = buffer;
  }

  /** Adds a holder. Throws `state_violation` once the last holder released it. */
  retain(): void {
    if (this.#holders === 0) throw new GatewayError("state_violation", "A body was retained after its last release.");
    this.#holders++;
  }

  /** Removes a holder; with the last one the memory may be overwritten at once. Throws `state_violation` when nobody holds it. */
  release(): void {
    if (this.#holders === 0)
      throw new GatewayError("state_violation", "A body was released more often than it was retained.");
    this.#holders--;
    if (this.#holders === 0) this.#pool.give(this.#buffer);
  }
}

/** Memory of its own: `Buffer.allocUnsafe` would share one with other buffers, at any offset. */
function allocateOwn(size: number): Uint8Array {
  return Buffer.allocUnsafeSlow(size);
}

/** Bits of the smallest size class that holds `size` bytes. */
function classBits(size: number): number {
  return Math.max(SMALLEST_CLASS_BITS, 32 - Math.clz32(size - 1));
}
