// Plain and streamed answers through the vendors' SDKs, from an upstream of the client's own dialect and of the other one.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { startBuiltStack } from "../harness/stack.ts";
import type { Stack } from "../harness/stack.ts";
import { anthropicOf, openAiOf, UPSTREAMS } from "./clients.ts";
import { lastBody, sent } from "./last-call.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startBuiltStack();
});
afterEach(() => stack.upstream.clear());
afterAll(() => stack.close());

const GREETING = "Hello! You said: “Hi there”. This answer is scripted.";
const UNICODE = "Grüße, 世界 🐉 – \u2028 “quoted” \\ \u0007 done";

describe.each(UPSTREAMS)("OpenAI client, %s upstream", (upstream) => {
  const ask = (name: string) => ({
    model: `${upstream}/scripted-${name}`,
    messages: [{ role: "user" as const, content: "Hi there" }],
  });

  it("gets a plain answer", async () => {
    const completion = await openAiOf(stack).chat.completions.create(ask("text"));
    expect(completion).toMatchObject({
      object: "chat.completion",
      model: "scripted-text",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: GREETING, refusal: null } }],
    });
    expect(completion.id).toMatch(/^chatcmpl-/);
    expect(lastBody(stack)["model"]).toBe("scripted-text");
  });

  it("assembles a stream to the same message as the plain answer", async () => {
    const client = openAiOf(stack);
    const plain = await client.chat.completions.create(ask("text"));
    const stream = client.chat.completions.stream(ask("text"));
    const deltas: string[] = [];
    stream.on("content", (delta) => deltas.push(delta));
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message).toMatchObject({ role: "assistant", content: plain.choices[0]?.message.content });
    expect(final.choices[0]?.finish_reason).toBe("stop");
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe(GREETING);
  });

  it("iterates over raw chunks that share one id and end by one finish reason", async () => {
    const stream = await openAiOf(stack).chat.completions.create({ ...ask("text"), stream: true });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.map(({ object }) => object)).toEqual(chunks.map(() => "chat.completion.chunk"));
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(GREETING);
    expect(chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason ?? []).flat())).toEqual([
      "stop",
    ]);
    // Usage was not asked for: neither the chunk nor a count may show.
    expect(chunks.every((chunk) => chunk.choices.length === 1 && (chunk.usage ?? null) === null)).toBe(true);
  });

  it.each(["unicode", "unicode:split-1", "unicode:crlf"])("keeps every character of %s", async (name) => {
    const client = openAiOf(stack);
    const plain = await client.chat.completions.create(ask("unicode"));
    expect(plain.choices[0]?.message.content).toBe(UNICODE);
    const final = await client.chat.completions.stream(ask(name)).finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(UNICODE);
  });

  it("gets an empty answer as one", async () => {
    const client = openAiOf(stack);
    expect((await client.chat.completions.create(ask("empty"))).choices[0]?.message.content).toBe("");
    const final = await client.chat.completions.stream(ask("empty")).finalChatCompletion();
    expect(final.choices[0]).toMatchObject({ finish_reason: "stop" });
    expect(final.choices[0]?.message.content ?? "").toBe("");
  });

  it.each([
    { name: "length", finish: "length" },
    { name: "stop-sequence", finish: "stop" },
  ])("learns that the answer ended by $name", async ({ name, finish }) => {
    const client = openAiOf(stack);
    const plain = await client.chat.completions.create({ ...ask(name), stop: ["END"] });
    expect(plain.choices[0]?.finish_reason).toBe(finish);
    const stream = await client.chat.completions.create({ ...ask(name), stop: ["END"], stream: true });
    const reasons: string[] = [];
    for await (const chunk of stream) reasons.push(...chunk.choices.flatMap((choice) => choice.finish_reason ?? []));
    expect(reasons).toEqual([finish]);
  });

  it("gets a long stream whole", async () => {
    const final = await openAiOf(stack).chat.completions.stream(ask("long-2000")).finalChatCompletion();
    expect(final.choices[0]?.message.content?.length).toBe(16_000);
  });

  it("sees the gateway's request id", async () => {
    const { request_id: requestId, response } = await openAiOf(stack)
      .chat.completions.create(ask("text"))
      .withResponse();
    expect(requestId).toMatch(/^req_[0-9A-Za-z]{24}$/);
    expect(response.headers.get("x-upstream-request-id")).toMatch(/^req_scripted_\d+$/);
  });
});

describe("OpenAI client, usage", () => {
  it.each(UPSTREAMS)("is the %s upstream's, streamed or not", async (upstream) => {
    const client = openAiOf(stack);
    const request = {
      model: `${upstream}/scripted-cached`,
      messages: [{ role: "user" as const, content: "Hi there" }],
    };
    const plain = await client.chat.completions.create(request);
    expect(plain.usage).toEqual({
      prompt_tokens: 1037,
      completion_tokens: 8,
      total_tokens: 1045,
      prompt_tokens_details: { cached_tokens: 1024, cache_write_tokens: 8 },
    });
    const stream = await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: plain.usage });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null && chunk.choices.length === 1)).toBe(true);
  });

  it("is asked of the upstream even when the client does not want it", async () => {
    await openAiOf(stack)
      .chat.completions.stream({
        model: "chat/scripted-text",
        messages: [{ role: "user", content: "Hi" }],
      })
      .done();
    expect(sent(stack, "stream_options")).toEqual({ include_usage: true });
  });

  it("counts reasoning where the upstream does", async () => {
    for (const upstream of UPSTREAMS) {
      const { usage } = await openAiOf(stack).chat.completions.create({
        model: `${upstream}/scripted-thinking`,
        messages: [{ role: "user", content: "Hi there" }],
      });
      expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(15);
      expect(usage?.completion_tokens).toBe(29);
    }
  });
});

describe("OpenAI client, several choices", () => {
  it("gets all of them from an upstream of its own dialect", async () => {
    const stream = openAiOf(stack).chat.completions.stream({
      model: "chat/scripted-text",
      n: 3,
      messages: [{ role: "user", content: "Hi there" }],
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices.map((choice) => [choice.index, choice.message.content])).toEqual([
      [0, GREETING],
      [1, GREETING],
      [2, GREETING],
    ]);
  });
});

describe.each(UPSTREAMS)("Anthropic client, %s upstream", (upstream) => {
  const ask = (name: string) => ({
    model: `${upstream}/scripted-${name}`,
    max_tokens: 500,
    messages: [{ role: "user" as const, content: "Hi there" }],
  });

  it("gets a plain answer", async () => {
    const message = await anthropicOf(stack).messages.create(ask("text"));
    expect(message).toMatchObject({
      type: "message",
      role: "assistant",
      model: "scripted-text",
      content: [{ type: "text", text: GREETING }],
      stop_reason: "end_turn",
      stop_sequence: null,
    });
    expect(message.id).toMatch(/^msg_/);
    expect(lastBody(stack)["model"]).toBe("scripted-text");
  });

  it("assembles a stream to the same message as the plain answer", async () => {
    const client = anthropicOf(stack);
    const plain = await client.messages.create(ask("text"));
    const stream = client.messages.stream(ask("text"));
    const deltas: string[] = [];
    stream.on("text", (delta) => deltas.push(delta));
    const final = await stream.finalMessage();
    const { id: _finalId, ...finalRest } = final;
    const { id: _plainId, ...plainRest } = plain;
    expect(finalRest).toMatchObject(plainRest);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe(GREETING);
  });

  it("iterates over raw events in the order of the grammar", async () => {
    const stream = await anthropicOf(stack).messages.create({ ...ask("text"), stream: true });
    const kinds: string[] = [];
    for await (const event of stream) if (kinds.at(-1) !== event.type) kinds.push(event.type);
    expect(kinds).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it.each(["unicode", "unicode:split-1", "unicode:crlf"])("keeps every character of %s", async (name) => {
    const client = anthropicOf(stack);
    const plain = await client.messages.create(ask("unicode"));
    expect(plain.content).toMatchObject([{ type: "text", text: UNICODE }]);
    expect(await client.messages.stream(ask(name)).finalText()).toBe(UNICODE);
  });

  it("gets an empty answer as one", async () => {
    const client = anthropicOf(stack);
    expect(await client.messages.create(ask("empty"))).toMatchObject({ content: [], stop_reason: "end_turn" });
    expect(await client.messages.stream(ask("empty")).finalMessage()).toMatchObject({
      content: [],
      stop_reason: "end_turn",
    });
  });

  it("learns that the answer ended by the token limit", async () => {
    const client = anthropicOf(stack);
    expect((await client.messages.create(ask("length"))).stop_reason).toBe("max_tokens");
    expect((await client.messages.stream(ask("length")).finalMessage()).stop_reason).toBe("max_tokens");
  });

  it("gets usage that excludes the cache from the input count, streamed or not", async () => {
    const client = anthropicOf(stack);
    const usage = {
      input_tokens: 5,
      cache_creation_input_tokens: 8,
      cache_read_input_tokens: 1024,
      output_tokens: 8,
    };
    expect((await client.messages.create(ask("cached"))).usage).toMatchObject(usage);
    expect((await client.messages.stream(ask("cached")).finalMessage()).usage).toMatchObject(usage);
  });

  it("gets a long stream whole", async () => {
    const text = await anthropicOf(stack).messages.stream(ask("long-2000")).finalText();
    expect(text.length).toBe(16_000);
  });

  it("sees the gateway's request id", async () => {
    const { request_id: requestId, response } = await anthropicOf(stack).messages.create(ask("text")).withResponse();
    expect(requestId).toMatch(/^req_[0-9A-Za-z]{24}$/);
    expect(response.headers.get("x-upstream-request-id")).toMatch(/^req_scripted_\d+$/);
  });
});
