// What clients put into a request besides plain text: images, instructions in all their places, stop sequences and limits.
import type Anthropic from "@anthropic-ai/sdk";
import { BadRequestError as AnthropicBadRequestError } from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { SCRIPTED_CAPABILITIES } from "../harness/stack-config.ts";
import { startBuiltStack } from "../harness/stack.ts";
import type { Stack } from "../harness/stack.ts";
import { anthropicOf, openAiOf, UPSTREAMS } from "./clients.ts";
import { lastBody, sent } from "./last-call.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startBuiltStack({
    models: {
      "interrupted/*": {
        deployments: [
          {
            id: "interrupted",
            provider: "messages",
            model: "*",
            capabilities: { ...SCRIPTED_CAPABILITIES, midConversationSystem: true },
          },
        ],
      },
    },
  });
});
afterEach(() => stack.upstream.clear());
afterAll(() => stack.close());

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const BIG = Buffer.alloc(300_000, 7).toString("base64");

describe.each(UPSTREAMS)("images, OpenAI client, %s upstream", (upstream) => {
  const show = (...urls: string[]): OpenAI.ChatCompletionCreateParamsNonStreaming => ({
    model: `${upstream}/scripted-image`,
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          ...urls.map((url) => ({ type: "image_url" as const, image_url: { url } })),
        ],
      },
    ],
  });

  it("arrive as data, small and large", async () => {
    const { choices } = await openAiOf(stack).chat.completions.create(
      show(`data:image/png;base64,${PIXEL}`, `data:image/jpeg;base64,${BIG}`),
    );
    expect(choices[0]?.message.content).toBe("I got 2 image(s): #1 image/png, 70 bytes; #2 image/jpeg, 300000 bytes.");
  });

  it("arrive by URL", async () => {
    const { choices } = await openAiOf(stack).chat.completions.create(show("https://example.com/cat.png"));
    expect(choices[0]?.message.content).toBe("I got 1 image(s): #1 by URL.");
    expect(JSON.stringify(sent(stack, "messages", 0, "content", 1))).toContain("https://example.com/cat.png");
  });
});

describe.each(UPSTREAMS)("images, Anthropic client, %s upstream", (upstream) => {
  const show = (...sources: Anthropic.ImageBlockParam["source"][]): Anthropic.MessageCreateParamsNonStreaming => ({
    model: `${upstream}/scripted-image`,
    max_tokens: 500,
    messages: [
      {
        role: "user",
        content: [...sources.map((source) => ({ type: "image" as const, source })), { type: "text", text: "And?" }],
      },
    ],
  });

  it("arrive as data, small and large", async () => {
    const { content } = await anthropicOf(stack).messages.create(
      show(
        { type: "base64", media_type: "image/png", data: PIXEL },
        { type: "base64", media_type: "image/webp", data: BIG },
      ),
    );
    expect(content).toMatchObject([{ text: "I got 2 image(s): #1 image/png, 70 bytes; #2 image/webp, 300000 bytes." }]);
  });

  it("arrive by URL", async () => {
    const { content } = await anthropicOf(stack).messages.create(
      show({ type: "url", url: "https://example.com/cat.png" }),
    );
    expect(content).toMatchObject([{ text: "I got 1 image(s): #1 by URL." }]);
  });
});

type ChatRows = readonly {
  readonly name: string;
  readonly messages: OpenAI.ChatCompletionMessageParam[];
  readonly chat: unknown;
  readonly system: unknown;
}[];

const USER = { role: "user" as const, content: "Hi" };

describe("instructions, OpenAI client", () => {
  const rows: ChatRows = [
    {
      name: "a system message",
      messages: [{ role: "system", content: "Be brief." }, USER],
      chat: [{ role: "system", content: "Be brief." }, USER],
      system: "Be brief.",
    },
    {
      name: "a developer message",
      messages: [{ role: "developer", content: "Be brief." }, USER],
      chat: [{ role: "developer", content: "Be brief." }, USER],
      system: "Be brief.",
    },
    {
      name: "text parts",
      messages: [{ role: "system", content: [{ type: "text", text: "Be brief." }] }, USER],
      chat: [{ role: "system", content: [{ type: "text", text: "Be brief." }] }, USER],
      system: "Be brief.",
    },
    {
      name: "several messages",
      messages: [{ role: "system", content: "Be brief." }, { role: "system", content: "Be kind." }, USER],
      chat: [{ role: "system", content: "Be brief." }, { role: "system", content: "Be kind." }, USER],
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Be kind." },
      ],
    },
  ];

  it.each(rows)("$name pass to a chat upstream as they are", async ({ messages, chat }) => {
    await openAiOf(stack).chat.completions.create({ model: "chat/scripted-text", messages });
    expect(sent(stack, "messages")).toEqual(chat);
  });

  it.each(rows)("$name become the system member of a messages upstream", async ({ messages, system }) => {
    const { choices } = await openAiOf(stack).chat.completions.create({ model: "messages/scripted-echo", messages });
    expect(JSON.parse(choices[0]?.message.content ?? "")).toMatchObject({ roles: ["user"] });
    const texts = (value: unknown): unknown =>
      typeof value === "string" ? [value] : (value as { text: string }[]).map(({ text }) => text);
    expect(texts(sent(stack, "system"))).toEqual(texts(system));
  });

  const interrupted: OpenAI.ChatCompletionMessageParam[] = [
    USER,
    { role: "developer", content: "From now on: German." },
    { role: "assistant", content: "Hallo" },
    { role: "user", content: "And now?" },
  ];

  it("in mid-conversation stay in place where the upstream has that", async () => {
    await openAiOf(stack).chat.completions.create({ model: "interrupted/scripted-text", messages: interrupted });
    expect(sent(stack, "messages", 1, "role")).toBe("system");
    expect(sent(stack, "system")).toBeUndefined();
  });

  it("in mid-conversation are refused with code and path where the upstream has no place for them", async () => {
    const error = await openAiOf(stack)
      .chat.completions.create({ model: "messages/scripted-text", messages: interrupted })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "unsupported_request" });
    expect(String(error)).toContain("system_position_unsupported (/messages/1");
    expect(stack.upstream.calls).toEqual([]);
  });
});

describe("instructions, Anthropic client", () => {
  const rows: readonly { name: string; system: string | Anthropic.TextBlockParam[]; texts: string[] }[] = [
    { name: "a string", system: "Be brief.", texts: ["Be brief."] },
    {
      name: "a list of blocks, one of them a cache breakpoint",
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } },
      ],
      texts: ["Be brief.", "Be kind."],
    },
  ];
  const ask = (upstream: string, system: string | Anthropic.TextBlockParam[]) => ({
    model: `${upstream}/scripted-text`,
    max_tokens: 500,
    system,
    messages: [USER],
  });

  it.each(rows)("$name pass to a messages upstream as they are", async ({ system }) => {
    await anthropicOf(stack).messages.create(ask("messages", system));
    expect(sent(stack, "system")).toEqual(system);
  });

  it.each(rows)("$name become a developer message of a chat upstream", async ({ system, texts }) => {
    await anthropicOf(stack).messages.create(ask("chat", system));
    expect(sent(stack, "messages", 0, "role")).toBe("developer");
    const content = sent(stack, "messages", 0, "content");
    expect(typeof content === "string" ? [content] : (content as { text: string }[]).map(({ text }) => text)).toEqual(
      texts,
    );
  });

  it.each(["chat", "interrupted"])("in mid-conversation reach a %s upstream in place", async (upstream) => {
    await anthropicOf(stack).messages.create({
      model: `${upstream}/scripted-text`,
      max_tokens: 500,
      messages: [
        USER,
        { role: "system", content: "From now on: German." },
        { role: "assistant", content: "Hallo" },
        { role: "user", content: "And now?" },
      ],
    });
    const roles = (lastBody(stack)["messages"] as { role: string }[]).map(({ role }) => role);
    expect(roles).toEqual(["user", upstream === "chat" ? "developer" : "system", "assistant", "user"]);
  });
});

describe("stop sequences and limits", () => {
  it.each([
    { stop: "END", chat: "END", messages: ["END"] },
    { stop: ["END", "STOP"], chat: ["END", "STOP"], messages: ["END", "STOP"] },
  ])("of an OpenAI client arrive: $stop", async ({ stop, ...expected }) => {
    for (const upstream of UPSTREAMS) {
      await openAiOf(stack).chat.completions.create({
        model: `${upstream}/scripted-stop-sequence`,
        stop,
        max_completion_tokens: 77,
        messages: [USER],
      });
      expect(sent(stack, upstream === "chat" ? "stop" : "stop_sequences")).toEqual(expected[upstream]);
      expect(sent(stack, upstream === "chat" ? "max_completion_tokens" : "max_tokens")).toBe(77);
    }
  });

  it("of an Anthropic client come back by name where the upstream says which one hit", async () => {
    const client = anthropicOf(stack);
    const ask = { max_tokens: 77, stop_sequences: ["END"], messages: [USER] };
    const model = "messages/scripted-stop-sequence";
    const expected = { stop_reason: "stop_sequence", stop_sequence: "END" };
    expect(await client.messages.create({ ...ask, model })).toMatchObject(expected);
    expect(await client.messages.stream({ ...ask, model }).finalMessage()).toMatchObject(expected);
  });

  it("of an Anthropic client end the turn where the upstream does not say which one hit", async () => {
    const message = await anthropicOf(stack).messages.create({
      model: "chat/scripted-stop-sequence",
      max_tokens: 77,
      stop_sequences: ["END"],
      messages: [USER],
    });
    expect(message).toMatchObject({ stop_reason: "end_turn", stop_sequence: null });
    expect(sent(stack, "stop")).toEqual(["END"]);
    expect(sent(stack, "max_completion_tokens")).toBe(77);
  });

  it("get the deployment's default where the upstream requires a maximum and the client gave none", async () => {
    await openAiOf(stack).chat.completions.create({ model: "messages/scripted-text", messages: [USER] });
    expect(sent(stack, "max_tokens")).toBe(1024);
  });
});

describe("refusals of the model", () => {
  it("are refusals for both clients", async () => {
    const chat = await openAiOf(stack).chat.completions.create({
      model: "messages/scripted-refusal",
      messages: [USER],
    });
    expect(chat.choices[0]).toMatchObject({
      finish_reason: "content_filter",
      message: { content: null, refusal: "I cannot help with that." },
    });
    const message = await anthropicOf(stack).messages.create({
      model: "chat/scripted-refusal",
      max_tokens: 10,
      messages: [USER],
    });
    expect(message).toMatchObject({
      stop_reason: "refusal",
      content: [{ type: "text", text: "I cannot help with that." }],
    });
  });
});

describe("requests that cannot be expressed", () => {
  it("raise the SDK's exception, with every reason and without an upstream call", async () => {
    const chat = await openAiOf(stack)
      .chat.completions.create({ model: "messages/scripted-text", n: 2, seed: 7, messages: [USER] })
      .catch((thrown: unknown) => thrown);
    expect(chat).toBeInstanceOf(OpenAI.BadRequestError);
    expect(String(chat)).toContain("seed_unsupported (/seed)");
    expect(String(chat)).toContain("n_unsupported (/n)");
    const message = await anthropicOf(stack)
      .messages.create({
        model: "chat/scripted-text",
        max_tokens: 10,
        tools: [{ type: "web_search_20250305", name: "web_search" }],
        messages: [USER],
      })
      .catch((thrown: unknown) => thrown);
    expect(message).toBeInstanceOf(AnthropicBadRequestError);
    expect(String(message)).toContain("server_tool_unsupported (/tools/0");
    expect(stack.upstream.calls).toEqual([]);
  });
});
