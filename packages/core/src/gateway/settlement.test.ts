import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Usage } from "../ir/index.ts";
import type { SettlementRule } from "./ports.ts";
import { settlementRule, type AttemptEnding } from "./settlement.ts";

const USAGE: Usage = { input: 1, output: 2, source: "upstream", final: true };
const ending = (parts: Partial<AttemptEnding>): AttemptEnding => ({
  isComplete: false,
  hasContent: false,
  isClientGone: false,
  isAbandoned: false,
  isOwnAbort: false,
  isFullySent: true,
  usage: null,
  ...parts,
});

describe("settlementRule", () => {
  it.each<{ readonly name: string; readonly given: Partial<AttemptEnding>; readonly expected: SettlementRule }>([
    { name: "completed with usage", given: { isComplete: true, hasContent: true, usage: USAGE }, expected: "actual" },
    { name: "completed without usage", given: { isComplete: true, hasContent: true }, expected: "estimated" },
    {
      name: "completed for a client that had left, with usage",
      given: { isComplete: true, isClientGone: true, usage: USAGE },
      expected: "after_disconnect",
    },
    {
      name: "completed for a client that had left, without usage",
      given: { isComplete: true, isClientGone: true },
      expected: "partial",
    },
    {
      name: "cancelled because the client left, after content",
      given: { hasContent: true, isClientGone: true, isAbandoned: true },
      expected: "partial",
    },
    {
      name: "cancelled because the client left, before content",
      given: { isClientGone: true, isAbandoned: true },
      expected: "partial",
    },
    {
      name: "cancelled because the client left, before it was sent",
      given: { isClientGone: true, isAbandoned: true, isFullySent: false },
      expected: "failed_free",
    },
    { name: "broken by the upstream after content", given: { hasContent: true }, expected: "partial" },
    {
      name: "broken by the upstream after content, with usage",
      given: { hasContent: true, usage: USAGE },
      expected: "partial",
    },
    { name: "failed before content with usage", given: { usage: USAGE }, expected: "failed_actual" },
    { name: "failed before content without usage", given: {}, expected: "failed_free" },
    {
      name: "failed by itself while a client that left was drained for",
      given: { isClientGone: true },
      expected: "failed_free",
    },
    { name: "sent and then given up by our own timeout", given: { isOwnAbort: true }, expected: "abandoned" },
    {
      name: "given up by our own timeout after content",
      given: { isOwnAbort: true, hasContent: true },
      expected: "abandoned",
    },
    {
      name: "given up by our own timeout before it was sent",
      given: { isOwnAbort: true, isFullySent: false },
      expected: "failed_free",
    },
  ])("$name is $expected", ({ given, expected }) => {
    expect(settlementRule(ending(given))).toBe(expected);
  });

  it("names a rule that fits what is known of the usage, however an attempt ended (property)", () => {
    const anyEnding = fc.record({
      isComplete: fc.boolean(),
      hasContent: fc.boolean(),
      isClientGone: fc.boolean(),
      isAbandoned: fc.boolean(),
      isOwnAbort: fc.boolean(),
      isFullySent: fc.boolean(),
      usage: fc.constantFrom(USAGE, null),
    });
    const withUsage: readonly SettlementRule[] = ["actual", "after_disconnect", "failed_actual"];
    const withoutUsage: readonly SettlementRule[] = ["estimated", "failed_free"];
    fc.assert(
      fc.property(anyEnding, (given) => {
        const rule = settlementRule(given);
        expect(withUsage.includes(rule) && given.usage === null).toBe(false);
        expect(withoutUsage.includes(rule) && given.usage !== null).toBe(false);
        expect(given.hasContent && rule.startsWith("failed")).toBe(false);
      }),
    );
  });
});
