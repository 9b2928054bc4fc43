// Tool calls through the vendors' SDKs: single, parallel, streamed, and the whole round trip from call to final text.
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { startBuiltStack } from "../harness/stack.ts";
import type { Stack } from "../harness/stack.ts";
import { anthropicOf, openAiOf, UPSTREAMS } from "./clients.ts";
import { sent } from "./last-call.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startBuiltStack();
});
afterEach(() => stack.upstream.clear());
afterAll(() => stack.close());

const SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
};

const CHAT_TOOLS: OpenAI.ChatCompletionTool[] = [
  { type: "function", function: { name: "get_weather", description: "The weather", parameters: SCHEMA } },
  { type: "function", function: { name: "get_time", parameters: { type: "object", properties: {} } } },
];
const MESSAGE_TOOLS: Anthropic.Tool[] = [
  { name: "get_weather", description: "The weather", input_schema: SCHEMA },
  { name: "get_time", input_schema: { type: "object", properties: {} } },
];
type ChatRequest = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "stream">;

const QUESTION = { role: "user" as const, content: "Weather and time in Oslo?" };
const WEATHER_ARGUMENTS = { city: "Oslo", days: 1 };

describe.each(UPSTREAMS)("OpenAI client, %s upstream", (upstream) => {
  const prefix = upstream === "chat" ? "call" : "toolu";
  const ask = (name: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
    model: `${upstream}/scripted-${name}`,
    tools: CHAT_TOOLS,
    messages: [QUESTION],
    ...more,
  });

  it("gets one call with its arguments as JSON text", async () => {
    const { choices } = await openAiOf(stack).chat.completions.create(ask("tools"));
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        tool_calls: [{ id: `${prefix}_scripted_1`, type: "function", function: { name: "get_weather" } }],
      },
    });
    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(call?.type === "function" && JSON.parse(call.function.arguments)).toEqual(WEATHER_ARGUMENTS);
  });

  it("assembles two parallel calls from a stream, each with its own arguments", async () => {
    const final = await openAiOf(stack).chat.completions.stream(ask("parallel-tools")).finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe("tool_calls");
    const calls = final.choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => [call.id, call.type === "function" && call.function.name])).toEqual([
      [`${prefix}_scripted_1`, "get_weather"],
      [`${prefix}_scripted_2`, "get_time"],
    ]);
    expect(calls.map((call) => call.type === "function" && (JSON.parse(call.function.arguments) as unknown))).toEqual([
      WEATHER_ARGUMENTS,
      {},
    ]);
  });

  it("streams calls with contiguous indexes, id and name first, then fragments of the arguments", async () => {
    const stream = await openAiOf(stack).chat.completions.create({ ...ask("parallel-tools"), stream: true });
    const joined: string[] = [];
    const firsts: unknown[] = [];
    for await (const chunk of stream) {
      for (const delta of chunk.choices[0]?.delta.tool_calls ?? []) {
        if (delta.id !== undefined) firsts.push([delta.index, delta.type, delta.id, delta.function?.name]);
        joined[delta.index] = (joined[delta.index] ?? "") + (delta.function?.arguments ?? "");
      }
    }
    expect(firsts).toEqual([
      [0, "function", `${prefix}_scripted_1`, "get_weather"],
      [1, "function", `${prefix}_scripted_2`, "get_time"],
    ]);
    expect(joined.map((each) => JSON.parse(each) as unknown)).toEqual([WEATHER_ARGUMENTS, {}]);
  });

  it.each([false, true])("makes the full round trip: calls, results, final text (streamed: %s)", async (isStreamed) => {
    const client = openAiOf(stack);
    const turn = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
      const request = ask("parallel-tools", { messages });
      return isStreamed
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request);
    };
    const first = (await turn([QUESTION])).choices[0]?.message;
    if (first === undefined) throw new Error("no choice");
    const results = (first.tool_calls ?? []).map((call, index) => ({
      role: "tool" as const,
      tool_call_id: call.id,
      content: `result ${index + 1} with “quotes” and 🐉`,
    }));
    const second = await turn([QUESTION, first, ...results]);
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop" });
    expect(second.choices[0]?.message.content).toBe(
      `The tools answered: ${prefix}_scripted_1 returned “result 1 with “quotes” and 🐉”; ` +
        `${prefix}_scripted_2 returned “result 2 with “quotes” and 🐉”.`,
    );
  });

  it.each([
    { choice: "none", chat: "none", messages: { type: "none" } },
    { choice: "required", chat: "required", messages: { type: "any" } },
    {
      choice: { type: "function", function: { name: "get_time" } },
      chat: { type: "function", function: { name: "get_time" } },
      messages: { type: "tool", name: "get_time" },
    },
  ] as const)("carries tool_choice $choice", async ({ choice, ...expected }) => {
    await openAiOf(stack).chat.completions.create(ask("text", { tool_choice: choice }));
    expect(sent(stack, "tool_choice")).toEqual(expected[upstream]);
  });

  it("can turn parallel calls off", async () => {
    await openAiOf(stack).chat.completions.create(ask("tools", { parallel_tool_calls: false }));
    expect([sent(stack, "parallel_tool_calls"), sent(stack, "tool_choice")]).toEqual(
      upstream === "chat" ? [false, undefined] : [undefined, { type: "auto", disable_parallel_tool_use: true }],
    );
  });

  it("runs the SDK's tool runner to its end", async () => {
    const runner = openAiOf(stack).chat.completions.runTools({
      model: `${upstream}/scripted-tools`,
      messages: [QUESTION],
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "The weather",
            parameters: SCHEMA,
            parse: JSON.parse as (text: string) => { city: string },
            function: ({ city }: { city: string }) => `7 degrees in ${city}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe(`The tools answered: ${prefix}_scripted_1 returned “7 degrees in Oslo”.`);
  });
});

describe.each(UPSTREAMS)("Anthropic client, %s upstream", (upstream) => {
  const prefix = upstream === "chat" ? "call" : "toolu";
  const ask = (name: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
    model: `${upstream}/scripted-${name}`,
    max_tokens: 500,
    tools: MESSAGE_TOOLS,
    messages: [QUESTION],
    ...more,
  });

  it("gets one call with its input as a value", async () => {
    const message = await anthropicOf(stack).messages.create(ask("tools"));
    expect(message.stop_reason).toBe("tool_use");
    expect(message.content).toMatchObject([
      { type: "text", text: "Let me look that up." },
      { type: "tool_use", id: `${prefix}_scripted_1`, name: "get_weather", input: WEATHER_ARGUMENTS },
    ]);
  });

  it("assembles two parallel calls from a stream, each in a block of its own", async () => {
    const final = await anthropicOf(stack).messages.stream(ask("parallel-tools")).finalMessage();
    expect(final.stop_reason).toBe("tool_use");
    expect(final.content).toMatchObject([
      { type: "text", text: "Let me look that up." },
      { type: "tool_use", id: `${prefix}_scripted_1`, name: "get_weather", input: WEATHER_ARGUMENTS },
      { type: "tool_use", id: `${prefix}_scripted_2`, name: "get_time", input: {} },
    ]);
  });

  it("streams blocks strictly one after another, with indexes from 0", async () => {
    const stream = await anthropicOf(stack).messages.create({ ...ask("parallel-tools"), stream: true });
    const steps: string[] = [];
    for await (const event of stream) {
      if (event.type === "content_block_start") steps.push(`start ${event.index} ${event.content_block.type}`);
      if (event.type === "content_block_stop") steps.push(`stop ${event.index}`);
    }
    expect(steps).toEqual(["start 0 text", "stop 0", "start 1 tool_use", "stop 1", "start 2 tool_use", "stop 2"]);
  });

  it.each([false, true])("makes the full round trip: calls, results, final text (streamed: %s)", async (isStreamed) => {
    const client = anthropicOf(stack);
    const turn = async (messages: Anthropic.MessageParam[]) => {
      const request = ask("parallel-tools", { messages });
      return isStreamed ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
    };
    const first = await turn([QUESTION]);
    const calls = first.content.filter((block) => block.type === "tool_use");
    const second = await turn([
      QUESTION,
      { role: "assistant", content: first.content as Anthropic.ContentBlockParam[] },
      {
        role: "user",
        content: calls.map((call, index) => ({
          type: "tool_result" as const,
          tool_use_id: call.id,
          content: index === 0 ? "7 degrees" : [{ type: "text" as const, text: "noon" }],
        })),
      },
    ]);
    expect(second.stop_reason).toBe("end_turn");
    expect(second.content).toMatchObject([
      {
        type: "text",
        text: `The tools answered: ${prefix}_scripted_1 returned “7 degrees”; ${prefix}_scripted_2 returned “noon”.`,
      },
    ]);
  });

  it("carries the error flag of a result in the upstream's form", async () => {
    await anthropicOf(stack).messages.create(
      ask("tools", {
        messages: [
          QUESTION,
          { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "get_time", input: {} }] },
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "no clock", is_error: true }],
          },
        ],
      }),
    );
    const path = upstream === "chat" ? [2] : [2, "content", 0];
    expect(sent(stack, "messages", ...path)).toEqual(
      upstream === "chat"
        ? { role: "tool", tool_call_id: "toolu_1", content: "Error: no clock" }
        : { type: "tool_result", tool_use_id: "toolu_1", content: "no clock", is_error: true },
    );
  });

  it.each([
    { choice: { type: "none" }, chat: "none" },
    { choice: { type: "any" }, chat: "required" },
    { choice: { type: "tool", name: "get_time" }, chat: { type: "function", function: { name: "get_time" } } },
  ] as const)("carries tool_choice $choice.type", async ({ choice, chat }) => {
    await anthropicOf(stack).messages.create(ask("text", { tool_choice: choice }));
    expect(sent(stack, "tool_choice")).toEqual(upstream === "chat" ? chat : choice);
  });

  it("can turn parallel calls off", async () => {
    await anthropicOf(stack).messages.create(
      ask("tools", { tool_choice: { type: "auto", disable_parallel_tool_use: true } }),
    );
    expect([sent(stack, "parallel_tool_calls"), sent(stack, "tool_choice", "disable_parallel_tool_use")]).toEqual(
      upstream === "chat" ? [false, undefined] : [undefined, true],
    );
  });

  it("runs the SDK's tool runner to its end", async () => {
    const final = await anthropicOf(stack).beta.messages.toolRunner({
      model: `${upstream}/scripted-tools`,
      max_tokens: 500,
      messages: [QUESTION],
      tools: [
        {
          type: "custom",
          name: "get_weather",
          description: "The weather",
          input_schema: SCHEMA,
          run: (input: unknown) => `7 degrees in ${(input as { city: string }).city}`,
          parse: (content: unknown) => content,
        },
      ],
    });
    expect(final.content).toMatchObject([
      { type: "text", text: `The tools answered: ${prefix}_scripted_1 returned “7 degrees in Oslo”.` },
    ]);
  });
});
