// First-in first-out queue of scheduled times without `shift()`: a saturated target makes it tens of thousands long.

/** Queue of pairs of numbers (request index and scheduled time). */
export class RingQueue {
  #items = new Float64Array(1024);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(request: number, dueUs: number): void {
    const capacity = this.#items.length / 2;
    if (this.#length === capacity) this.#grow();
    const slot = ((this.#head + this.#length) % (this.#items.length / 2)) * 2;
    this.#items[slot] = request;
    this.#items[slot + 1] = dueUs;
    this.#length += 1;
  }

  /** Scheduled time of the oldest entry; only when not empty. */
  peekDueUs(): number {
    return this.#items[this.#head * 2 + 1] ?? 0;
  }

  /** Request index of the oldest entry; only when not empty. */
  peekRequest(): number {
    return this.#items[this.#head * 2] ?? 0;
  }

  drop(): void {
    this.#head = (this.#head + 1) % (this.#items.length / 2);
    this.#length -= 1;
  }

  #grow(): void {
    const capacity = this.#items.length / 2;
    const larger = new Float64Array(capacity * 4);
    for (let index = 0; index < this.#length; index += 1) {
      const from = ((this.#head + index) % capacity) * 2;
      larger[index * 2] = this.#items[from] ?? 0;
      larger[index * 2 + 1] = this.#items[from + 1] ?? 0;
    }
    this.#items = larger;
    this.#head = 0;
  }
}
