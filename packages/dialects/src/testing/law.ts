// What a law is, and how one fails: with a sentence and the smallest input that breaks it. Generated inputs come from seeds, so a
// failure is the same on every machine.
import { check, property } from "fast-check";
import type { Arbitrary } from "fast-check";

/** One thing that must hold for a dialect. Test runners run `check`; it returns when the law holds. */
export interface Law {
  readonly name: string;
  /**
   * Checks the law with generated and given inputs.
   *
   * @throws {@link LawViolation} with what is wrong and the smallest input that shows it.
   */
  check(): void | Promise<void>;
}

/** How much a law tries. */
export interface LawOptions {
  /** Generated inputs per law; default 100. */
  readonly runs?: number;
  /** Seed of the generators; default 1, so that runs are alike. */
  readonly seed?: number;
}

/** A law that does not hold. The message says what is wrong and shows the smallest input that was found. */
export class LawViolation extends Error {
  override readonly name = "LawViolation";
  /** The law's name. */
  readonly law: string;

  constructor(law: string, message: string, cause?: unknown) {
    super(`${law}: ${message}`, cause === undefined ? undefined : { cause });
    this.law = law;
  }
}

/** Longest input that a message shows. */
const MAX_SHOWN = 4_000;

/** A law that must hold for every generated input. `attempt` throws, with a sentence, where it does not. */
export function forAll<Input>(
  name: string,
  inputs: Arbitrary<Input>,
  options: LawOptions,
  attempt: (input: Input) => void,
): Law {
  return {
    name,
    check() {
      const details = check(property(inputs, attempt), { numRuns: options.runs ?? 100, seed: options.seed ?? 1 });
      if (!details.failed) return;
      const error: unknown = details.errorInstance;
      const reason = messageOf(error);
      throw new LawViolation(name, `${reason}\nSmallest input: ${show(details.counterexample?.[0])}`, error);
    },
  };
}

/** A law over a fixed list of inputs, reported one by one. */
export function forEach<Input>(name: string, inputs: readonly Input[], attempt: (input: Input) => void): Law {
  return {
    name,
    check() {
      for (const input of inputs) {
        try {
          attempt(input);
        } catch (error) {
          throw new LawViolation(name, `${messageOf(error)}\nInput: ${show(input)}`, error);
        }
      }
    },
  };
}

/** Throws with a sentence unless a condition holds. */
export function ensure(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Error(message());
}

/** Throws unless two canonical values are the same; the order of members does not count. */
export function requireSame(actual: unknown, expected: unknown, what: string): void {
  const left = JSON.stringify(actual, sortMembers);
  const right = JSON.stringify(expected, sortMembers);
  if (left !== right) throw new Error(`${what} differs.\n  got:      ${left}\n  expected: ${right}`);
}

const sortMembers = (_name: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
};

const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // A dialect that throws breaks its contract; where it did is what its author wants to know.
  const isThrown = error.constructor !== Error || error.name !== "Error";
  return isThrown ? `the dialect threw ${error.stack ?? error.message}` : error.message;
};

/** An input as text, cut at a bound. */
function show(input: unknown): string {
  const text = typeof input === "string" ? input : (JSON.stringify(input) ?? String(input));
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)` : text;
}
