/**
 * Scanners that are lent and given back. Making a tape costs more than scanning a small text, so texts that come one after
 * another should share one. A scanner belongs to one borrower at a time.
 */
import type { ScanLimits } from "./scan-limits.ts";
import { Scanner } from "./scanner.ts";

/** What all unused tapes together may hold: large texts, too, find a tape that is large already, and memory stays bounded. */
const MAX_IDLE_TAPE_BYTES = 16 * 1024 * 1024;

/** Lends scanners that all have the same limits. */
export class ScannerPool {
  readonly #limits: ScanLimits | undefined;
  readonly #maxIdle: number;
  readonly #idle: Scanner[] = [];
  #idleBytes = 0;

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
    const scanner = this.#idle.pop();
    if (scanner === undefined) return new Scanner(this.#limits, expectedBytes);
    this.#idleBytes -= scanner.tapeBytes;
    return scanner;
  }

  /** Ends a loan: documents of this scanner are no longer valid. */
  give(scanner: Scanner): void {
    scanner.forget();
    if (this.#idle.length >= this.#maxIdle || this.#idleBytes + scanner.tapeBytes > MAX_IDLE_TAPE_BYTES) return;
    this.#idleBytes += scanner.tapeBytes;
    this.#idle.push(scanner);
  }
}
