import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decodeRequest } from "./decode-request.ts";
import { decodeResponse } from "./decode-response.ts";
import { encodeRequest } from "./encode-request.ts";
import { encodeResponse } from "./encode-response.ts";
import { forwardRequest } from "./forward-request.ts";
import { observeResponse } from "./observe-stream.ts";
import { readHead } from "./read-head.ts";
import {
  answerContext,
  bodyText,
  decodeContext,
  decodeStream,
  documentOf,
  encodeStream,
  issueList,
  requestOf,
  targetOf,
} from "./test-exchange.ts";

/** Texts with visible characters, escapes and non-ASCII. */
const visible = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).map((text) => `v${text}`);
const member = <T>(name: string, value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc
    .option(value, { nil: undefined })
    .map((chosen) => (chosen === undefined ? {} : ({ [name]: chosen } as Record<string, T>)));
const merge = (...parts: fc.Arbitrary<object>[]): fc.Arbitrary<object> =>
  fc.tuple(...parts).map((objects) => Object.assign({}, ...objects) as object);

const cacheControl = member(
  "cache_control",
  fc.constantFrom({ type: "ephemeral" }, { type: "ephemeral", ttl: "5m" }, { type: "ephemeral", ttl: "1h" }),
);
const extra = member("glow", fc.constantFrom<unknown>(1, "x", { a: [true] }));
const textBlock = merge(fc.record({ type: fc.constant("text"), text: visible }), extra);
const marked = merge(fc.record({ type: fc.constant("text"), text: visible }), cacheControl);
const image = fc.record({
  type: fc.constant("image"),
  source: fc.constantFrom<object>(
    { type: "base64", media_type: "image/png", data: "QQ==" },
    { type: "url", url: "https://x.test/i" },
    { type: "file", file_id: "f" },
  ),
});
const document = merge(
  fc.record({
    type: fc.constant("document"),
    source: fc.constantFrom<object>(
      { type: "base64", media_type: "application/pdf", data: "QQ==" },
      { type: "text", media_type: "text/plain", data: "d" },
      { type: "url", url: "u" },
    ),
  }),
  member("title", visible),
  member("context", visible),
  member("citations", fc.record({ enabled: fc.boolean() })),
);
const thinking = fc.constantFrom<object>(
  { type: "thinking", thinking: "t", signature: "c2ln" },
  { type: "thinking", thinking: "", signature: "S" },
  { type: "redacted_thinking", data: "R" },
);
const strange = fc.constantFrom<object>(
  { type: "hologram", depth: 3 },
  { type: "web_search_tool_result", tool_use_id: "s", content: [] },
);

/** An assistant turn with calls, and the user turn that answers them. */
const toolTurns = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.array(thinking, { maxLength: 2 }), fc.array(textBlock, { maxLength: 1 }))
  .chain(([count, thoughts, texts]) =>
    fc
      .tuple(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), { minLength: count, maxLength: count }),
        fc.array(fc.oneof(fc.constant(undefined), visible, fc.tuple(textBlock, image)), {
          minLength: count,
          maxLength: count,
        }),
        fc.array(fc.boolean(), { minLength: count, maxLength: count }),
      )
      .map(([inputs, contents, errors]) => [
        {
          role: "assistant",
          content: [
            ...thoughts,
            ...texts,
            ...inputs.map((input, index) => ({ type: "tool_use", id: `t${index}`, name: "f", input })),
          ],
        },
        {
          role: "user",
          content: contents.map((content, index) => ({
            type: "tool_result",
            tool_use_id: `t${index}`,
            ...(content === undefined ? {} : { content }),
            ...(errors[index] === true ? { is_error: true } : {}),
          })),
        },
      ]),
  );
const plainTurns = fc
  .tuple(
    fc.array(fc.oneof(textBlock, thinking, strange), { minLength: 2, maxLength: 3 }),
    fc.array(fc.oneof(textBlock, marked, image, document, strange), { minLength: 2, maxLength: 3 }),
  )
  .map(([said, asked]) => [
    { role: "assistant", content: said },
    { role: "user", content: asked },
  ]);
const messages = fc
  .tuple(visible, fc.array(fc.oneof(toolTurns, plainTurns), { maxLength: 3 }))
  .map(([first, turns]) => [{ role: "user", content: first }, ...turns.flat()]);

const tools = fc.constant([
  { name: "f", description: "d", input_schema: { type: "object", properties: {} } },
  { type: "web_search_20250305", name: "web_search", max_uses: 3 },
]);
const body = merge(
  fc.record({ model: fc.constant("m"), max_tokens: fc.integer({ min: 2000, max: 9000 }), messages, tools }),
  member("system", fc.oneof(visible, fc.tuple(textBlock, marked))),
  member(
    "tool_choice",
    fc.constantFrom<object>(
      { type: "any" },
      { type: "none" },
      { type: "tool", name: "f", disable_parallel_tool_use: true },
      { type: "auto", disable_parallel_tool_use: true },
    ),
  ),
  member(
    "thinking",
    fc.constantFrom<object>({ type: "adaptive", display: "omitted" }, { type: "disabled" }, { type: "adaptive" }),
  ),
  member("output_config", fc.constantFrom<object>({ task_budget: { total: 5 } })),
  member("stop_sequences", fc.array(visible, { minLength: 1, maxLength: 3 })),
  member("metadata", fc.constantFrom<object>({ user_id: "u" }, { team: "t" }, { user_id: "u", team: "t" })),
  member("service_tier", fc.constant("standard_only")),
  member("speed", fc.constant("fast")),
  member("stream", fc.constant(true)),
  member("container", fc.constant("c")),
  member(
    "new_member",
    fc.jsonValue().filter((value) => value !== null),
  ),
);

/** `is_error:false`, and a list of one plain text, are other spellings of the same. */
const normalized = (value: unknown): unknown => {
  const text = JSON.stringify(value, (name, inner: unknown) => {
    const isOnlyText = name === "content" && Array.isArray(inner) && inner.length === 1 && isPlainText(inner[0]);
    return isOnlyText ? (inner[0] as { text: string }).text : inner;
  });
  return JSON.parse(text) as unknown;
};
const isPlainText = (block: unknown): boolean =>
  typeof block === "object" &&
  block !== null &&
  "type" in block &&
  block.type === "text" &&
  Object.keys(block).length === 2;

describe("requests", () => {
  it("come out of the neutral form as they went in", () => {
    fc.assert(
      fc.property(body, (wanted) => {
        const encoded = encodeRequest(requestOf(wanted), targetOf({ model: "m", allow: ["cache_hint"] }));
        expect(issueList(encoded).filter((issue) => !issue.startsWith("cache_hint"))).toEqual([]);
        // More than four marks: the surplus goes.
        fc.pre(issueList(encoded).length === 0);
        expect(normalized(JSON.parse(bodyText(encoded)))).toEqual(normalized(wanted));
      }),
      { numRuns: 300 },
    );
  });

  it("keep version and betas of the client", () => {
    const headers = ["anthropic-version", "2026-10-21", "anthropic-beta", "b-1"];
    const neutral = requestOf(
      { model: "m", max_tokens: 5, messages: [{ role: "user", content: "x" }] },
      "generate",
      headers,
    );
    const encoded = encodeRequest(neutral, targetOf());
    expect(encoded.ok && encoded.encoded.headers).toEqual(headers);
  });

  it("move large texts as slices of the client's bytes", () => {
    const source = documentOf({
      model: "m",
      max_tokens: 5,
      messages: [{ role: "user", content: "x".repeat(1_000_000) }],
    });
    const head = readHead(source);
    if (!head.ok) throw new Error("refused");
    const decoded = decodeRequest(source, head.head, { operation: "generate", path: "", query: "", captures: {} }, []);
    const encoded = decoded.ok ? encodeRequest(decoded.request, targetOf()) : null;
    if (encoded?.ok !== true) throw new Error("refused");
    const shared = encoded.encoded.body.parts.filter((part) => part.buffer === source.bytes.buffer);
    expect(shared.reduce((sum, part) => sum + part.length, 0)).toBe(1_000_000);
  });
});

describe("whatever comes", () => {
  const anything = fc.jsonValue({ maxDepth: 4 });
  const names = [
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "metadata",
    "stop_sequences",
    "stream",
    "cache_control",
    "thread",
  ];
  const inner = fc.dictionary(
    fc.constantFrom(
      "type",
      "text",
      "role",
      "content",
      "source",
      "id",
      "name",
      "input",
      "signature",
      "data",
      "citations",
    ),
    fc.oneof(
      anything,
      fc.constantFrom(
        "text",
        "image",
        "document",
        "thinking",
        "tool_use",
        "tool_result",
        "user",
        "assistant",
        "system",
        "base64",
      ),
    ),
  );
  const request = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(
      anything,
      inner,
      fc.array(inner),
      fc.array(fc.record({ role: fc.constantFrom("user", "assistant"), content: fc.array(inner) })),
    ),
  );

  it("as a request, gives a value and never throws", () => {
    fc.assert(
      fc.property(request, (value) => {
        const source = documentOf({ model: "m", max_tokens: 10, ...value });
        const head = readHead(source);
        if (!head.ok) return;
        const route = { operation: "generate" as const, path: "", query: "", captures: {} };
        const decoded = decodeRequest(source, head.head, route, []);
        const encoded = decoded.ok ? encodeRequest(decoded.request, targetOf()) : decoded;
        expect(typeof encoded.ok).toBe("boolean");
        expect(forwardRequest(source, head.head, "generate", [], targetOf()).issues).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  it("as an answer, gives a value and never throws", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anything,
          fc.record({
            content: fc.array(inner),
            stop_reason: fc.oneof(anything, fc.constant("end_turn")),
            usage: anything,
          }),
        ),
        (value) => {
          const decoded = decodeResponse(documentOf(JSON.stringify(value)), decodeContext());
          const encoded = decoded.ok ? encodeResponse(decoded.response, answerContext()) : decoded;
          expect(typeof encoded.ok).toBe("boolean");
          expect(observeResponse(documentOf(JSON.stringify(value)), decodeContext())).toBeDefined();
        },
      ),
      { numRuns: 500 },
    );
  });

  it("as a stream, ends exactly once", () => {
    const event = fc.record({
      type: fc.constantFrom(
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
      ),
      index: fc.constantFrom<unknown>(0, 1, "x", null),
      message: inner,
      content_block: fc.oneof(
        inner,
        fc.constantFrom(
          { type: "text", text: "" },
          { type: "tool_use", id: "a", name: "f", input: {} },
          { type: "thinking", thinking: "x" },
        ),
      ),
      delta: fc.oneof(
        inner,
        fc.constantFrom<object>(
          { type: "text_delta", text: "x" },
          { type: "input_json_delta", partial_json: "{" },
          { stop_reason: "end_turn" },
        ),
      ),
      usage: anything,
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (records) => {
        const events = decodeStream(records.map((record) => JSON.stringify(record)));
        expect(events.filter(({ type }) => type === "end" || type === "error")).toHaveLength(1);
        const decoded = events.map((item) =>
          "text" in item && typeof item.text === "string" ? { ...item, text: "x" } : item,
        );
        const written = encodeStream(decoded);
        const closing = written.filter((record) => /^\{"type":"(?:error|message_stop)"/.test(record));
        expect(closing).toHaveLength(1);
        expect(written.at(-1)).toBe(closing[0]);
      }),
      { numRuns: 500 },
    );
  });
});
