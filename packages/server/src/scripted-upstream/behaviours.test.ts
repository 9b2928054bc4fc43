import { describe, expect, it } from "vitest";

import { behaviourOfModel } from "./behaviours.ts";
import { faultOfName, SCRIPTED_FAULTS } from "./fault-names.ts";
import type { ScriptedDialect } from "./error-envelopes.ts";
import type { ScriptedAnswer } from "./index.ts";
import { ODD_RESPONSES } from "./odd-responses.ts";
import { readReceivedRequest } from "./received-request.ts";

function answer(dialect: ScriptedDialect, body: Record<string, unknown> & { model: string }): ScriptedAnswer {
  const request = readReceivedRequest(dialect, body);
  const behaviour = behaviourOfModel(body.model, request);
  if (typeof behaviour.answer !== "function") throw new Error("a model's answer depends on the request");
  return behaviour.answer(request);
}

const PIXEL = "iVBORw0KGgo=";

describe("answers by model name", () => {
  it("calls two offered tools with arguments that fit their schemas", () => {
    const tools = [
      {
        type: "function",
        function: { name: "a", parameters: { type: "object", properties: { n: { type: "integer" } } } },
      },
      {
        type: "function",
        function: { name: "b", parameters: { type: "object", properties: { k: { enum: ["x", "y"] } } } },
      },
    ];
    expect(answer("chat", { model: "scripted-parallel-tools", messages: [], tools })).toMatchObject({
      stop: "tools",
      toolCalls: [
        { id: "call_scripted_1", name: "a", arguments: '{"n":1}' },
        { id: "call_scripted_2", name: "b", arguments: '{"k":"x"}' },
      ],
    });
  });

  it("calls the forced tool", () => {
    const tools = [
      { name: "a", input_schema: {} },
      { name: "b", input_schema: {} },
    ];
    const body = { model: "scripted-tools", messages: [], tools, tool_choice: { type: "tool", name: "b" } };
    expect(answer("messages", body).toolCalls).toEqual([{ id: "toolu_scripted_1", name: "b", arguments: "{}" }]);
  });

  it.each([
    {
      dialect: "chat" as const,
      messages: [
        { role: "assistant", content: null, tool_calls: [] },
        { role: "tool", tool_call_id: "c1", content: "7" },
        { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "19" }] },
      ],
    },
    {
      dialect: "messages" as const,
      messages: [
        { role: "assistant", content: [] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: "7" },
            { type: "tool_result", tool_use_id: "c2", content: [{ type: "text", text: "19" }] },
          ],
        },
      ],
    },
  ])("quotes the tool results of the current turn in the $dialect dialect", ({ dialect, messages }) => {
    const { text, toolCalls, stop } = answer(dialect, { model: "scripted-parallel-tools", messages });
    expect(text).toBe("The tools answered: c1 returned “7”; c2 returned “19”.");
    expect(toolCalls).toBeUndefined();
    expect(stop).toBe("end");
  });

  it("calls tools again when the results belong to an earlier turn", () => {
    const messages = [
      { role: "tool", tool_call_id: "c1", content: "7" },
      { role: "assistant", content: "7 degrees" },
      { role: "user", content: "And now?" },
    ];
    expect(answer("chat", { model: "scripted-tools", messages }).stop).toBe("tools");
  });

  it.each([
    {
      dialect: "chat" as const,
      content: [
        { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
        { type: "image_url", image_url: { url: "https://example.test/a.png" } },
      ],
    },
    {
      dialect: "messages" as const,
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
        {
          type: "tool_result",
          tool_use_id: "t",
          content: [{ type: "image", source: { type: "url", url: "https://example.test" } }],
        },
      ],
    },
  ])("describes the images it got in the $dialect dialect", ({ dialect, content }) => {
    const { text } = answer(dialect, { model: "scripted-image", messages: [{ role: "user", content }] });
    expect(text).toBe("I got 2 image(s): #1 image/png, 8 bytes; #2 by URL.");
  });

  it.each([
    {
      dialect: "chat" as const,
      body: {
        messages: [
          { role: "system", content: "S" },
          { role: "developer", content: [{ type: "text", text: "D" }] },
          { role: "user", content: "Hi" },
        ],
        stop: "END",
        max_completion_tokens: 9,
      },
      expected: {
        instructions: [
          { form: "system", text: "S" },
          { form: "developer", text: "D" },
        ],
        roles: ["system", "developer", "user"],
      },
    },
    {
      dialect: "messages" as const,
      body: {
        system: [{ type: "text", text: "S" }],
        messages: [{ role: "user", content: "Hi" }],
        stop_sequences: ["END"],
        max_tokens: 9,
      },
      expected: { instructions: [{ form: "system-member", text: "S" }], roles: ["user"] },
    },
  ])("echoes what it received in the $dialect dialect", ({ dialect, body, expected }) => {
    const { text } = answer(dialect, { model: "scripted-echo", ...body });
    expect(JSON.parse(text ?? "")).toMatchObject({
      ...expected,
      dialect,
      stop: ["END"],
      maxTokens: 9,
      lastUserText: "Hi",
    });
  });

  it("makes as many deltas as the name says", () => {
    expect(answer("chat", { model: "scripted-long-12" })).toMatchObject({
      deltas: 12,
      text: expect.stringMatching(/^(word.{4}){12}$/u),
    });
  });

  it.each([
    { model: "gpt-anything", faults: [] },
    { model: "vendor/scripted-tools:slow-5:cut-after-3", faults: ["slow", "cut-after"] },
    { model: "scripted-reset-at-100", faults: ["cut"] },
    { model: "scripted-oversize-2-records", faults: ["oversize"] },
    { model: "scripted-garbage-record-null", faults: ["garbage"] },
    { model: "scripted-head-two-lengths", faults: ["raw"] },
    { model: "scripted-nonsense", faults: [] },
  ])("reads the faults of $model", ({ model, faults }) => {
    const behaviour = behaviourOfModel(model, readReceivedRequest("chat", {}));
    expect(behaviour.faults?.map((fault) => fault.kind)).toEqual(faults);
    expect(behaviour.answer).toBeDefined();
  });

  it.each([
    { model: "scripted-error-429", expected: { status: 429 } },
    { model: "scripted-error-529", expected: { status: 529 } },
    { model: "scripted-error-400-context", expected: { status: 400, code: "context_length_exceeded" } },
    { model: "scripted-error-429-quota", expected: { status: 429, code: "insufficient_quota" } },
    { model: "scripted-error-429-retry", expected: { headers: [["retry-after", "7"]] } },
  ])("reads the error of $model", ({ model, expected }) => {
    expect(behaviourOfModel(model, readReceivedRequest("chat", {})).error).toMatchObject(expected);
  });

  it.each([null, 3, [], "text", { messages: "no list" }, { messages: [null, 3, { content: 5 }], tools: {}, stop: 3 }])(
    "answers whatever the body is: %j",
    (body) => {
      for (const dialect of ["chat", "messages"] as const) {
        const request = readReceivedRequest(dialect, body);
        expect(behaviourOfModel("scripted-echo", request).answer).toBeTypeOf("function");
      }
    },
  );

  it("names only faults that exist", () => {
    for (const name of SCRIPTED_FAULTS) expect(faultOfName(name)).not.toBeNull();
    for (const name of Object.keys(ODD_RESPONSES)) expect(faultOfName(`head-${name}`)).toMatchObject({ kind: "raw" });
    expect(faultOfName("toString")).toBeNull();
  });
});
