// A queue of byte chunks that is bounded by bytes, not by chunks. A ring of references: nothing is copied, and taking from a deep
// queue costs the same as from a short one.

const FIRST_CAPACITY = 16;
/** A ring that grew beyond this is given up when the queue runs empty. */
const KEPT_CAPACITY = 1024;

/** The bounds of a {@link ByteQueue}, in bytes. */
export interface ByteQueueOptions {
  /** What may wait. One chunk of any size is admitted when nothing waits, so that every chunk gets through. */
  readonly maxBytes: number;
  /** From here on the queue is high. Default `maxBytes`. */
  readonly highWaterBytes?: number;
  /** Down to here it is low again. Default half of the high water mark. */
  readonly lowWaterBytes?: number;
}

/** Chunks in order. They belong to the queue until they are taken. */
export class ByteQueue {
  readonly #maxBytes: number;
  readonly #highWaterBytes: number;
  readonly #lowWaterBytes: number;
  /** Its length is a power of two, so that positions wrap with a mask. */
  #ring: (Uint8Array | null)[] = EMPTY_RING;
  #head = 0;
  #count = 0;
  #byteLength = 0;

  constructor(options: ByteQueueOptions) {
    this.#maxBytes = options.maxBytes;
    this.#highWaterBytes = options.highWaterBytes ?? options.maxBytes;
    this.#lowWaterBytes = options.lowWaterBytes ?? Math.floor(this.#highWaterBytes / 2);
  }

  /** Bytes that wait. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Chunks that wait. */
  get count(): number {
    return this.#count;
  }

  /** The high water mark is reached. */
  get isHigh(): boolean {
    return this.#byteLength >= this.#highWaterBytes;
  }

  /** No more than the low water mark waits. */
  get isLow(): boolean {
    return this.#byteLength <= this.#lowWaterBytes;
  }

  /** Adds a chunk. False when it does not fit: it was not taken then. Empty chunks always fit and are not kept. */
  push(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return true;
    if (this.#count > 0 && this.#byteLength + bytes.length > this.#maxBytes) return false;
    if (this.#count === this.#ring.length) this.#grow();
    this.#ring[(this.#head + this.#count) & (this.#ring.length - 1)] = bytes;
    this.#count++;
    this.#byteLength += bytes.length;
    return true;
  }

  /** Looks at the oldest chunk, or null when nothing waits. */
  peek(): Uint8Array | null {
    return this.#count === 0 ? null : (this.#ring[this.#head] ?? null);
  }

  /** Takes the oldest chunk, or null when nothing waits. */
  shift(): Uint8Array | null {
    const bytes = this.peek();
    if (bytes === null) return null;
    this.#ring[this.#head] = null;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.#count--;
    this.#byteLength -= bytes.length;
    if (this.#count === 0 && this.#ring.length > KEPT_CAPACITY) this.clear();
    return bytes;
  }

  /** Drops everything that waits. */
  clear(): void {
    this.#ring = EMPTY_RING;
    this.#head = 0;
    this.#count = 0;
    this.#byteLength = 0;
  }

  #grow(): void {
    const grown = newRing(Math.max(FIRST_CAPACITY, this.#ring.length * 2));
    for (let i = 0; i < this.#count; i++) grown[i] = this.#ring[(this.#head + i) & (this.#ring.length - 1)] ?? null;
    this.#ring = grown;
    this.#head = 0;
  }
}

/** Most queues are never used, so the first ring is made on the first push. */
const EMPTY_RING: (Uint8Array | null)[] = [];

function newRing(capacity: number): (Uint8Array | null)[] {
  return Array.from({ length: capacity }, () => null);
}
