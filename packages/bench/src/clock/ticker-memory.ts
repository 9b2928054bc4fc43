// Layout of the 16 bytes a ticker and its owner share: a sequence number to wait on, and the deadline in µs.

/** Index in the `Int32Array` view: incremented with every new deadline. */
export const SEQUENCE_SLOT = 0;

/** Index in the `BigInt64Array` view: the deadline, µs on the monotonic clock. */
export const DEADLINE_SLOT = 1;

/** Deadline that stands for "none". */
export const NO_DEADLINE = 0n;

/** Deadline that ends the thread. */
export const CLOSED = -1n;

/** Size of the shared memory in bytes. */
export const TICKER_MEMORY_BYTES = 16;
