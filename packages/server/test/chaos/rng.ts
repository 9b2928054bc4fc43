// Randomness that a seed repeats (mulberry32): the moments of a run still depend on the machine, its choices do not.
export class Rng {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Value>(rows: readonly (readonly [weight: number, value: Value])[]): Value {
    let point = this.next() * rows.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of rows) {
      point -= weight;
      if (point < 0) return value;
    }
    throw new Error("nothing to choose from");
  }
}
