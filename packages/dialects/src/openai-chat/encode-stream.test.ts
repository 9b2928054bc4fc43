import { describe, expect, test } from "vitest";

import type { AnswerContext, NeutralError, StreamEvent, ToolMap } from "@dragoman/core";

import { ChatStreamEncoder } from "./encode-stream.ts";
import type { ChatFacts } from "./read-head.ts";
import { MAX_PENDING_BYTES } from "./stream-record.ts";

interface Options {
  readonly facts?: Partial<ChatFacts>;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly toolMap?: ToolMap;
}

function encode(
  events: readonly StreamEvent[],
  { facts = {}, options = {}, toolMap }: Options = {},
): { readonly deltas: readonly unknown[]; readonly error: NeutralError | null } {
  const records: string[] = [];
  const context: AnswerContext<ChatFacts> = {
    requestId: "r",
    createdSeconds: 1,
    makeId: (prefix) => `${prefix}1`,
    facts: { includeUsage: false, usesDeprecatedFunctions: false, n: 1, ...facts },
    upstreamModel: "up-model",
    toolMap: toolMap ?? null,
    options,
    count: () => {},
  };
  const encoder = new ChatStreamEncoder(context, (bytes) => records.push(Buffer.from(bytes).toString()));
  let error: NeutralError | null = null;
  for (const event of events) error ??= encoder.encode(event);
  const deltas = records.map((record) => {
    const data = record.slice("data: ".length, -2);
    if (data === "[DONE]") return data;
    const chunk = JSON.parse(data) as {
      choices: { index: number; delta: object; finish_reason: string | null; logprobs: unknown }[];
      usage?: unknown;
    };
    const [choice] = chunk.choices;
    if (choice === undefined) return { usage: chunk.usage };
    return {
      ...(choice.index === 0 ? null : { index: choice.index }),
      ...choice.delta,
      ...(choice.logprobs === null ? null : { logprobs: choice.logprobs }),
      ...(choice.finish_reason === null ? null : { finish: choice.finish_reason }),
    };
  });
  return { deltas, error };
}

const START: StreamEvent = { type: "start", model: "up-model" };
const ROLE = { role: "assistant", content: "" };
const at = (part: number, candidate = 0): { readonly candidate: number; readonly part: number } => ({
  candidate,
  part,
});
const stop = (reason: "end" | "tool-calls", candidate = 0): StreamEvent => ({
  type: "stop",
  candidate,
  stop: { reason, raw: "" },
});
const callStart = (part: number, more: object = {}): StreamEvent => ({
  type: "part-start",
  ...at(part),
  head: { type: "tool-call", id: `c${part}`, name: "f", kind: "function", ...more },
});
const args = (part: number, text: string): StreamEvent => ({
  type: "arguments-delta",
  ...at(part),
  text,
  encoded: true,
});
const GOOGLE = { origin: "g", data: "Z3NpZw==" };

describe("ChatStreamEncoder", () => {
  test("writes a signed call with its arguments in one fragment", () => {
    const { deltas } = encode([
      START,
      callStart(0, { signature: GOOGLE }),
      args(0, '{"c":"Oslo"}'),
      { type: "part-end", ...at(0) },
      stop("tool-calls"),
      { type: "end" },
    ]);
    expect(deltas).toEqual([
      ROLE,
      {
        tool_calls: [
          {
            index: 0,
            id: "c0",
            type: "function",
            function: { name: "f", arguments: '{"c":"Oslo"}' },
            extra_content: { google: { thought_signature: "Z3NpZw==" } },
          },
        ],
      },
      { finish: "tool_calls" },
      "[DONE]",
    ]);
  });

  test("writes a signed call without arguments with an empty object, and a late signature in a last fragment", () => {
    const { deltas } = encode([
      START,
      callStart(0, { signature: GOOGLE }),
      { type: "part-end", ...at(0) },
      callStart(1),
      args(1, "{}"),
      { type: "signature-delta", ...at(1), signature: GOOGLE },
      { type: "part-end", ...at(1) },
    ]);
    expect(deltas.slice(1)).toEqual([
      {
        tool_calls: [
          {
            index: 0,
            id: "c0",
            type: "function",
            function: { name: "f", arguments: "{}" },
            extra_content: { google: { thought_signature: "Z3NpZw==" } },
          },
        ],
      },
      { tool_calls: [{ index: 1, id: "c1", type: "function", function: { name: "f", arguments: "" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
      {
        tool_calls: [
          { index: 1, function: { arguments: "" }, extra_content: { google: { thought_signature: "Z3NpZw==" } } },
        ],
      },
    ]);
  });

  test("carries signed reasoning on the last delta before the finish (X28)", () => {
    const reasoning: readonly StreamEvent[] = [
      START,
      { type: "part-start", ...at(0), head: { type: "reasoning", form: "summary" } },
      { type: "reasoning-delta", ...at(0), text: "hm", segment: 0 },
      { type: "reasoning-delta", ...at(0), text: "m", segment: 1 },
      { type: "signature-delta", ...at(0), signature: { origin: "a", data: "c2ln" } },
      { type: "part-end", ...at(0) },
      stop("end"),
    ];
    expect(encode(reasoning).deltas).toEqual([
      ROLE,
      { reasoning_content: "hm" },
      { reasoning_content: "\n\n" },
      { reasoning_content: "m" },
      { extra_content: { gateway: { reasoning: [{ text: "hm\n\nm", sig: "gwsig1.a.dXAtbW9kZWw.YzJsbg" }] } } },
      { finish: "stop" },
    ]);
    expect(encode(reasoning, { options: { reasoningField: "none" } }).deltas).toEqual([
      ROLE,
      {
        extra_content: {
          gateway: {
            reasoning: [{ sig: `gwsig1.a.dXAtbW9kZWw.YzJsbg.${Buffer.from("hm\n\nm").toString("base64url")}` }],
          },
        },
      },
      { finish: "stop" },
    ]);
  });

  test("gathers the arguments of a wrapped tool and gives them back as free text", () => {
    const toolMap = { wrappedCustom: new Set(["f"]), namespaces: new Map() };
    const { deltas } = encode(
      [START, callStart(0), args(0, '{"input":'), args(0, '"a\\nb"}'), { type: "part-end", ...at(0) }],
      { toolMap },
    );
    expect(deltas.slice(1)).toEqual([
      { tool_calls: [{ index: 0, id: "c0", type: "custom", custom: { name: "f", input: "" } }] },
      { tool_calls: [{ index: 0, custom: { input: "a\nb" } }] },
    ]);
  });

  test("speaks the deprecated form, which has room for one call", () => {
    const { deltas, error } = encode([START, callStart(0), args(0, "{}"), stop("tool-calls")], {
      facts: { usesDeprecatedFunctions: true },
    });
    expect([deltas.slice(1), error]).toEqual([
      [
        { function_call: { name: "f", arguments: "" } },
        { function_call: { arguments: "{}" } },
        { finish: "function_call" },
      ],
      null,
    ]);
    expect(encode([START, callStart(0), callStart(1)], { facts: { usesDeprecatedFunctions: true } }).error?.class).toBe(
      "protocol",
    );
  });

  test("writes nothing for empty deltas and pings, and a role for every candidate", () => {
    const { deltas } = encode([
      START,
      { type: "ping" },
      { type: "text-delta", ...at(0), text: "" },
      { type: "text-delta", ...at(0, 1), text: "b" },
      { type: "logprobs-delta", candidate: 0, raw: { value: { content: [] } } },
      stop("end", 1),
      stop("end", 0),
      stop("end", 0),
    ]);
    expect(deltas).toEqual([
      ROLE,
      { index: 1, ...ROLE },
      { index: 1, content: "b" },
      { logprobs: { content: [] } },
      { index: 1, finish: "stop" },
      { finish: "stop" },
    ]);
  });

  test("writes no usage chunk where nobody asked or nothing is known", () => {
    expect(
      encode([
        START,
        stop("end"),
        { type: "usage", usage: { input: 1, output: 1, source: "upstream", final: true } },
        { type: "end" },
      ]).deltas.at(-1),
    ).toBe("[DONE]");
    expect(encode([START, stop("end"), { type: "end" }], { facts: { includeUsage: true } }).deltas).toEqual([
      ROLE,
      { finish: "stop" },
      "[DONE]",
    ]);
  });

  test("cannot go on after a failed stop", () => {
    const malformed: StreamEvent = {
      type: "stop",
      candidate: 0,
      stop: { reason: "malformed-tool-call", raw: "MALFORMED" },
    };
    expect(encode([START, malformed]).error?.class).toBe("protocol");
  });

  test("bounds what it gathers", () => {
    const toolMap = { wrappedCustom: new Set(["f"]), namespaces: new Map() };
    const full = [START, callStart(0), args(0, "x".repeat(MAX_PENDING_BYTES))];
    expect(encode(full, { toolMap }).error).toBeNull();
    expect(encode([...full, args(0, "x")], { toolMap }).error?.class).toBe("protocol");
  });
});
