/**
 * The request's body while an attempt may still need it: one buffer, one scanner, one document, given back together and once.
 * References into the body, the neutral request's among them, are valid only until then.
 */
import type { Document, JsonSyntaxError, Scanner, ScannerPool } from "../json/index.ts";
import type { BodyBuffer } from "./ports.ts";

export class RequestBody {
  readonly #scanners: ScannerPool;
  #buffer: BodyBuffer | null = null;
  #isHeld = false;
  #scanner: Scanner | null = null;
  #document: Document | null = null;

  constructor(scanners: ScannerPool) {
    this.#scanners = scanners;
  }

  /** The scanned body, or null before the scan and after the release. */
  get document(): Document | null {
    return this.#document;
  }

  /** The buffer. An attempt retains it for itself. */
  get buffer(): BodyBuffer {
    if (this.#buffer === null) throw new Error("The body was asked for before it was read.");
    return this.#buffer;
  }

  /** Takes over a buffer; one that was held before is given back. */
  keep(buffer: BodyBuffer): void {
    this.release();
    this.#buffer = buffer;
    this.#isHeld = true;
  }

  /** Scans the buffer. */
  scan(): Document | JsonSyntaxError {
    const { bytes } = this.buffer;
    this.#scanner = this.#scanners.take(bytes.byteLength);
    this.#document = this.#scanner.scan(bytes);
    // A scanner that returns no document has set its error.
    return this.#document ?? (this.#scanner.error as JsonSyntaxError);
  }

  /** No attempt can follow. May be called again. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#document = null;
    if (this.#scanner !== null) this.#scanners.give(this.#scanner);
    this.#scanner = null;
    this.#buffer?.release();
  }
}
