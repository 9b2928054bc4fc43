/**
 * Scanners that are lent and given back. Making a tape costs more than scanning a small text, so texts that come one after
 * another should share one. A scanner belongs to one borrower at a time.
 */
import type { ScanLimits } from "./scan-limits.ts";
import { Scanner } from "./scanner.ts";

/** A scanner with a larger tape is left to the garbage collector: one huge text must not cost memory for ever. */
const MAX_KEPT_TAPE_BYTES = 256 * 1024;

/** Lends scanners that all have the same limits. */
export class ScannerPool {
  readonly #limits: ScanLimits | undefined;
  readonly #maxIdle: number;
  readonly #idle: Scanner[] = [];

  /** Keeps at most `maxIdle` scanners. */
  constructor(limits?: ScanLimits, maxIdle: number = 64) {
    this.#limits = limits;
    this.#maxIdle = maxIdle;
  }

  /** Scanners that lie unused. */
  get idleCount(): number {
    return this.#idle.length;
  }

  /** A scanner of one's own until it is given back. `expectedBytes` sizes the tape of a new one. */
  take(expectedBytes: number): Scanner {
    return this.#idle.pop() ?? new Scanner(this.#limits, expectedBytes);
  }

  /** Ends a loan: documents of this scanner are no longer valid. */
  give(scanner: Scanner): void {
    scanner.forget();
    if (this.#idle.length < this.#maxIdle && scanner.tapeBytes <= MAX_KEPT_TAPE_BYTES) this.#idle.push(scanner);
  }
}
