import { describe, expect, test } from "vitest";

import { scan } from "@dragoman/core";

import { AZURE_OPENAI_KIND, OPENAI_COMPATIBLE_KIND, OPENAI_KIND, OPENAI_KINDS } from "./kind.ts";
import { compileChatProfile } from "./compile-profile.ts";
import { CHAT_PROFILES } from "./profiles.ts";
import { openaiChatProvider } from "./provider.ts";

describe("compileProfile", () => {
  test.each(Object.keys(CHAT_PROFILES))("has %s, and every kind's default", (name) => {
    const compiled = compileChatProfile(name, {});
    expect(compiled.ok ? compiled.profile.name : null).toBe(name);
    const defaults = OPENAI_KINDS.map((kind) => kind.profiles["openai-chat"]);
    expect(defaults.every((profile) => profile !== undefined && profile in CHAT_PROFILES)).toBe(true);
  });

  test("lays overrides over a base of another name", () => {
    const compiled = compileChatProfile("mine", {
      extends: "generic",
      strictTools: true,
      accepts: ["model"],
      reasoningFields: ["thoughts"],
    });
    expect(compiled).toMatchObject({
      ok: true,
      profile: {
        name: "mine",
        strictTools: true,
        accepts: ["model"],
        reasoningFields: ["thoughts"],
        maxTokensField: "max_tokens",
      },
    });
  });

  test.each([
    ["an unknown name", "nope", {}, ""],
    ["an unknown base", "mine", { extends: "nope" }, "/extends"],
    ["a name that every object has", "constructor", {}, ""],
    ["an unknown member", "generic", { colour: 1 }, "/colour"],
    ["a wrong kind", "generic", { strictTools: "yes" }, "/strictTools"],
    ["a wrong word", "generic", { textLists: "split" }, "/textLists"],
    ["a wrong word in a list", "generic", { toolChoices: ["auto", "maybe"] }, "/toolChoices"],
    ["a list that is none", "generic", { accepts: "model" }, "/accepts"],
    [
      "a pattern that is none",
      "generic",
      { toolCallIdRule: { pattern: "(", maxLength: 1, prefix: "", length: 1 } },
      "/toolCallIdRule",
    ],
    ["a meaning that is none", "generic", { finishReasonMap: { x: "y" } }, "/finishReasonMap"],
  ])("refuses %s", (_, name, overrides, path) => {
    const compiled = openaiChatProvider.compileProfile(name, overrides);
    expect(compiled.ok ? null : compiled.problems.map((problem) => problem.path)).toEqual([path]);
  });

  test("normalises answers of all servers but the vendor's own and one other", () => {
    const kept = Object.values(CHAT_PROFILES).filter((profile) => !openaiChatProvider.normalizesAnswers(profile));
    expect(kept.map((profile) => profile.name)).toEqual(["openai", "azure", "vllm"]);
  });
});

describe("kinds", () => {
  test("know families of models by their ids", () => {
    expect(OPENAI_KIND.capabilitiesOf("gpt-4o", "openai").sampling).toBeUndefined();
    expect(OPENAI_KIND.capabilitiesOf("o3-mini", "openai")).toMatchObject({
      sampling: "only-when-reasoning-off",
      reasoning: { canDisable: false },
    });
    expect(OPENAI_KIND.capabilitiesOf("gpt-5-mini", "openai").reasoning?.efforts).toContain("minimal");
    expect(OPENAI_KIND.capabilitiesOf("gpt-5.2", "openai").reasoning?.canDisable).toBe(true);
    expect(AZURE_OPENAI_KIND.capabilitiesOf("my-deployment", "azure").reasoning).toBeUndefined();
    expect(OPENAI_COMPATIBLE_KIND.capabilitiesOf("llama", "generic").reasoning?.support).toBe(true);
  });
});

describe("readUsage", () => {
  test("reads the usage member of an object that holds nothing else", () => {
    const scanned = scan(
      Buffer.from(
        '{"usage":{"prompt_tokens":4,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":9},"completion_tokens_details":{"reasoning_tokens":1}}}',
      ),
    );
    const compiled = compileChatProfile("openai", {});
    if (!scanned.ok || !compiled.ok) throw new Error("setup");
    const counted: string[] = [];
    const usage = openaiChatProvider.readUsage(scanned.document, {
      profile: compiled.profile,
      upstreamModel: "m",
      headers: [],
      count: (name) => counted.push(name),
    });
    expect(usage).toEqual({ input: 4, cacheRead: 4, output: 2, reasoning: 1, source: "upstream", final: true });
    expect(counted).toEqual(["usage_clamped"]);
  });

  test.each([
    ["groq", '{"x_groq":{"usage":{"prompt_tokens":7,"completion_tokens":3}}}', { input: 7, output: 3 }],
    [
      "deepseek",
      '{"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_cache_hit_tokens":60}}',
      { input: 100, cacheRead: 60, output: 20 },
    ],
    ["generic", '{"usage":{"total_tokens":10,"completion_tokens":4}}', { input: 6, output: 4 }],
  ])("finds the counts of %s", (profile, body, expected) => {
    const scanned = scan(Buffer.from(body));
    const compiled = compileChatProfile(profile, {});
    if (!scanned.ok || !compiled.ok) throw new Error("setup");
    const usage = openaiChatProvider.readUsage(scanned.document, {
      profile: compiled.profile,
      upstreamModel: "m",
      headers: [],
      count: () => {},
    });
    expect(usage).toEqual({ ...expected, source: "upstream", final: true });
  });

  test.each([
    '{"usage":null}',
    '{"usage":{}}',
    '{"usage":{"prompt_tokens":0,"completion_tokens":0}}',
    '{"usage":{"prompt_tokens":-1}}',
    "{}",
  ])("reads nothing from %s", (body) => {
    const scanned = scan(Buffer.from(body));
    const compiled = compileChatProfile("openai", {});
    if (!scanned.ok || !compiled.ok) throw new Error("setup");
    expect(
      openaiChatProvider.readUsage(scanned.document, {
        profile: compiled.profile,
        upstreamModel: "m",
        headers: [],
        count: () => {},
      }),
    ).toBeNull();
  });
});
