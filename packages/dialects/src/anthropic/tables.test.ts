import type { ListedModel } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { capabilitiesOf, parseClaudeModel } from "./capabilities.ts";
import { ANTHROPIC_KINDS } from "./kind.ts";
import { acceptsReasoningOf, modelFamily } from "./model-family.ts";
import { encodeModel, encodeModelList } from "./models.ts";
import { compileProfile } from "./profiles.ts";
import { fitSchema } from "./schema-subset.ts";
import { documentOf } from "./test-exchange.ts";
import { endsInWhiteSpace, isBlankText } from "./text-checks.ts";
import { encodeUsage, UsageTally } from "./usage.ts";

describe("modelFamily", () => {
  const rows = [
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
    ["us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"],
    ["claude-3-7-sonnet-latest", "claude-3-7-sonnet"],
    ["up-model", "up-model"],
  ] as const;
  it.each(rows)("%s is of %s", (model, family) => {
    expect(modelFamily(model)).toBe(family);
  });
  it("accepts reasoning of its own family, and of those that are listed", () => {
    expect(acceptsReasoningOf("claude-opus-4-1-20250805", "claude-opus-4-1", {})).toBe(true);
    expect(acceptsReasoningOf("claude-opus-4-1", "claude-opus-4-5", {})).toBe(false);
    expect(
      acceptsReasoningOf("claude-opus-4-1", "claude-opus-4-5", { reasoningAcceptModels: ["claude-opus-4-1"] }),
    ).toBe(true);
  });
});

describe("capabilitiesOf", () => {
  it("reads names old and new", () => {
    expect(parseClaudeModel("claude-3-5-haiku-20241022")).toEqual({ family: "haiku", version: 3.5 });
    expect(parseClaudeModel("claude-opus-4-20250514")).toEqual({ family: "opus", version: 4 });
    expect(parseClaudeModel("claude-fable-5-1")).toEqual({ family: "fable", version: 5.1 });
    expect(parseClaudeModel("gpt-5")).toBeNull();
  });
  const rows = [
    [
      "claude-sonnet-4-5",
      { sampling: "temperature-xor-top_p", prefill: true, reasoning: { budget: true, adaptive: false } },
    ],
    [
      "claude-opus-4-6",
      { sampling: "temperature-xor-top_p", prefill: false, reasoning: { budget: true, adaptive: true } },
    ],
    [
      "claude-opus-4-7",
      { sampling: "none", reasoning: { budget: false, adaptive: true }, midConversationSystem: false },
    ],
    ["claude-opus-4-8", { midConversationSystem: true }],
    [
      "claude-sonnet-5",
      {
        sampling: "none",
        reasoning: { budget: false, defaultOn: true, canDisable: true },
        midConversationSystem: false,
      },
    ],
    ["claude-opus-5-5", { tools: { forcedChoice: false }, reasoning: { canDisable: false } }],
    ["claude-sonnet-5-5", { reasoning: { betweenTools: true, efforts: ["low", "medium", "high"], canDisable: false } }],
    ["claude-fable-5", { tools: { forcedChoice: true }, reasoning: { canDisable: false } }],
    ["claude-fable-5-1", { tools: { forcedChoice: false } }],
    ["claude-haiku-5-5", { reasoning: { budget: false, canDisable: true } }],
    ["claude-3-5-sonnet-20241022", { sampling: "full", reasoning: { support: false }, maxOutputTokens: 8192 }],
    ["some-proxy-model", { temperatureMax: 1, explicitCache: true }],
  ] as const;
  it.each(rows)("knows %s", (model, expected) => {
    expect(capabilitiesOf(model)).toMatchObject(expected);
  });
});

describe("profiles and kinds", () => {
  it("compiles a profile, or says what is wrong with it", () => {
    expect(compileProfile("anthropic", { apiVersion: "2023-06-01" })).toMatchObject({
      ok: true,
      profile: { apiVersion: "2023-06-01" },
    });
    expect(compileProfile("nobody", {})).toMatchObject({ ok: false });
    expect(compileProfile("anthropic", { lenientTerminal: 1, colour: "red" })).toMatchObject({
      ok: false,
      problems: [{ path: "/lenientTerminal" }, { path: "/colour" }],
    });
  });
  it("has a profile for every kind", () => {
    for (const kind of ANTHROPIC_KINDS) {
      for (const name of Object.values(kind.profiles)) expect(compileProfile(name, {}).ok).toBe(true);
    }
  });
});

describe("model lists", () => {
  const models: ListedModel[] = Array.from({ length: 25 }, (_, index) => ({
    id: `m${index}`,
    displayName: `M ${index}`,
    createdSeconds: 1_790_000_000,
  }));
  const list = (query: string): unknown => {
    const encoded = encodeModelList(models, query);
    if (!encoded.ok) return encoded.error.class;
    const { data, ...rest } = JSON.parse(Buffer.from(encoded.body).toString("utf8")) as { data: unknown[] };
    return { count: data.length, ...rest };
  };
  it("writes a model", () => {
    expect(JSON.parse(Buffer.from(encodeModel(models[0] as ListedModel)).toString("utf8"))).toEqual({
      type: "model",
      id: "m0",
      display_name: "M 0",
      created_at: "2026-09-21T14:13:20Z",
    });
  });
  const rows = [
    { query: "", expected: { count: 20, has_more: true, first_id: "m0", last_id: "m19" } },
    { query: "after_id=m19", expected: { count: 5, has_more: false, first_id: "m20", last_id: "m24" } },
    { query: "limit=2&before_id=m5", expected: { count: 2, has_more: true, first_id: "m3", last_id: "m4" } },
    { query: "limit=1000", expected: { count: 25, has_more: false, first_id: "m0", last_id: "m24" } },
    { query: "after_id=m24", expected: { count: 0, has_more: false, first_id: null, last_id: null } },
    { query: "limit=0", expected: "invalid-request" },
    { query: "limit=1001", expected: "invalid-request" },
    { query: "limit=x", expected: "invalid-request" },
  ];
  it.each(rows)("pages with '$query'", ({ query, expected }) => {
    expect(list(query)).toEqual(expected);
  });
});

describe("usage", () => {
  const read = (...usages: object[]) => {
    const tally = new UsageTally();
    for (const usage of usages) {
      const document = documentOf(usage);
      tally.read(document, document.root);
    }
    return tally.toUsage(true);
  };
  it("adds cache counts to the input, and back", () => {
    const usage = read({
      input_tokens: 3,
      cache_creation_input_tokens: 12_304,
      cache_read_input_tokens: 0,
      output_tokens: 550,
    });
    expect(usage).toMatchObject({ input: 12_307, cacheRead: 0, cacheWrite: 12_304, output: 550 });
    expect(JSON.parse(encodeUsage(usage, null))).toEqual({
      input_tokens: 3,
      cache_creation_input_tokens: 12_304,
      cache_read_input_tokens: 0,
      output_tokens: 550,
    });
  });
  it("overwrites and never adds, and keeps what a later event does not say", () => {
    const usage = read(
      { input_tokens: 5, cache_read_input_tokens: 8, output_tokens: 1 },
      { output_tokens: 9, cache_read_input_tokens: null },
      { cache_read_input_tokens: 8 },
    );
    expect(usage).toMatchObject({ input: 13, cacheRead: 8, output: 9 });
  });
  it("clamps a component above its total, never the total", () => {
    expect(read({ input_tokens: 1, output_tokens: 2, output_tokens_details: { thinking_tokens: 5 } })).toMatchObject({
      output: 2,
      reasoning: 2,
    });
  });
  it("reports nothing where nothing was reported", () => {
    expect(read({})).toBeNull();
    expect(read({ input_tokens: -1, output_tokens: "3" })).toBeNull();
    expect(read({ input_tokens: 1, output_tokens: 1 })).not.toHaveProperty("cacheRead");
  });
  it("never writes a negative count", () => {
    const usage = { input: 5, cacheRead: 9, output: 1, source: "upstream", final: true } as const;
    expect(JSON.parse(encodeUsage(usage, "flex"))).toMatchObject({ input_tokens: 0 });
  });
});

describe("text checks", () => {
  const slice = (inside: string) => ({ bytes: Buffer.from(`"${inside}"`), start: 1, end: inside.length + 1 });
  const rows = [
    ["", true, false],
    [" ", true, true],
    [String.raw`\n\t `, true, true],
    ["x", false, false],
    [String.raw`x\n`, false, true],
    [String.raw`x\\n`, false, false],
    [String.raw`\\\n`, false, true],
    ["x ", false, true],
  ] as const;
  it.each(rows)("%j is blank: %s, ends in white space: %s", (inside, isBlank, endsBlank) => {
    expect(isBlankText(slice(inside))).toBe(isBlank);
    expect(endsInWhiteSpace(slice(inside))).toBe(endsBlank);
    const decoded = JSON.parse(`"${inside}"`) as string;
    expect(isBlankText(decoded)).toBe(isBlank);
    expect(endsInWhiteSpace(decoded)).toBe(endsBlank);
  });
});

describe("fitSchema", () => {
  const fit = (schema: object): string => fitSchema({ value: schema }).fits;
  const closed = { type: "object", properties: {}, additionalProperties: false };
  it("knows what is inside, outside and never", () => {
    expect(fit(closed)).toBe("exactly");
    expect(fit({ type: "object", properties: {} })).toBe("droppable");
    expect(fit({ ...closed, properties: { a: { type: "array", minItems: 1, items: closed } } })).toBe("exactly");
    expect(fit({ ...closed, properties: { a: { type: "array", minItems: 2 } } })).toBe("droppable");
    expect(fit({ ...closed, properties: { a: { type: "string", format: "email" } } })).toBe("exactly");
    expect(fit({ ...closed, properties: { a: { type: "string", format: "phone" } } })).toBe("droppable");
    expect(fit({ ...closed, properties: { minimum: { type: "string" } } })).toBe("exactly");
    expect(fit({ ...closed, properties: { a: { $ref: "#" } } })).toBe("never");
    expect(fitSchema({ value: [] }).fits).toBe("never");
  });
});
