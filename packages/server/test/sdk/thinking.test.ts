// Reasoning through the vendors' SDKs: shown where the client asked for it, and handed back to its provider byte for byte.
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { startBuiltStack } from "../harness/stack.ts";
import type { Stack } from "../harness/stack.ts";
import { anthropicOf, openAiOf } from "./clients.ts";
import { lastBody, sent } from "./last-call.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startBuiltStack();
});
afterEach(() => stack.upstream.clear());
afterAll(() => stack.close());

const THINKING = "The user asks something simple. A short answer is enough.";
const SIGNATURE = Buffer.from(`scripted:${THINKING.length}`, "latin1").toString("base64");
const GREETING = "Hello! You said: “Hi there”. This answer is scripted.";
const USER = { role: "user" as const, content: "Hi there" };
const THINKING_BLOCK = { type: "thinking", thinking: THINKING, signature: SIGNATURE };

const MESSAGE_TOOL: Anthropic.Tool = { name: "get_time", input_schema: { type: "object", properties: {} } };
const CHAT_TOOL: OpenAI.ChatCompletionTool = {
  type: "function",
  function: { name: "get_time", parameters: { type: "object", properties: {} } },
};

describe("Anthropic client, messages upstream", () => {
  const ask = (messages: Anthropic.MessageParam[] = [USER]) => ({
    model: "messages/scripted-thinking-tools",
    max_tokens: 4000,
    thinking: { type: "enabled" as const, budget_tokens: 2048 },
    tools: [MESSAGE_TOOL],
    messages,
  });

  it("gets thinking with its signature, plain and streamed", async () => {
    const client = anthropicOf(stack);
    const plain = await client.messages.create({ ...ask(), model: "messages/scripted-thinking", tools: [] });
    expect(plain.content).toEqual([THINKING_BLOCK, { type: "text", text: GREETING }]);
    const stream = client.messages.stream({ ...ask(), model: "messages/scripted-thinking", tools: [] });
    const seen: string[] = [];
    stream.on("thinking", (delta) => seen.push(delta));
    const signatures: string[] = [];
    stream.on("signature", (signature) => signatures.push(signature));
    expect((await stream.finalMessage()).content).toMatchObject(plain.content);
    expect(seen.join("")).toBe(THINKING);
    expect(signatures).toEqual([SIGNATURE]);
    expect(sent(stack, "thinking")).toEqual({ type: "enabled", budget_tokens: 2048 });
  });

  it("hands thinking back in the tool loop as it came", async () => {
    const client = anthropicOf(stack);
    const first = await client.messages.stream(ask()).finalMessage();
    const call = first.content.find((block) => block.type === "tool_use");
    await client.messages.create(
      ask([
        USER,
        { role: "assistant", content: first.content as Anthropic.ContentBlockParam[] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call?.id ?? "", content: "noon" }] },
      ]),
    );
    expect(sent(stack, "messages", 1, "content", 0)).toEqual(THINKING_BLOCK);
  });
});

describe("OpenAI client, messages upstream", () => {
  type Reply = OpenAI.ChatCompletionMessage & { reasoning_content?: string };
  const ask = (messages: OpenAI.ChatCompletionMessageParam[] = [USER]) => ({
    model: "messages/scripted-thinking-tools",
    max_completion_tokens: 4000,
    reasoning_effort: "high" as const,
    tools: [CHAT_TOOL],
    messages,
  });

  it("asks for reasoning by effort and gets it as reasoning_content", async () => {
    const { choices } = await openAiOf(stack).chat.completions.create(ask());
    expect((choices[0]?.message as Reply | undefined)?.reasoning_content).toBe(THINKING);
    expect(sent(stack, "thinking", "type")).toBe("adaptive");
    expect(sent(stack, "output_config", "effort")).toBe("high");
  });

  it("gets reasoning in deltas before the content", async () => {
    const stream = await openAiOf(stack).chat.completions.create({ ...ask(), stream: true });
    const kinds: string[] = [];
    let reasoning = "";
    for await (const chunk of stream) {
      const delta = (chunk.choices[0]?.delta ?? {}) as { reasoning_content?: string; content?: string };
      reasoning += delta.reasoning_content ?? "";
      if (delta.reasoning_content !== undefined) kinds.push("reasoning");
      else if ((delta.content ?? "") !== "") kinds.push("content");
    }
    expect(reasoning).toBe(THINKING);
    expect(kinds.lastIndexOf("reasoning")).toBeLessThan(kinds.indexOf("content"));
  });

  it.each([false, true])("hands the signed block back byte for byte (streamed: %s)", async (isStreamed) => {
    const client = openAiOf(stack);
    const first = isStreamed
      ? await client.chat.completions.stream(ask()).finalChatCompletion()
      : await client.chat.completions.create(ask());
    const message = first.choices[0]?.message as OpenAI.ChatCompletionMessage;
    const second = await client.chat.completions.create(
      ask([USER, message, { role: "tool", tool_call_id: message.tool_calls?.[0]?.id ?? "", content: "noon" }]),
    );
    expect(second.choices[0]?.message.content).toBe("The tools answered: toolu_scripted_1 returned “noon”.");
    expect(sent(stack, "messages", 1, "content")).toEqual([
      THINKING_BLOCK,
      { type: "text", text: "Let me look that up." },
      { type: "tool_use", id: "toolu_scripted_1", name: "get_time", input: {} },
    ]);
    // The bytes themselves: no member beside these, in this order.
    expect(stack.upstream.calls.at(-1)?.body.toString("utf8")).toContain(
      `{"type":"thinking","thinking":${JSON.stringify(THINKING)},"signature":${JSON.stringify(SIGNATURE)}}`,
    );
  });

  it("can go on with an upstream of its own dialect, which never sees the foreign reasoning", async () => {
    const client = openAiOf(stack);
    const first = await client.chat.completions.create(ask());
    const message = first.choices[0]?.message as OpenAI.ChatCompletionMessage;
    await client.chat.completions.create({
      ...ask([USER, message, { role: "tool", tool_call_id: "toolu_scripted_1", content: "noon" }]),
      model: "chat/scripted-tools",
    });
    const body = JSON.stringify(lastBody(stack));
    expect(body).not.toContain("gwsig1.");
    expect(body).not.toContain(THINKING);
    expect(sent(stack, "messages", 1, "tool_calls", 0, "id")).toBe("toolu_scripted_1");
  });
});

describe("Anthropic client, chat upstream", () => {
  const ask = (more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
    model: "chat/scripted-thinking",
    max_tokens: 4000,
    messages: [USER],
    ...more,
  });
  const WANTED = { thinking: { type: "adaptive" as const }, output_config: { effort: "medium" as const } };

  it("gets reasoning as a thinking block where it asked for thinking, plain and streamed", async () => {
    const client = anthropicOf(stack);
    const expected = [
      { type: "thinking", thinking: THINKING },
      { type: "text", text: GREETING },
    ];
    expect((await client.messages.create(ask(WANTED))).content).toMatchObject(expected);
    expect((await client.messages.stream(ask(WANTED)).finalMessage()).content).toMatchObject(expected);
    expect(sent(stack, "reasoning_effort")).toBe("medium");
  });

  it("gets no thinking block where it did not", async () => {
    const client = anthropicOf(stack);
    const expected = [{ type: "text", text: GREETING }];
    expect((await client.messages.create(ask())).content).toEqual(expected);
    expect((await client.messages.stream(ask()).finalMessage()).content).toMatchObject(expected);
  });

  it.each(["chat", "messages"])("may replay that block to a %s upstream, which cannot verify it", async (upstream) => {
    const client = anthropicOf(stack);
    const { content } = await client.messages.create(ask(WANTED));
    await client.messages.create(
      ask({
        ...WANTED,
        model: `${upstream}/scripted-text`,
        messages: [USER, { role: "assistant", content: content as Anthropic.ContentBlockParam[] }, USER],
      }),
    );
    expect(JSON.stringify(sent(stack, "messages", 1))).not.toContain(THINKING);
    expect(JSON.stringify(sent(stack, "messages", 1))).toContain(GREETING);
  });
});
