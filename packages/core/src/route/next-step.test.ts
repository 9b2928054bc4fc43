import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { ErrorClass, NeutralError } from "../ir/index.ts";
import { nextStep, type Step, type StepInput } from "./next-step.ts";

const error = (parts: Partial<NeutralError>): NeutralError => ({
  class: "overloaded",
  origin: "upstream",
  message: "",
  retrySame: true,
  fallback: true,
  ...parts,
});

const input = (parts: Omit<Partial<StepInput>, "error">, of: Partial<NeutralError> = {}): StepInput => ({
  error: error(of),
  isCommitted: false,
  isClientGone: false,
  attemptsOnDeployment: 1,
  maxAttempts: 2,
  hasRetryBudget: true,
  maxRetryAfterMs: 20_000,
  nextOn: new Set(),
  ...parts,
});

/** How the dialects and the engine mark errors of each class (see the classification tables of the dialects). */
const CLASSES: readonly {
  readonly class: ErrorClass;
  readonly retrySame: boolean;
  readonly fallback: NeutralError["fallback"];
  readonly first: Step;
  readonly last: Step;
}[] = [
  { class: "auth", retrySame: false, fallback: true, first: "next", last: "next" },
  { class: "permission", retrySame: false, fallback: true, first: "next", last: "next" },
  { class: "not-found", retrySame: false, fallback: true, first: "next", last: "next" },
  { class: "method-not-allowed", retrySame: false, fallback: false, first: "stop", last: "stop" },
  { class: "invalid-request", retrySame: false, fallback: false, first: "stop", last: "stop" },
  { class: "unsupported-media-type", retrySame: false, fallback: false, first: "stop", last: "stop" },
  { class: "too-large", retrySame: false, fallback: false, first: "stop", last: "stop" },
  { class: "context-length", retrySame: false, fallback: "larger-window", first: "next-larger", last: "next-larger" },
  { class: "content-policy", retrySame: false, fallback: false, first: "stop", last: "stop" },
  { class: "rate-limit", retrySame: true, fallback: true, first: "same", last: "next" },
  { class: "quota", retrySame: false, fallback: true, first: "next", last: "next" },
  { class: "overloaded", retrySame: true, fallback: true, first: "same", last: "next" },
  { class: "timeout", retrySame: false, fallback: true, first: "next", last: "next" },
  { class: "upstream-5xx", retrySame: true, fallback: true, first: "same", last: "next" },
  { class: "network", retrySame: true, fallback: true, first: "same", last: "next" },
  { class: "protocol", retrySame: true, fallback: true, first: "same", last: "next" },
  { class: "no-deployment", retrySame: false, fallback: false, first: "stop", last: "stop" },
  { class: "cancelled", retrySame: false, fallback: false, first: "stop", last: "stop" },
  { class: "internal", retrySame: false, fallback: false, first: "stop", last: "stop" },
];

describe("nextStep", () => {
  it.each(CLASSES)("after the first failure of class $class says $first, after the last attempt $last", (row) => {
    expect(nextStep(input({ attemptsOnDeployment: 1 }, row))).toBe(row.first);
    expect(nextStep(input({ attemptsOnDeployment: 2 }, row))).toBe(row.last);
  });

  it.each(CLASSES)("stops once committed or once the client is gone, whatever class $class would allow", (row) => {
    expect(nextStep(input({ isCommitted: true }, row))).toBe("stop");
    expect(nextStep(input({ isClientGone: true }, row))).toBe("stop");
  });

  it.each<{ readonly name: string; readonly given: StepInput; readonly expected: Step }>([
    {
      name: "an empty retry budget never limits falling back",
      given: input({ hasRetryBudget: false }),
      expected: "next",
    },
    {
      name: "an empty retry budget ends what may only be repeated",
      given: input({ hasRetryBudget: false }, { fallback: false }),
      expected: "stop",
    },
    { name: "a wait at the bound is waited for", given: input({}, { retryAfterMs: 20_000 }), expected: "same" },
    { name: "a wait past the bound is not", given: input({}, { retryAfterMs: 20_001 }), expected: "next" },
    {
      name: "a wait past the bound without a fall-back ends",
      given: input({}, { retryAfterMs: 20_001, fallback: false }),
      expected: "stop",
    },
    {
      name: "a broken answer gets one more try",
      given: input({ maxAttempts: 5 }, { class: "protocol" }),
      expected: "same",
    },
    {
      name: "a second broken answer gets none",
      given: input({ maxAttempts: 5, attemptsOnDeployment: 2 }, { class: "protocol" }),
      expected: "next",
    },
    {
      name: "a single allowed attempt is not repeated, broken answer or not",
      given: input({ maxAttempts: 1 }, { class: "protocol" }),
      expected: "next",
    },
    {
      name: "the model's policy sends a class on",
      given: input(
        { nextOn: new Set(["content-policy"]) },
        { class: "content-policy", retrySame: false, fallback: false },
      ),
      expected: "next",
    },
    {
      name: "the model's policy sends a code on",
      given: input(
        { nextOn: new Set(["guardrail"]) },
        { class: "content-policy", code: "guardrail", retrySame: false, fallback: false },
      ),
      expected: "next",
    },
    {
      name: "a policy about others changes nothing",
      given: input(
        { nextOn: new Set(["quota"]) },
        { class: "content-policy", code: "guardrail", retrySame: false, fallback: false },
      ),
      expected: "stop",
    },
    {
      name: "the policy does not lift the window condition",
      given: input(
        { nextOn: new Set(["context-length"]) },
        { class: "context-length", retrySame: false, fallback: "larger-window" },
      ),
      expected: "next-larger",
    },
  ])("$name", ({ given, expected }) => {
    expect(nextStep(given)).toBe(expected);
  });

  it("repeats only within attempts, budget and wait, and never after the commit (property)", () => {
    const anyInput = fc.record({
      error: fc.record({
        class: fc.constantFrom(...CLASSES.map((row) => row.class)),
        origin: fc.constant("upstream" as const),
        message: fc.constant(""),
        retrySame: fc.boolean(),
        fallback: fc.constantFrom<NeutralError["fallback"]>(true, false, "larger-window"),
        retryAfterMs: fc.nat(40_000),
      }),
      isCommitted: fc.boolean(),
      isClientGone: fc.boolean(),
      attemptsOnDeployment: fc.integer({ min: 1, max: 5 }),
      maxAttempts: fc.integer({ min: 1, max: 5 }),
      hasRetryBudget: fc.boolean(),
      maxRetryAfterMs: fc.nat(40_000),
      nextOn: fc.constant(new Set<string>()),
    });
    fc.assert(
      fc.property(anyInput, (given) => {
        const step = nextStep(given);
        expect(step !== "stop" && (given.isCommitted || given.isClientGone)).toBe(false);
        const mayRepeat =
          given.error.retrySame &&
          given.hasRetryBudget &&
          given.attemptsOnDeployment < given.maxAttempts &&
          given.error.retryAfterMs <= given.maxRetryAfterMs;
        expect(step === "same" && !mayRepeat).toBe(false);
      }),
    );
  });
});
