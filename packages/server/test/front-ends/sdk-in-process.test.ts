// The vendors' SDKs and the AI SDK inside the process of the gateway: no base URL, no key, no socket between them. Answers,
// streams, aborts and errors are those that come over the wire.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic, { APIUserAbortError as AnthropicAbortError, RateLimitError } from "@anthropic-ai/sdk";
import { APICallError, generateText, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { createGateway } from "../../src/create-gateway.ts";
import type { Gateway } from "../../src/create-gateway.ts";
import { createScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import { buildStackConfig, SCRIPTED_CAPABILITIES } from "../harness/stack-config.ts";
import { until } from "../harness/until.ts";

let upstream: ScriptedUpstream;
let gateway: Gateway;
const principals: (string | null)[] = [];
beforeAll(async () => {
  upstream = await createScriptedUpstream();
  const disconnect = { mode: "cancel" } as const;
  const cancelling = { provider: "messages", model: "*", disconnect, capabilities: SCRIPTED_CAPABILITIES };
  gateway = await createGateway(
    buildStackConfig(upstream.url, { models: { "cancel/*": { attempts: 1, deployments: [cancelling] } } }),
  );
  gateway.events.on("outcome", ({ principalId }) => principals.push(principalId));
});
afterEach(() => upstream.clear());
afterAll(async () => {
  await upstream.close();
  await gateway.close();
  if (gateway.hasFailedTask) throw new Error("A task of the gateway failed.");
});

const USER = { role: "user" as const, content: "Hi" };
const HELLO = "Hello! You said: “Hi”. This answer is scripted.";

const openAi = (): OpenAI =>
  new OpenAI({ fetch: gateway.as({ id: "worker" }).fetch, apiKey: "unused", maxRetries: 0, logLevel: "off" });
const anthropic = (): Anthropic =>
  new Anthropic({ fetch: gateway.as({ id: "worker" }).fetch, apiKey: "unused", maxRetries: 0, logLevel: "off" });

/** Waits until the upstream's last call has ended, and says how. */
async function lastEnd(): Promise<unknown> {
  await until(() => upstream.calls.at(-1)?.ended !== null, "the end of the call");
  await until(() => gateway.inFlight === 0, "the end of the exchange");
  return upstream.calls.at(-1)?.ended;
}

describe.each(["chat", "messages"])("with a model of the %s upstream", (provider) => {
  it("openai gets whole answers and streams", async () => {
    const model = `${provider}/scripted-text`;
    const answer = await openAi().chat.completions.create({ model, messages: [USER] });
    expect(answer.choices[0]?.message.content).toBe(HELLO);
    expect(principals.at(-1)).toBe("worker");
    let text = "";
    for await (const chunk of await openAi().chat.completions.create({ model, messages: [USER], stream: true }))
      text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toBe(HELLO);
  });

  it("@anthropic-ai/sdk gets whole answers and streams", async () => {
    const request = { model: `${provider}/scripted-text`, max_tokens: 50, messages: [USER] };
    expect((await anthropic().messages.create(request)).content).toMatchObject([{ type: "text", text: HELLO }]);
    const final = await anthropic().messages.stream(request).finalMessage();
    expect(final.content).toMatchObject([{ type: "text", text: HELLO }]);
  });

  it("the AI SDK gets whole answers and streams through either provider", async () => {
    const { fetch } = gateway.as({ id: "worker" });
    const models = [
      createOpenAI({ fetch, apiKey: "unused" }).chat(`${provider}/scripted-text`),
      createAnthropic({ fetch, apiKey: "unused" })(`${provider}/scripted-text`),
    ];
    for (const model of models) {
      expect((await generateText({ model, prompt: "Hi", maxOutputTokens: 50, maxRetries: 0 })).text).toBe(HELLO);
      let text = "";
      for await (const delta of streamText({ model, prompt: "Hi", maxOutputTokens: 50, maxRetries: 0 }).textStream)
        text += delta;
      expect(text).toBe(HELLO);
    }
  });

  it("the AI SDK calls tools", async () => {
    const { fetch } = gateway.as({ id: "worker" });
    const model = createOpenAI({ fetch, apiKey: "unused" }).chat(`${provider}/scripted-tools`);
    const { toolCalls } = await generateText({
      model,
      prompt: "Weather?",
      maxRetries: 0,
      tools: {
        weather: tool({ inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } } }) }),
      },
    });
    expect(toolCalls.map(({ toolName }) => toolName)).toEqual(["weather"]);
  });
});

describe("errors", () => {
  it("are the SDKs' own classes", async () => {
    const model = "messages/scripted-error-429";
    const chat = openAi().chat.completions.create({ model, messages: [USER] });
    await expect(chat).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    const message = anthropic().messages.create({ model, max_tokens: 9, messages: [USER] });
    await expect(message).rejects.toBeInstanceOf(RateLimitError);
    const provider = createAnthropic({ fetch: gateway.as({ id: "worker" }).fetch, apiKey: "unused" });
    const generated = generateText({
      model: provider("nobody/knows"),
      prompt: "Hi",
      maxOutputTokens: 50,
      maxRetries: 0,
    });
    await expect(generated).rejects.toSatisfy((error) => APICallError.isInstance(error) && error.statusCode === 404);
  });

  it("break a stream as over the wire", async () => {
    const stream = await openAi().chat.completions.create({
      model: "messages/scripted-text:cut-after-6",
      messages: [USER],
      stream: true,
    });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) void chunk;
    };
    await expect(read()).rejects.toThrow("The provider connection was lost.");
  });

  it("name what a caller may not use", async () => {
    const { fetch } = gateway.as({ id: "guest", models: ["messages/*"] });
    const client = new OpenAI({ fetch, apiKey: "unused", maxRetries: 0 });
    const call = client.chat.completions.create({ model: "chat/scripted-text", messages: [USER] });
    await expect(call).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
  });
});

describe("callers that leave", () => {
  it("by a signal before the answer cancel the upstream's call", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const call = anthropic().messages.create(
      { model: "cancel/scripted-text:stall", max_tokens: 9, messages: [USER] },
      { signal },
    );
    const outcome = call.then(
      () => "no error",
      (error: unknown) => error,
    );
    await until(() => upstream.calls.at(-1)?.bodyComplete === true, "the upstream's call");
    controller.abort();
    expect(await outcome).toBeInstanceOf(AnthropicAbortError);
    expect(await lastEnd()).toBe("client-closed");
  });

  it("by a signal that was aborted before ask nothing upstream", async () => {
    const { fetch } = gateway.as({ id: "worker" });
    await expect(fetch("https://a.test/v1/models", { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
    expect(upstream.calls).toEqual([]);
  });

  it("by leaving the loop cancel the upstream's call", async () => {
    const stream = await openAi().chat.completions.create({
      model: "cancel/scripted-text:stall-after-6",
      messages: [USER],
      stream: true,
    });
    for await (const chunk of stream) if ((chunk.choices[0]?.delta.content ?? "") !== "") break;
    expect(await lastEnd()).toBe("client-closed");
  });

  it("by the AI SDK's signal cancel the upstream's call", async () => {
    const controller = new AbortController();
    const provider = createAnthropic({ fetch: gateway.as({ id: "worker" }).fetch, apiKey: "unused" });
    const { textStream } = streamText({
      model: provider("cancel/scripted-text:stall-after-6"),
      prompt: "Hi",
      maxOutputTokens: 50,
      maxRetries: 0,
      abortSignal: controller.signal,
    });
    for await (const delta of textStream) if (delta !== "") controller.abort();
    expect(await lastEnd()).toBe("client-closed");
  });
});

describe("requests as fetch takes them", () => {
  const body = JSON.stringify({ model: "messages/scripted-text", max_tokens: 9, messages: [USER] });
  const headers = { "content-type": "application/json" };
  const url = "https://api.anthropic.com/v1/messages";
  const rows: readonly {
    readonly name: string;
    readonly call: () => readonly [string | URL | Request, RequestInit?];
  }[] = [
    { name: "a string and a text", call: () => [url, { method: "post", headers, body }] },
    { name: "a URL and bytes", call: () => [new URL(url), { method: "POST", headers, body: Buffer.from(body) }] },
    { name: "a Request", call: () => [new Request(url, { method: "POST", headers, body })] },
    {
      name: "a Request with its headers overridden",
      call: () => [new Request(url, { method: "POST", body }), { headers }],
    },
    { name: "a blob", call: () => [url, { method: "POST", headers, body: new Blob([body]) }] },
    {
      name: "a stream",
      call: () => [url, { method: "POST", headers, body: new Blob([body]).stream(), duplex: "half" } as RequestInit],
    },
  ];

  it.each(rows)("$name", async ({ call }) => {
    const response = await gateway.as({ id: "worker" }).fetch(...call());
    expect(await response.text()).toContain(HELLO);
  });

  it("a text without a content type says what it is, and is refused for it", async () => {
    const response = await gateway.as({ id: "worker" }).fetch(url, { method: "POST", body });
    expect(response.status).toBe(415);
  });

  it("what is no URL is a TypeError", async () => {
    await expect(gateway.as({ id: "worker" }).fetch("/v1/messages")).rejects.toBeInstanceOf(TypeError);
  });
});
