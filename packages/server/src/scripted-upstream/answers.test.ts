import { describe, expect, it } from "vitest";

import { cutText } from "./answer.ts";
import type { RenderOptions, ScriptedRecord } from "./answer.ts";
import { renderChatStream, renderChatWhole } from "./answers-chat.ts";
import { renderMessageStream, renderMessageWhole } from "./answers-messages.ts";
import { behaviourOfModel, SCRIPTED_ANSWERS } from "./behaviours.ts";
import type { ScriptedAnswer } from "./index.ts";
import { readReceivedRequest } from "./received-request.ts";
import type { ScriptedDialect } from "./error-envelopes.ts";

type Json = Record<string, unknown>;

const OPTIONS: RenderOptions = {
  serial: 7,
  model: "m",
  includeUsage: true,
  choices: 1,
  usage: "normal",
  omit: [],
};

const REQUEST = {
  messages: [{ role: "user", content: "What about 世界 🐉?" }],
  stop: ["END"],
  tools: [
    {
      name: "look",
      input_schema: { type: "object", properties: { what: { type: "string" }, n: { type: "integer" } } },
    },
  ],
};

function answerOf(name: string, dialect: ScriptedDialect): ScriptedAnswer {
  const request = readReceivedRequest(dialect, { ...REQUEST, model: `scripted-${name}` });
  const { answer } = behaviourOfModel(request.model, request);
  if (typeof answer !== "function") throw new Error("a model's answer depends on the request");
  return answer(request);
}

/** Assembles a chat stream as a client would: members of deltas are appended. */
function assembleChat(records: readonly ScriptedRecord[]): Json {
  const choices = new Map<number, { message: Json; finish: unknown }>();
  let usage: unknown;
  let head: Json = {};
  for (const record of records) {
    if (record.data === "[DONE]") continue;
    const {
      choices: parts,
      usage: part,
      object: _object,
      ...rest
    } = JSON.parse(record.data) as Json & { choices: Json[] };
    head = rest;
    usage = part ?? usage;
    for (const each of parts) {
      const choice = choices.get(each["index"] as number) ?? { message: {}, finish: null };
      choices.set(each["index"] as number, choice);
      choice.finish = each["finish_reason"] ?? choice.finish;
      append(choice.message, each["delta"] as Json);
    }
  }
  return {
    ...head,
    object: "chat.completion",
    choices: [...choices].map(([index, { message, finish }]) => ({
      index,
      message,
      logprobs: null,
      finish_reason: finish,
    })),
    usage,
  };
}

function append(message: Json, delta: Json): void {
  for (const [name, value] of Object.entries(delta)) {
    if (name === "tool_calls") appendCalls(message, value as Json[]);
    else if (typeof value === "string" && typeof message[name] === "string" && name !== "role") message[name] += value;
    else message[name] = value;
  }
}

function appendCalls(message: Json, fragments: readonly Json[]): void {
  const calls = (message["tool_calls"] ??= []) as Json[];
  for (const { index, ...fragment } of fragments as (Json & { index: number })[]) {
    const call = calls[index];
    if (call === undefined) calls[index] = fragment;
    else {
      const added = (fragment["function"] as { arguments: string }).arguments;
      (call["function"] as { arguments: string }).arguments += added;
    }
  }
}

/** Assembles a messages stream as a client would. */
function assembleMessage(records: readonly ScriptedRecord[]): Json {
  let message: Json = {};
  const content: Json[] = [];
  const inputs: string[] = [];
  for (const record of records) {
    const event = JSON.parse(record.data) as Json & { index: number; delta: Json };
    expect(event["type"]).toBe(record.event);
    if (event["type"] === "message_start") message = event["message"] as Json;
    if (event["type"] === "content_block_start") content[event.index] = event["content_block"] as Json;
    if (event["type"] === "content_block_delta") {
      const { type, ...members } = event.delta;
      const block = content[event.index] as Json;
      if (type === "input_json_delta")
        inputs[event.index] = (inputs[event.index] ?? "") + String(members["partial_json"]);
      else
        for (const [name, value] of Object.entries(members)) block[name] = `${block[name] as string}${value as string}`;
    }
    if (event["type"] === "message_delta") {
      message = { ...message, ...event.delta, usage: { ...(message["usage"] as Json), ...(event["usage"] as Json) } };
    }
  }
  for (const [index, input] of inputs.entries()) if (input !== undefined) content[index]!["input"] = JSON.parse(input);
  return { ...message, content };
}

describe.each(SCRIPTED_ANSWERS)("answer %s", (name) => {
  it("says the same whole and streamed in the chat dialect", () => {
    const answer = answerOf(name, "chat");
    const records = [...renderChatStream(answer, OPTIONS)];
    expect(assembleChat(records)).toEqual(JSON.parse(renderChatWhole(answer, OPTIONS)));
    expect(records.at(-1)?.data).toBe("[DONE]");
  });

  it("says the same whole and streamed in the messages dialect", () => {
    const answer = answerOf(name, "messages");
    const records = [...renderMessageStream(answer, OPTIONS)];
    expect(assembleMessage(records)).toEqual(JSON.parse(renderMessageWhole(answer, OPTIONS)));
    expect(records.at(-1)?.event).toBe("message_stop");
  });

  it("renders the same token counts in both dialects", () => {
    const answer = answerOf(name, "chat");
    const chat = JSON.parse(renderChatWhole(answer, OPTIONS)) as { usage: Json };
    const message = JSON.parse(renderMessageWhole(answer, OPTIONS)) as {
      usage: Record<string, number>;
    };
    const { usage } = message;
    const input = usage["input_tokens"]! + usage["cache_read_input_tokens"]! + usage["cache_creation_input_tokens"]!;
    expect(chat.usage["prompt_tokens"]).toBe(input);
    expect(chat.usage["completion_tokens"]).toBe(usage["output_tokens"]);
  });
});

describe("chat streams", () => {
  const answer = answerOf("text", "chat");

  it("carry no usage member at all when it is not asked for", () => {
    const records = [...renderChatStream(answer, { ...OPTIONS, includeUsage: false })];
    expect(records.some((record) => record.data.includes('"usage"'))).toBe(false);
  });

  it.each([
    { usage: "none", expected: 0 },
    { usage: "normal", expected: 1 },
    { usage: "twice", expected: 2 },
    { usage: "in-content", expected: 0 },
  ] as const)("send $expected usage records with usage $usage", ({ usage, expected }) => {
    const records = [...renderChatStream(answer, { ...OPTIONS, usage })];
    expect(records.filter((record) => record.mark === "usage")).toHaveLength(expected);
  });

  it("put the usage into content chunks when asked to", () => {
    const records = [...renderChatStream(answer, { ...OPTIONS, usage: "in-content" })];
    const content = records.filter((record) => record.mark === "content");
    expect(content.every((record) => record.data.includes('"prompt_tokens"'))).toBe(true);
  });

  it.each([
    { omit: ["finish"], missing: ['"finish_reason":"stop"'], present: ["[DONE]"] },
    { omit: ["end"], missing: ["[DONE]"], present: ['"finish_reason":"stop"'] },
    { omit: ["finish", "end"], missing: ["[DONE]", '"finish_reason":"stop"'], present: [] },
  ] as const)("leave out $omit", ({ omit, missing, present }) => {
    const text = [...renderChatStream(answer, { ...OPTIONS, omit })].map((record) => record.data).join("\n");
    for (const each of missing) expect(text).not.toContain(each);
    for (const each of present) expect(text).toContain(each);
  });

  it("give every choice the whole answer when several are asked for", () => {
    const options = { ...OPTIONS, choices: 3 };
    expect(assembleChat([...renderChatStream(answer, options)])).toEqual(JSON.parse(renderChatWhole(answer, options)));
  });
});

describe("cutText", () => {
  it("rejoins to the text, in at most the asked number of pieces, never inside a surrogate pair", () => {
    const text = "a🐉b🐉🐉c";
    for (let count = 1; count <= text.length + 2; count += 1) {
      const pieces = [...cutText(text, count)];
      expect(pieces.join("")).toBe(text);
      expect(pieces.length).toBeLessThanOrEqual(count);
      expect(pieces.every((piece) => !/^[\udc00-\udfff]|[\ud800-\udbff]$/u.test(piece))).toBe(true);
    }
  });
});
