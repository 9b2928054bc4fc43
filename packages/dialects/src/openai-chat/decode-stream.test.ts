import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { textToString } from "@dragoman/core";
import type { NeutralError, StreamEvent } from "@dragoman/core";

import { ChatStreamDecoder } from "./decode-stream.ts";
import { compileChatProfile } from "./compile-profile.ts";
import { MAX_PENDING_BYTES } from "./stream-record.ts";

/** Decodes records; events become short lines. */
function decode(records: readonly string[], profileName = "openai", event = ""): readonly string[] {
  const compiled = compileChatProfile(profileName, {});
  if (!compiled.ok) throw new Error(profileName);
  const lines: string[] = [];
  const decoder = new ChatStreamDecoder(
    { profile: compiled.profile, upstreamModel: "m", headers: [], count: () => {} },
    (decoded) => lines.push(lineOf(decoded)),
  );
  for (const record of records) {
    const bytes = Buffer.from(`xx${record}yy`);
    decoder.push({ bytes, dataStart: 2, dataEnd: bytes.length - 2, event });
  }
  decoder.finish();
  return lines;
}

function lineOf(event: StreamEvent): string {
  switch (event.type) {
    case "start":
      return `start ${event.id ?? "-"} ${event.model ?? "-"}`;
    case "part-start": {
      const { head } = event;
      const rest =
        head.type === "tool-call"
          ? ` ${head.id} ${textToString(head.name)} ${head.kind}${head.signature === undefined ? "" : " signed"}`
          : "";
      return `${event.candidate}.${event.part} ${head.type}${rest}`;
    }
    case "text-delta":
    case "refusal-delta":
    case "reasoning-delta":
    case "arguments-delta":
      return `${event.candidate}.${event.part} ${event.type} ${JSON.stringify(textToString(event.text))}`;
    case "part-end":
      return `${event.candidate}.${event.part} end`;
    case "stop":
      return `${event.candidate} stop ${event.stop.reason} ${event.stop.raw}`;
    case "usage":
      return `usage ${event.usage.input} ${event.usage.output} ${event.usage.final}`;
    case "error":
      return `error ${event.error.class}: ${event.error.message}`;
    case "signature-delta":
    case "citation-delta":
    case "audio-delta":
      return `${event.candidate}.${event.part} ${event.type}`;
    case "logprobs-delta":
      return `${event.candidate} logprobs`;
    case "ping":
    case "end":
      return event.type;
  }
}

const delta = (members: string, index = 0): string =>
  `{"id":"c","model":"m","choices":[{"index":${index},"delta":{${members}},"finish_reason":null}]}`;
const finish = (word: string, index = 0): string =>
  `{"id":"c","model":"m","choices":[{"index":${index},"delta":{},"finish_reason":"${word}"}]}`;
const USAGE = '{"id":"c","model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}';

interface Row {
  readonly name: string;
  readonly profile?: string;
  readonly records: readonly string[];
  readonly expected: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    name: "waits for the usage that comes after the finish",
    records: [delta('"role":"assistant","content":""'), delta('"content":"Hi"'), finish("stop"), USAGE, "[DONE]"],
    expected: ["start c m", "0.0 text", '0.0 text-delta "Hi"', "0.0 end", "0 stop end stop", "usage 3 2 true", "end"],
  },
  {
    name: "reads usage beside content once and takes the last of several",
    records: [
      '{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}',
      '{"choices":[{"delta":{}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
      '{"usage":{}}',
      '{"usage":null}',
    ],
    expected: [
      "start - -",
      "0.0 text",
      '0.0 text-delta "a"',
      "0.0 end",
      "0 stop end stop",
      "usage 1 1 true",
      "usage 1 2 true",
      "end",
    ],
  },
  {
    name: "keeps interleaved calls apart and opens a new text part after calls",
    records: [
      delta('"content":"a"'),
      delta('"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":"{"}}]'),
      delta(String.raw`"content":"\n"`),
      delta('"tool_calls":[{"index":1,"id":"y","type":"function","function":{"name":"g","arguments":"{}"}}]'),
      delta('"tool_calls":[{"index":0,"function":{"arguments":"}"}}]'),
      finish("tool_calls"),
    ],
    expected: [
      "start c m",
      "0.0 text",
      '0.0 text-delta "a"',
      "0.0 end",
      "0.1 tool-call x f function",
      '0.1 arguments-delta "{"',
      "0.2 text",
      String.raw`0.2 text-delta "\n"`,
      "0.2 end",
      "0.3 tool-call y g function",
      '0.3 arguments-delta "{}"',
      '0.1 arguments-delta "}"',
      "0.1 end",
      "0.3 end",
      "0 stop tool-calls tool_calls",
      "end",
    ],
  },
  {
    name: "matches fragments without an index by id, then to the last call; a new id at a known index begins a call",
    records: [
      delta('"tool_calls":[{"id":"x","function":{"name":"f","arguments":"1"}}]'),
      delta('"tool_calls":[{"function":{"arguments":"2"}}]'),
      delta('"tool_calls":[{"index":null,"id":"","function":{"arguments":"3"}}]'),
      delta('"tool_calls":[{"index":0,"id":"y","function":{"name":"g","arguments":"4"}}]'),
      delta('"tool_calls":[{"index":0,"id":"z","function":{"name":"h","arguments":"5"}}]'),
      finish("stop"),
    ],
    expected: [
      "start c m",
      "0.0 tool-call x f function",
      '0.0 arguments-delta "1"',
      '0.0 arguments-delta "2"',
      '0.0 arguments-delta "3"',
      "0.1 tool-call y g function",
      '0.1 arguments-delta "4"',
      "0.2 tool-call z h function",
      '0.2 arguments-delta "5"',
      "0.0 end",
      "0.1 end",
      "0.2 end",
      "0 stop tool-calls stop",
      "end",
    ],
  },
  {
    name: "holds arguments back until the name is known, and takes them as an object",
    records: [
      delta('"tool_calls":[{"index":0,"id":"x","function":{"arguments":"{\\"a\\":"}}]'),
      delta('"tool_calls":[{"index":0,"function":{"name":"f","arguments":"1}"}}]'),
      delta('"tool_calls":[{"index":1,"id":"y","function":{"name":"g","arguments":{"n": 1.0}}}]'),
      finish("tool_calls"),
    ],
    expected: [
      "start c m",
      "0.0 tool-call x f function",
      String.raw`0.0 arguments-delta "{\"a\":"`,
      '0.0 arguments-delta "1}"',
      "0.1 tool-call y g function",
      String.raw`0.1 arguments-delta "{\"n\": 1.0}"`,
      "0.0 end",
      "0.1 end",
      "0 stop tool-calls tool_calls",
      "end",
    ],
  },
  {
    name: "takes the first reasoning member only, before the content of the same chunk",
    records: [delta('"content":"a","reasoning":"r","reasoning_content":"r"'), finish("stop")],
    expected: [
      "start c m",
      "0.0 reasoning",
      '0.0 reasoning-delta "r"',
      "0.0 end",
      "0.1 text",
      '0.1 text-delta "a"',
      "0.1 end",
      "0 stop end stop",
      "end",
    ],
  },
  {
    name: "reads content lists with thinking parts",
    profile: "mistral",
    records: [
      delta('"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"a"}]'),
      finish("model_length"),
    ],
    expected: [
      "start c m",
      "0.0 reasoning",
      '0.0 reasoning-delta "t"',
      "0.0 end",
      "0.1 text",
      '0.1 text-delta "a"',
      "0.1 end",
      "0 stop max-tokens model_length",
      "end",
    ],
  },
  {
    name: "reads the deprecated call form and refusals",
    records: [
      delta('"function_call":{"name":"f","arguments":""}'),
      delta('"function_call":{"arguments":"{}"}'),
      finish("function_call"),
    ],
    expected: [
      "start c m",
      expect.stringMatching(/^0\.0 tool-call call_[a-zA-Z0-9]{24} f function$/) as unknown as string,
      '0.0 arguments-delta "{}"',
      "0.0 end",
      "0 stop tool-calls function_call",
      "end",
    ],
  },
  {
    name: "calls an answer with a refusal alone a refusal",
    records: [delta('"refusal":"No."'), finish("stop")],
    expected: ["start c m", "0.0 refusal", '0.0 refusal-delta "No."', "0.0 end", "0 stop refusal stop", "end"],
  },
  {
    name: "follows several choices",
    records: [delta('"content":"a"', 1), delta('"content":"b"', 0), finish("stop", 1), finish("length", 0), "[DONE]"],
    expected: [
      "start c m",
      "1.0 text",
      '1.0 text-delta "a"',
      "0.0 text",
      '0.0 text-delta "b"',
      "1.0 end",
      "1 stop end stop",
      "0.0 end",
      "0 stop max-tokens length",
      "end",
    ],
  },
  {
    name: "keeps Google's signature of a call",
    records: [
      delta(
        '"tool_calls":[{"index":0,"id":"x","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f","arguments":"{}"}}]',
      ),
      finish("stop"),
    ],
    expected: [
      "start c m",
      "0.0 tool-call x f function signed",
      '0.0 arguments-delta "{}"',
      "0.0 end",
      "0 stop tool-calls stop",
      "end",
    ],
  },
  {
    name: "fails when the body ends inside a call",
    records: [delta('"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{"}}]')],
    expected: [
      "start c m",
      "0.0 tool-call x f function",
      '0.0 arguments-delta "{"',
      "error protocol: The provider's answer ended early.",
    ],
  },
  {
    name: "fails on [DONE] without a finish word, and ignores what follows",
    records: [delta('"content":"a"'), "[DONE]", finish("stop")],
    expected: ["start c m", "0.0 text", '0.0 text-delta "a"', "error protocol: The provider's answer ended early."],
  },
  {
    name: "fails on an empty stream",
    records: ["[DONE]"],
    expected: ["error protocol: The provider's answer ended early."],
  },
  {
    name: "ignores a second [DONE] and data after the first",
    records: [finish("stop"), "[DONE]", "[DONE]", delta('"content":"late"'), "garbage"],
    expected: ["start c m", "0 stop end stop", "end"],
  },
  {
    name: "reports an error record with its class",
    records: [
      delta('"content":"a"'),
      '{"error":{"message":"slow down","type":"rate_limit_error","code":null}}',
      delta('"content":"b"'),
    ],
    expected: ["start c m", "0.0 text", '0.0 text-delta "a"', "error rate-limit: slow down"],
  },
  {
    name: "takes a numeric code for a status",
    records: ['{"error":{"message":"x","code":503}}'],
    expected: ["error overloaded: x"],
  },
  { name: "takes a bare string for an error", records: ['{"error":"boom"}'], expected: ["error upstream-5xx: boom"] },
  {
    name: "names the place of broken JSON and shows nothing of it",
    records: ['{"id":"x","obdata: {"id":"y"}'],
    expected: ["error protocol: A record of the provider's stream is not valid JSON (byte 21)."],
  },
  {
    name: "refuses a record that is no object",
    records: ["[]"],
    expected: ["error protocol: A record of the provider's stream is no object."],
  },
  {
    name: "refuses an index that no choice can have",
    records: [delta('"content":"a"', 100_000)],
    expected: ["start c m", "error protocol: A choice of the provider's stream has an index outside 0 to 127."],
  },
  {
    name: "turns a failure in the place of a finish into an error stop",
    profile: "deepseek",
    records: [delta('"content":"a"'), finish("insufficient_system_resource")],
    expected: [
      "start c m",
      "0.0 text",
      '0.0 text-delta "a"',
      "0.0 end",
      "0 stop error insufficient_system_resource",
      "end",
    ],
  },
  {
    name: "passes over chunks without choices, and reads Azure's first one",
    profile: "azure",
    records: [
      '{"id":"","model":"","choices":[],"prompt_filter_results":[]}',
      '{"object":"x"}',
      delta('"content":"a"'),
      finish("content_filter"),
    ],
    expected: ["start  ", "0.0 text", '0.0 text-delta "a"', "0.0 end", "0 stop content-filter content_filter", "end"],
  },
];

describe("ChatStreamDecoder", () => {
  test.each(ROWS)("$name", ({ profile, records, expected }) => {
    expect(decode(records, profile)).toEqual(expected);
  });

  test("treats a record of the event `error` as an error whatever it holds", () => {
    expect(decode(['{"message":"x","type":"server_error"}'], "openai", "error")).toEqual(["error upstream-5xx: x"]);
  });

  test("bounds what it holds back at the limit and refuses one byte more", () => {
    const text = "x".repeat(MAX_PENDING_BYTES);
    const held = delta(`"tool_calls":[{"index":0,"id":"x","function":{"arguments":"${text}"}}]`);
    const more = delta('"tool_calls":[{"index":0,"function":{"arguments":"y"}}]');
    expect(decode([held, finish("stop")]).at(-1)).toBe("end");
    expect(decode([held, more]).at(-1)).toMatch(/^error protocol/);
  });

  test("never throws, ends once, and emits nothing after the end, on any records", () => {
    const piece = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom(
        "[DONE]",
        USAGE,
        finish("stop"),
        delta('"content":"a"'),
        delta('"tool_calls":[{"function":{"name":"f"}}]'),
      ),
      fc
        .record({
          choices: fc.array(fc.record({ index: fc.jsonValue(), delta: fc.jsonValue(), finish_reason: fc.jsonValue() })),
        })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (records) => {
        const lines = decode(records);
        const ends = lines.filter((line) => line === "end" || line.startsWith("error "));
        expect(ends).toHaveLength(1);
        expect(lines.at(-1)).toBe(ends[0]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("error events", () => {
  test("carry the routing rules of their class", () => {
    const errors: NeutralError[] = [];
    const compiled = compileChatProfile("openai", {});
    if (!compiled.ok) throw new Error("profile");
    const decoder = new ChatStreamDecoder(
      { profile: compiled.profile, upstreamModel: "m", headers: ["x-request-id", "u1"], count: () => {} },
      (event) => {
        if (event.type === "error") errors.push(event.error);
      },
    );
    const bytes = Buffer.from(
      '{"error":{"message":"This model\'s maximum context length is 5 tokens.","type":"invalid_request_error","param":null,"code":null}}',
    );
    decoder.push({ bytes, dataStart: 0, dataEnd: bytes.length, event: "" });
    expect(errors).toEqual([
      expect.objectContaining({
        class: "context-length",
        retrySame: false,
        fallback: "larger-window",
        upstreamRequestId: "u1",
      }),
    ]);
  });
});
