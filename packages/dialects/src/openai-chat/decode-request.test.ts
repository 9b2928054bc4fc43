import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { scan, textToString } from "@dragoman/core";
import type { DecodedRequest, NeutralRequest, Part } from "@dragoman/core";

import { openaiChatClient } from "./client.ts";

const ROUTE = { operation: "generate", path: "/v1/chat/completions", query: "", captures: {} } as const;

function decode(text: string): DecodedRequest {
  const result = scan(Buffer.from(text));
  if (!result.ok) throw new Error(result.error.message);
  const reading = openaiChatClient.readHead(result.document, ROUTE);
  return reading.ok ? openaiChatClient.decodeRequest(result.document, reading.head, ROUTE, []) : reading;
}

function decoded(text: string): NeutralRequest {
  const result = decode(text);
  if (!result.ok) throw new Error(`${result.error.param}: ${result.error.message}`);
  return result.request;
}

const withMessages = (messages: string, more = ""): string => `{"model":"m","messages":[${messages}]${more}}`;
const USER = '{"role":"user","content":"Hi"}';

function partLine(part: Part): string {
  switch (part.type) {
    case "text":
      return `text ${textToString(part.text)}`;
    case "tool-call":
      return `call ${textToString(part.id)} ${textToString(part.name)}`;
    case "tool-result":
      return `result ${textToString(part.callId)} [${part.content.map((inner) => partLine(inner)).join(", ")}]`;
    case "reasoning":
      return `reasoning ${part.texts.map((text) => textToString(text)).join("|")} ${part.signature?.origin ?? "-"}`;
    default:
      return part.type;
  }
}

const shape = (request: NeutralRequest): readonly string[] =>
  request.messages.map((message) => {
    const role = message.role === "instruction" ? `${message.authority} ${message.position}` : message.role;
    return `${role}: ${message.parts.map((part) => partLine(part)).join("; ")}`;
  });

describe("what is wrong with a request is said with its place", () => {
  test.each([
    ["a body that is no object", "[]", undefined, "The request body must be a JSON object."],
    ["no model", "{}", "model", "The request must name a model: the member model is missing."],
    ["a model that is no string", '{"model":3}', "model", "The member model must be a string."],
    ["stream that is no flag", '{"model":"m","stream":"yes"}', "stream", "The member stream must be true or false."],
    [
      "stream options that are no object",
      '{"model":"m","stream_options":[]}',
      "stream_options",
      "The member stream_options must be an object.",
    ],
    ["no messages", '{"model":"m"}', "messages", "The member messages must be an array."],
    ["messages that are no array", '{"model":"m","messages":{}}', "messages", "This must be an array, not an object."],
    ["an empty list of messages", '{"model":"m","messages":[]}', "messages", "There must be at least one message."],
    ["a message that is no object", withMessages('"x"'), "messages[0]", "A message must be an object, not a string."],
    [
      "an unknown role",
      withMessages('{"role":"robot","content":"x"}'),
      "messages[0].role",
      "This must be one of system, developer, user, assistant, tool, function.",
    ],
    [
      "content that is a number",
      withMessages('{"role":"user","content":5}'),
      "messages[0].content",
      "Message content must be a string or an array of parts, not a number.",
    ],
    [
      "user content that is missing",
      withMessages('{"role":"user"}'),
      "messages[0].content",
      "This message must have content.",
    ],
    [
      "an assistant message that says nothing",
      withMessages('{"role":"assistant","content":null}'),
      "messages[0].content",
      "An assistant message must have content, a refusal or tool calls.",
    ],
    [
      "a part without a type",
      withMessages('{"role":"user","content":[{"text":"x"}]}'),
      "messages[0].content[0].type",
      "A content part must have a type.",
    ],
    [
      "a call without an id",
      withMessages('{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f"}}]}'),
      "messages[0].tool_calls[0].id",
      "A tool call must have an id.",
    ],
    [
      "a result without a call",
      withMessages('{"role":"tool","content":"x"}'),
      "messages[0].tool_call_id",
      "A tool message must name the call that it answers.",
    ],
    [
      "two limits that differ",
      withMessages(USER, ',"max_tokens":1,"max_completion_tokens":2'),
      "max_tokens",
      "max_tokens and max_completion_tokens are both present and differ; send one of them.",
    ],
    [
      "a limit that is no whole number",
      withMessages(USER, ',"max_tokens":1.5'),
      "max_tokens",
      "This must be a whole number of at least 1.",
    ],
    [
      "a number beyond a double",
      withMessages(USER, ',"temperature":1e400'),
      "temperature",
      "This number is too large.",
    ],
    [
      "a temperature that is no number",
      withMessages(USER, ',"temperature":"0.5"'),
      "temperature",
      "This must be a number, not a string.",
    ],
    [
      "top_logprobs without logprobs",
      withMessages(USER, ',"top_logprobs":3'),
      "top_logprobs",
      "top_logprobs needs logprobs to be true.",
    ],
    [
      "metadata that is no string",
      withMessages(USER, ',"metadata":{"a":1}'),
      "metadata",
      "This must be a string, not a number.",
    ],
    [
      "a tool without a name",
      withMessages(USER, ',"tools":[{"type":"function","function":{}}]'),
      "tools[0].function.name",
      "A function must have a name.",
    ],
    [
      "an unknown response format",
      withMessages(USER, ',"response_format":{"type":"xml"}'),
      "response_format.type",
      "This must be one of json_object, json_schema.",
    ],
  ])("%s", (_, body, param, message) => {
    const result = decode(body);
    expect(
      result.ok
        ? null
        : {
            class: result.error.class,
            origin: result.error.origin,
            param: result.error.param,
            message: result.error.message,
          },
    ).toEqual({
      class: "invalid-request",
      origin: "client",
      param,
      message: param === undefined ? message : `${pointerOf(param)}: ${message}`,
    });
  });
});

/** The place as the message names it, e.g. `/messages/0/content` for `messages[0].content`. */
const pointerOf = (param: string): string => `/${param.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`;

describe("messages", () => {
  test("puts results first and in call order, and joins what follows from the same side", () => {
    const call = (id: string): string => `{"id":"${id}","type":"function","function":{"name":"f","arguments":"{}"}}`;
    const request = decoded(
      withMessages(
        [
          '{"role":"system","content":"S"}',
          USER,
          `{"role":"assistant","content":"","tool_calls":[${call("c1")},${call("c2")}]}`,
          '{"role":"tool","tool_call_id":"c2","content":"2"}',
          '{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"1"}]}',
          '{"role":"user","content":"and now?"}',
          '{"role":"developer","content":"D"}',
        ].join(","),
      ),
    );
    expect(shape(request)).toEqual([
      "system leading: text S",
      "user: text Hi",
      "assistant: text ; call c1 f; call c2 f",
      "user: result c1 [text 1]; result c2 [text 2]; text and now?",
      "developer mid: text D",
    ]);
    expect(request.messages[3]?.at).toBe("/messages/3");
  });

  test("does not join messages of different participants", () => {
    const request = decoded(
      withMessages('{"role":"user","name":"a","content":"1"},{"role":"user","name":"b","content":"2"}'),
    );
    expect(shape(request)).toEqual(["user: text 1", "user: text 2"]);
  });

  test("reads the deprecated function form with ids made of places", () => {
    const request = decoded(
      withMessages(
        `${USER},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"1"}`,
        ',"functions":[{"name":"f"}],"function_call":{"name":"f"}',
      ),
    );
    expect(shape(request).slice(1)).toEqual(["assistant: call call_fn_1 f", "user: result call_fn_1 [text 1]"]);
    expect(request.tools).toHaveLength(1);
    expect(request.toolChoice).toMatchObject({ mode: "tool", kind: "function" });
    expect(request.origins?.["toolChoice"]).toBe("/function_call");
  });

  test("restores signed reasoning from the gateway's carrier, text beside it or inside", () => {
    const request = decoded(
      withMessages(
        `${USER},{"role":"assistant","content":"x","reasoning_content":"hmm","extra_content":{"gateway":{"reasoning":[{"text":"hmm","sig":"gwsig1.a.dXAtbW9kZWw.YzJsbg"},{"sig":"gwsig1.a.dXAtbW9kZWw.YzJsbg.aGlk"},{"sig":"gwsig1.ar.bQ.Ug"},{"sig":"broken"}]}}}`,
      ),
    );
    expect(shape(request)[1]).toBe("assistant: reasoning hmm a; reasoning hid a; reasoning  ar; text x");
    const [first] = request.messages[1]?.parts ?? [];
    expect(first).toMatchObject({ signature: { origin: "a", model: "up-model", data: "c2ln" } });
  });

  test("takes bare reasoning text, Google's signature, and echoes of an answer", () => {
    const request = decoded(
      withMessages(
        `${USER},{"role":"assistant","content":null,"refusal":null,"audio":null,"function_call":null,"annotations":[],"reasoning":"r","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"Z3NpZw=="}}}]}`,
      ),
    );
    expect(shape(request)[1]).toBe("assistant: reasoning r -; call c f");
    expect(request.messages[1]?.parts[1]).toMatchObject({ signature: { origin: "g" } });
    expect(request.messages[1]?.extensions).toBeUndefined();
  });

  test("splits data URLs, keeps others, and moves a message's cache mark to its last part", () => {
    const request = decoded(
      withMessages(
        String.raw`{"role":"user","cache_control":{"type":"ephemeral","ttl":"1h"},"content":[{"type":"image_url","image_url":{"url":"data:IMAGE\/JPG;base64,AA\/B"}},{"type":"image_url","image_url":"https://x.test/a"},{"type":"text","text":"t","cache_control":null}]}`,
      ),
    );
    const [image, url, text] = request.messages[0]?.parts ?? [];
    expect(image).toMatchObject({ type: "image", media: { from: "base64", mime: "image/jpeg" } });
    expect(image?.type === "image" && image.media.from === "base64" ? textToString(image.media.data) : "").toBe("AA/B");
    expect(url).toMatchObject({ type: "image", media: { from: "url" } });
    expect(text).toMatchObject({ type: "text", cacheBreakpoint: { ttlSeconds: 3600 } });
  });
});

describe("members", () => {
  test("leaves out what says nothing", () => {
    const request = decoded(
      withMessages(
        USER,
        ',"n":1,"presence_penalty":0,"frequency_penalty":0.0,"logit_bias":{},"logprobs":false,"top_logprobs":0,"stop":[],"store":false,"stream":false,"parallel_tool_calls":true,"tools":[],"tool_choice":"none","verbosity":"medium","service_tier":"auto","response_format":{"type":"text"},"modalities":["text"],"metadata":{},"seed":null,"user":null',
      ),
    );
    const {
      source,
      operation,
      model,
      stream,
      messages,
      tools,
      sampling,
      output,
      cache,
      identity,
      streamOptions,
      origins,
      extensions,
      ...rest
    } = request;
    expect({
      source,
      operation,
      model,
      stream,
      tools,
      sampling,
      output,
      cache,
      identity,
      streamOptions,
      extensions,
      rest,
    }).toEqual({
      source: "openai-chat",
      operation: "generate",
      model: "m",
      stream: false,
      tools: [],
      sampling: {},
      output: {},
      cache: {},
      identity: {},
      streamOptions: { includeUsage: false },
      extensions: [],
      rest: {},
    });
    expect([messages.length, origins?.["maxOutputTokens"]]).toEqual([1, "/max_tokens"]);
  });

  test("keeps what has no neutral place, with the reason of its row", () => {
    const request = decoded(
      withMessages(
        USER,
        ',"moderation":{"model":"x"},"prediction":{},"web_search_options":{},"service_tier":"on_demand","a/b~c":1,"prompt_cache_options":{"mode":"explicit","ttl":"30m"},"stream_options":{"include_usage":true,"x":1}',
      ),
    );
    expect(request.extensions.map((extension) => [extension.path, extension.code, extension.at])).toEqual([
      ["moderation", "moderation_unsupported", "/moderation"],
      ["prediction", "prediction_unsupported", "/prediction"],
      ["web_search_options", "server_tool_unsupported", "/web_search_options"],
      ["service_tier", "service_tier_unsupported", "/service_tier"],
      ["a/b~c", undefined, "/a~1b~0c"],
      ["prompt_cache_options", "cache_hint", "/prompt_cache_options"],
      ["stream_options.x", undefined, "/stream_options/x"],
    ]);
  });

  test("reads tools and choices of every form", () => {
    const request = decoded(
      withMessages(
        USER,
        ',"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object"}}},{"type":"custom","custom":{"name":"c","format":{"type":"grammar","grammar":{}}}},{"type":"hosted"}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}',
      ),
    );
    expect(request.tools.map((tool) => tool.kind)).toEqual(["function", "custom", "server"]);
    expect(request.toolChoice).toMatchObject({ mode: "allowed", required: true });
  });

  test("reads effort none as reasoning that is off", () => {
    expect(decoded(withMessages(USER, ',"reasoning_effort":"none"')).reasoning).toEqual({
      mode: "off",
      effort: "none",
    });
    expect(decoded(withMessages(USER, ',"reasoning_effort":"xhigh"')).reasoning).toEqual({ effort: "xhigh" });
  });
});

describe("any JSON", () => {
  test("is decoded or refused, never thrown at", () => {
    const message = fc.oneof(
      fc.jsonValue(),
      fc.record({
        role: fc.constantFrom("user", "assistant", "tool", "system", "function"),
        content: fc.jsonValue(),
        tool_calls: fc.jsonValue(),
        tool_call_id: fc.jsonValue(),
        function_call: fc.jsonValue(),
        extra_content: fc.jsonValue(),
      }),
    );
    const body = fc.record({
      model: fc.constant("m"),
      messages: fc.oneof(fc.array(message), fc.jsonValue()),
      tools: fc.oneof(
        fc.jsonValue(),
        fc.array(
          fc.record({ type: fc.constantFrom("function", "custom"), function: fc.jsonValue(), custom: fc.jsonValue() }),
        ),
      ),
      tool_choice: fc.jsonValue(),
      stop: fc.jsonValue(),
      metadata: fc.jsonValue(),
    });
    fc.assert(
      fc.property(body, (value) => {
        const result = decode(JSON.stringify(value));
        expect(typeof (result.ok ? result.request.model : result.error.message)).toBe("string");
      }),
      { numRuns: 500 },
    );
  });

  test("takes one step per message, part and unknown member", () => {
    const many = Array.from(
      { length: 20_000 },
      (_, index) => `{"role":"${index % 2 === 0 ? "user" : "assistant"}","content":"x"}`,
    ).join(",");
    const parts = Array.from({ length: 20_000 }, () => '{"type":"text","text":"x"}').join(",");
    const members = Array.from({ length: 20_000 }, (_, index) => `"u${index}":1`).join(",");
    expect(decoded(withMessages(many)).messages).toHaveLength(20_000);
    expect(decoded(withMessages(`{"role":"user","content":[${parts}]}`)).messages[0]?.parts).toHaveLength(20_000);
    expect(decoded(withMessages(USER, `,${members}`)).extensions).toHaveLength(20_000);
  });
});
