// Profiles of compatible servers are data that a configuration can change, member by member: what then goes upstream, and what a mistake
// is told.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProviderConfig } from "@dragoman/core";

import { createGateway } from "../src/index.ts";
import { createScriptedUpstream } from "../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../src/scripted-upstream/index.ts";

let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await createScriptedUpstream();
});
afterAll(() => upstream.close());

const configOf = (profile: ProviderConfig["profile"]) =>
  ({
    version: 1,
    providers: { server: { kind: "openai-compatible", baseUrl: `${upstream.url}/v1`, ...(profile && { profile }) } },
    models: { chat: ["server/scripted-text"] },
  }) as const;

/** The request that the server gets for one of a client that speaks Messages. */
async function sentUnder(profile: ProviderConfig["profile"]): Promise<Readonly<Record<string, unknown>>> {
  const gateway = await createGateway(configOf(profile));
  try {
    const answer = await gateway.as({ id: "tester" }).fetch("http://gateway.test/v1/messages", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "chat",
        max_tokens: 30,
        metadata: { user_id: "u-1" },
        system: "Be brief.",
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "a" },
              { type: "text", text: "b" },
            ],
          },
        ],
        tools: [{ name: "look", input_schema: { type: "object" } }],
        tool_choice: { type: "any" },
      }),
    });
    expect(await answer.text()).toContain('"type":"message"');
  } finally {
    await gateway.close();
  }
  return JSON.parse(upstream.calls.at(-1)?.body.toString("utf8") ?? "null") as Readonly<Record<string, unknown>>;
}

describe("a compatible server", () => {
  test("gets the request that the kind's own profile says", async () => {
    expect(await sentUnder(undefined)).toMatchObject({
      max_tokens: 30,
      tool_choice: "required",
      user: "u-1",
      messages: [{ role: "system" }, { content: "a\nb" }],
    });
  });

  test.each<{ readonly name: string; readonly profile: ProviderConfig["profile"]; readonly expected: object }>([
    { name: "another profile by its name", profile: "mistral", expected: { tool_choice: "any" } },
    {
      name: "the name of the limit",
      profile: { extends: "generic", maxTokensField: "max_completion_tokens" },
      expected: { max_completion_tokens: 30 },
    },
    {
      name: "the role of instructions",
      profile: { extends: "generic", instructionRole: "developer" },
      expected: { messages: [{ role: "developer" }, { role: "user" }] },
    },
    {
      name: "the form of text lists",
      profile: { extends: "generic", textLists: "keep" },
      expected: { messages: [{}, { content: [{ text: "a" }, { text: "b" }] }] },
    },
    {
      name: "the word for a forced call",
      profile: { extends: "generic", toolChoiceRequiredWord: "any" },
      expected: { tool_choice: "any" },
    },
    {
      name: "the member of the end user",
      profile: { extends: "vllm", endUserField: "safety_identifier" },
      expected: { safety_identifier: "u-1" },
    },
  ])("gets the request that the configuration makes of $name", async ({ profile, expected }) => {
    expect(await sentUnder(profile)).toMatchObject(expected);
  });
});

describe("a mistake in a profile", () => {
  test.each<{ readonly profile: ProviderConfig["profile"]; readonly path: string; readonly says: RegExp }>([
    { profile: "olama", path: "/providers/server/profile", says: /no profile "olama".*ollama/ },
    { profile: { extends: "generic", maxTokens: 1 }, path: "/providers/server/profile/maxTokens", says: /no member/ },
    {
      profile: { extends: "generic", textLists: "merge" },
      path: "/providers/server/profile/textLists",
      says: /keep, join/,
    },
    { profile: { extends: "generic", prefill: "yes" }, path: "/providers/server/profile/prefill", says: /boolean/ },
  ])("is told at $path", async ({ profile, path, says }) => {
    await expect(createGateway(configOf(profile))).rejects.toMatchObject({
      code: "config_invalid",
      details: { problems: [{ path, message: expect.stringMatching(says) }] },
    });
  });
});
