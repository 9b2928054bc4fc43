// Two vendors' SDKs are served by Ollama through one gateway in this process: text, thinking, tools, errors, streamed and whole.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { createGateway } from "dragoman";
import type { Gateway } from "dragoman";

import { ollama, ollamaNative } from "../ollama/ollama.ts";
import { startScriptedOllama } from "./scripted-ollama.ts";
import type { ScriptedOllama } from "./scripted-ollama.ts";

let upstream: ScriptedOllama;
let gateway: Gateway;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = await startScriptedOllama();
  gateway = await createGateway(
    {
      version: 1,
      providers: {
        local: {
          kind: "ollama-native",
          baseUrl: upstream.url,
          credentials: ["key"],
          profile: { extends: "plain", textSeparator: "\n" },
        },
      },
      models: { "*": { deployments: [{ provider: "local", model: "*" }], attempts: 1 } },
    },
    { dialects: [{ provider: ollama }], kinds: [ollamaNative] },
  );
  const { fetch } = gateway.as({ id: "test" });
  openai = new OpenAI({ fetch, apiKey: "unused", maxRetries: 0, logLevel: "off" });
  anthropic = new Anthropic({ fetch, apiKey: "unused", maxRetries: 0, logLevel: "off" });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const lastAsked = () => upstream.asked.at(-1);
const user = (content: string) => [{ role: "user", content }] as const;

/** What an SDK made of an answer. */
interface Heard {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly stop: string | null;
  readonly tokens: readonly (number | undefined)[];
  readonly thinking: string;
}

type WithReasoning = { readonly reasoning_content?: string } | undefined;

async function askOpenAi(model: string, isStream: boolean): Promise<Heard> {
  const request = { model, messages: [...user("Hi")] };
  const thoughts: string[] = [];
  const { choices, usage } = isStream
    ? await openai.chat.completions
        .stream({ ...request, stream_options: { include_usage: true } })
        // The SDK does not know the member; it passes it on, piece by piece.
        .on("chunk", (chunk) => thoughts.push((chunk.choices[0]?.delta as WithReasoning)?.reasoning_content ?? ""))
        .finalChatCompletion()
    : await openai.chat.completions.create(request);
  const message = choices[0]?.message;
  if (!isStream) thoughts.push((message as WithReasoning)?.reasoning_content ?? "");
  return {
    text: message?.content ?? "",
    calls: (message?.tool_calls ?? []).flatMap((call) =>
      call.type === "function"
        ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
        : [],
    ),
    stop: choices[0]?.finish_reason ?? null,
    tokens: [usage?.prompt_tokens, usage?.completion_tokens],
    thinking: thoughts.join(""),
  };
}

async function askAnthropic(model: string, isStream: boolean): Promise<Heard> {
  const request: Anthropic.MessageCreateParamsNonStreaming = {
    model,
    max_tokens: 100,
    messages: [...user("Hi")],
    ...(model === "thinking" ? { max_tokens: 4_000, thinking: { type: "enabled", budget_tokens: 2_000 } } : null),
  };
  const message = isStream
    ? await anthropic.messages.stream(request).finalMessage()
    : await anthropic.messages.create(request);
  return {
    text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    calls: message.content.flatMap((block) =>
      block.type === "tool_use" ? [{ name: block.name, input: block.input }] : [],
    ),
    stop: message.stop_reason,
    tokens: [message.usage.input_tokens, message.usage.output_tokens],
    thinking: message.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
  };
}

const SDKS = [
  { sdk: "openai", ask: askOpenAi, stops: { end: "stop", calls: "tool_calls", limit: "length" } },
  { sdk: "anthropic", ask: askAnthropic, stops: { end: "end_turn", calls: "tool_use", limit: "max_tokens" } },
] as const;

const WAYS = SDKS.flatMap((each) => [true, false].map((isStream) => ({ ...each, isStream })));

describe.each(WAYS)("the $sdk SDK, streamed: $isStream", ({ ask, stops, isStream }) => {
  const silent = { calls: [], thinking: "", tokens: [11, 7] };

  test("hears text and counts", async () => {
    expect(await ask("text", isStream)).toEqual({ ...silent, text: "Hello, Zürich 😀", stop: stops.end });
    expect(lastAsked()).toMatchObject({ path: "/api/chat", authorization: "Bearer key", body: { stream: isStream } });
  });

  test("hears why an answer is short", async () => {
    expect(await ask("short", isStream)).toMatchObject({ text: "Cut by the lim", stop: stops.limit });
  });

  test("hears calls of tools with their arguments", async () => {
    expect(await ask("tools", isStream)).toEqual({
      ...silent,
      text: "Looking.",
      calls: [
        { name: "weather", input: { city: "Zürich", days: 2 } },
        { name: "time", input: {} },
      ],
      stop: stops.calls,
    });
  });

  test("hears thoughts", async () => {
    expect(await ask("thinking", isStream)).toMatchObject({ text: "42", thinking: "Let me see." });
  });

  test("gets its own error for a model that is not there", async () => {
    await expect(ask("absent", isStream)).rejects.toMatchObject({ status: 502 });
  });
});

describe.each(SDKS)("the $sdk SDK and a stream that", ({ ask }) => {
  test.each([
    { model: "broken", says: /provider failed to answer/ },
    { model: "cut", says: /ended early/ },
  ])("is $model has an error, not a short answer", async ({ model, says }) => {
    await expect(ask(model, true)).rejects.toThrow(says);
  });
});

describe("a request", () => {
  beforeEach(async () => {
    await openai.chat.completions.create({
      model: "text",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "What" },
            { type: "text", text: "is this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0K" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: '{"n": 1.50}' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "A cat." },
      ],
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
      max_completion_tokens: 50,
      temperature: 0.5,
      seed: 7,
      stop: ["."],
      response_format: { type: "json_schema", json_schema: { name: "o", schema: { type: "object" } } },
      reasoning_effort: "low",
    });
  });

  test("arrives in Ollama's own words", () => {
    expect(lastAsked()?.body).toEqual({
      model: "text",
      stream: false,
      truncate: false,
      shift: false,
      messages: [
        { role: "system", content: "Be brief." },
        // The separator is the one that the configuration overrides in the profile.
        { role: "user", content: "What\nis this?", images: ["iVBORw0K"] },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "call_1", function: { name: "look", arguments: { n: 1.5 } } }],
        },
        { role: "tool", content: "A cat.", tool_name: "look", tool_call_id: "call_1" },
      ],
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
      format: { type: "object" },
      think: true,
      options: { num_predict: 50, temperature: 0.5, seed: 7, stop: ["."] },
    });
  });
});

test("a request that Ollama cannot express is refused before it is sent, with the reason", async () => {
  const before = upstream.asked.length;
  const request = openai.chat.completions.create({ model: "text", messages: [...user("Hi")], n: 2 });
  await expect(request).rejects.toMatchObject({ status: 400, message: expect.stringContaining("n_unsupported") });
  expect(upstream.asked).toHaveLength(before);
});

test("a mistake in a profile's override is a mistake of the configuration, with its place", async () => {
  const provider = { kind: "ollama-native", profile: { extends: "plain", think: 1 } };
  const made = createGateway(
    { version: 1, providers: { local: provider }, models: { chat: ["local/x"] } },
    { dialects: [{ provider: ollama }], kinds: [ollamaNative] },
  );
  await expect(made).rejects.toMatchObject({
    code: "config_invalid",
    details: { problems: [{ path: "/providers/local/profile/think", message: expect.stringContaining("a string") }] },
  });
});
