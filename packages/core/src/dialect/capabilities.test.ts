import { describe, expect, it } from "vitest";

import { DEFAULT_CAPABILITIES, mergeCapabilities, type CapabilityOverrides } from "./capabilities.ts";

describe("mergeCapabilities", () => {
  it.each<{
    readonly name: string;
    readonly overrides: readonly CapabilityOverrides[];
    readonly expected: Readonly<Record<string, unknown>>;
  }>([
    { name: "nothing", overrides: [], expected: {} },
    { name: "a plain member", overrides: [{ topK: true }], expected: { topK: true } },
    {
      name: "one member of a group, leaving the others",
      overrides: [{ tools: { strict: true } }],
      expected: { tools: { ...DEFAULT_CAPABILITIES.tools, strict: true } },
    },
    {
      name: "the later of two",
      overrides: [{ maxN: 2, seed: false }, { maxN: 3 }],
      expected: { maxN: 3, seed: false },
    },
    {
      name: "members of one group from both",
      overrides: [{ input: { pdf: true } }, { input: { audio: true } }],
      expected: { input: { ...DEFAULT_CAPABILITIES.input, pdf: true, audio: true } },
    },
    {
      name: "a list as a whole",
      overrides: [{ cacheTtls: [300, 3_600] }, { cacheTtls: [60] }],
      expected: { cacheTtls: [60] },
    },
    {
      name: "a list inside a group as a whole",
      overrides: [{ reasoning: { efforts: ["low", "high"] } }, { reasoning: { efforts: ["max"] } }],
      expected: { reasoning: { ...DEFAULT_CAPABILITIES.reasoning, efforts: ["max"] } },
    },
    { name: "a member that the base lacks", overrides: [{ contextWindow: 5 }], expected: { contextWindow: 5 } },
  ])("lays $name over the base", ({ overrides, expected }) => {
    expect(mergeCapabilities(DEFAULT_CAPABILITIES, ...overrides)).toEqual({ ...DEFAULT_CAPABILITIES, ...expected });
  });

  it("changes neither base nor overrides", () => {
    const before = structuredClone(DEFAULT_CAPABILITIES);
    const override: CapabilityOverrides = Object.freeze({ tools: Object.freeze({ strict: true }) });
    mergeCapabilities(DEFAULT_CAPABILITIES, override, { tools: { custom: true } });
    expect(DEFAULT_CAPABILITIES).toEqual(before);
    expect(override).toEqual({ tools: { strict: true } });
  });
});
