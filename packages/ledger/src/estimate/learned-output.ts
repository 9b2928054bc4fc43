/**
 * How long answers have been: a moving mean with its deviation per model and key, and per model for keys that are new. Bounded: the
 * pair that was learned from longest ago goes first.
 */

/** Settings of the memory. */
export interface LearnedOutputOptions {
  /** Pairs of model and key. Default 10,000. */
  readonly maxPairs?: number;
  /** Tokens expected of a model that nothing is known about. Default 1,000. */
  readonly initialTokens?: number;
}

/** Weights of a new length in the mean and in the deviation, as RFC 6298 §2 has them for round-trip times. */
const MEAN_WEIGHT = 1 / 8;
const DEVIATION_WEIGHT = 1 / 4;

class Length {
  #mean: number;
  #deviation: number;

  constructor(tokens: number) {
    this.#mean = tokens;
    this.#deviation = tokens / 2;
  }

  learn(tokens: number): void {
    const error = tokens - this.#mean;
    this.#deviation += DEVIATION_WEIGHT * (Math.abs(error) - this.#deviation);
    this.#mean += MEAN_WEIGHT * error;
  }

  get expected(): number {
    return Math.ceil(this.#mean + this.#deviation);
  }
}

/** Expected output lengths. */
export class LearnedOutput {
  readonly #maxPairs: number;
  readonly #initialTokens: number;
  readonly #pairs = new Map<string, Length>();
  readonly #models = new Map<string, Length>();

  constructor({ maxPairs = 10_000, initialTokens = 1_000 }: LearnedOutputOptions = {}) {
    this.#maxPairs = maxPairs;
    this.#initialTokens = initialTokens;
  }

  /** Output tokens to expect: the mean and one deviation above it. */
  expect(model: string, key: string): number {
    return (this.#pairs.get(pairOf(model, key)) ?? this.#models.get(model))?.expected ?? this.#initialTokens;
  }

  /** Takes in the output of one complete answer. */
  learn(model: string, key: string, tokens: number): void {
    learn(this.#pairs, pairOf(model, key), tokens, this.#maxPairs);
    learn(this.#models, model, tokens, this.#maxPairs);
  }

  /** Pairs known. */
  get size(): number {
    return this.#pairs.size;
  }
}

const pairOf = (model: string, key: string): string => `${model}\n${key}`;

function learn(lengths: Map<string, Length>, name: string, tokens: number, maxLengths: number): void {
  const known = lengths.get(name);
  if (known !== undefined) {
    known.learn(tokens);
    // A map keeps the order of insertion, so going out and in again makes it the newest. Only worth it when one may have to go.
    if (lengths.size * 2 < maxLengths) return;
    lengths.delete(name);
    lengths.set(name, known);
    return;
  }
  if (lengths.size >= maxLengths) {
    const oldest = lengths.keys().next();
    if (oldest.done !== true) lengths.delete(oldest.value);
  }
  lengths.set(name, new Length(tokens));
}
