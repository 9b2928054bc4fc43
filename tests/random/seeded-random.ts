/** Randomness that a seed repeats: mulberry32 (T. Ettinger, 2017), good enough to choose faults with. */
import type { Random } from "@dragoman/core";

const ID_CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 0x9e37_79b9) >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  id(length: number): string {
    let id = "";
    for (let index = 0; index < length; index++) id += ID_CHARACTERS[this.integer(ID_CHARACTERS.length)] as string;
    return id;
  }

  /** Uniform in [0, below). */
  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the rows, as often as its weight says. */
  pick<Value>(rows: readonly (readonly [weight: number, value: Value])[]): Value {
    let ticket = this.next() * rows.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of rows) {
      ticket -= weight;
      if (ticket < 0) return value;
    }
    return (rows.at(-1) as readonly [number, Value])[1];
  }
}
