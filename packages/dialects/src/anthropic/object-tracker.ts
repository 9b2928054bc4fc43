/** Watches fragments of JSON text and knows when they have become one complete object. Looks at brackets and strings only. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export class ObjectTracker {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasStarted = false;
  #isOther = false;

  /** One object has been read whole. */
  get isComplete(): boolean {
    return this.#hasStarted && this.#depth === 0 && !this.#isOther;
  }

  /** Takes the next bytes, without the escapes of a string around them. */
  push(bytes: Uint8Array): void {
    for (const byte of bytes) this.#step(byte);
  }

  #step(byte: number): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInString = false;
      return;
    }
    if (byte === QUOTE) this.#isInString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      // Only an object counts, and only one.
      if (this.#depth === 0) this.#isOther ||= this.#hasStarted || byte === OPEN_ARRAY;
      this.#hasStarted = true;
      this.#depth += 1;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
  }
}
