import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { concat, DEFAULT_CAPABILITIES, mergeCapabilities, ResponseAssembler, textToString } from "@dragoman/core";
import type { AnswerContext, Capabilities, EncodeTarget, StreamEvent } from "@dragoman/core";

import { documentOf } from "../testing/spelled-json.ts";
import { openaiChatClient } from "./client.ts";
import { compileChatProfile } from "./compile-profile.ts";
import { openaiChatProvider } from "./provider.ts";
import type { ChatFacts } from "./read-head.ts";

const EVERYTHING: Capabilities = mergeCapabilities(DEFAULT_CAPABILITIES, {
  input: { image: true, imageUrl: true, audio: true, pdf: true },
  output: { audio: true },
  maxN: 128,
  tools: { strict: true, custom: true },
  structured: { jsonSchema: true },
  reasoning: { support: true, efforts: ["none", "minimal", "low", "medium", "high", "xhigh", "max"] },
  explicitCache: true,
});

const ROUTE = { operation: "generate", path: "/v1/chat/completions", query: "", captures: {} } as const;

function target(): EncodeTarget {
  const compiled = compileChatProfile("openai", {});
  if (!compiled.ok) throw new Error("profile");
  return {
    deploymentId: "d",
    kind: "openai",
    model: "m",
    capabilities: EVERYTHING,
    profile: compiled.profile,
    lossyAllow: new Set(),
    options: {},
    isOnlyAccount: false,
  };
}

function throughNeutral(text: string): unknown {
  const document = documentOf(text);
  const reading = openaiChatClient.readHead(document, ROUTE);
  if (!reading.ok) throw new Error(reading.error.message);
  const decoded = openaiChatClient.decodeRequest(document, reading.head, ROUTE, []);
  if (!decoded.ok) throw new Error(`${decoded.error.param}: ${decoded.error.message}`);
  const result = openaiChatProvider.encodeRequest(decoded.request, target());
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return JSON.parse(Buffer.from(concat(result.encoded.body)).toString());
}

const anyText = fc.string({ minLength: 1, unit: "binary" });
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/);
const mark = fc.constantFrom({}, { prompt_cache_breakpoint: { mode: "explicit" } });
const vendor = fc.constantFrom({}, { vendor_x: { a: [1, "é"] } });
const textPart = fc
  .tuple(anyText, mark, vendor)
  .map(([text, marks, extra]) => ({ type: "text", text, ...marks, ...extra }));
const imagePart = fc.constantFrom(
  { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0K" } },
  { type: "image_url", image_url: { url: "https://example.test/a.png", detail: "low" } },
);
const otherPart = fc.constantFrom(
  { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
  { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0x", filename: "a.pdf" } },
  { type: "file", file: { file_id: "file-1" } },
  { type: "vendor_part", vendor: true },
);
const userContent = fc.oneof(
  anyText,
  fc.array(fc.oneof(textPart, imagePart, otherPart), { minLength: 2, maxLength: 4 }),
);

/** One exchange: a user turn, an assistant turn, and results where it called tools. */
const exchange = fc.record({
  user: userContent,
  userExtra: vendor,
  text: anyText,
  calls: fc.uniqueArray(fc.record({ name, arguments: fc.json(), isCustom: fc.boolean() }), { maxLength: 3 }),
  result: anyText,
  extra: vendor,
});

const request = fc
  .record({
    system: fc.option(fc.oneof(anyText, fc.array(textPart, { minLength: 2, maxLength: 3 })), { nil: undefined }),
    role: fc.constantFrom("system", "developer"),
    exchanges: fc.array(exchange, { minLength: 1, maxLength: 3 }),
    members: fc.record(
      {
        temperature: fc.constantFrom(0, 0.5, 1, 2),
        top_p: fc.constantFrom(0.1, 1),
        max_completion_tokens: fc.integer({ min: 1, max: 100_000 }),
        seed: fc.integer(),
        n: fc.integer({ min: 2, max: 8 }),
        stop: fc.array(anyText, { minLength: 1, maxLength: 4 }),
        reasoning_effort: fc.constantFrom("none", "low", "xhigh"),
        verbosity: fc.constantFrom("low", "high"),
        metadata: fc.dictionary(name, anyText, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
        user: anyText,
        safety_identifier: name,
        service_tier: fc.constantFrom("default", "flex", "vendor_tier"),
        store: fc.constant(true),
        prompt_cache_key: anyText,
        prompt_cache_options: fc.constantFrom({ mode: "explicit" }, { mode: "explicit", ttl: "30m" }),
        logit_bias: fc.constant({ "50256": -100 }),
        presence_penalty: fc.constantFrom(-2, 0.5),
        prediction: fc.constant({ type: "content", content: "x" }),
        web_search_options: fc.constant({}),
        moderation: fc.constant({ model: "x" }),
        vendor_member: fc.jsonValue().filter((value) => value !== null),
        response_format: fc.constantFrom(
          { type: "json_object" },
          { type: "json_schema", json_schema: { name: "o", schema: { type: "object" }, strict: true } },
        ),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ system, role, exchanges, members }) => {
    const messages: unknown[] = system === undefined ? [] : [{ role, content: system }];
    let id = 0;
    for (const { user, userExtra, text, calls, result, extra } of exchanges) {
      messages.push({ role: "user", content: user, ...userExtra });
      const toolCalls = calls.map((call) => {
        id++;
        return call.isCustom
          ? { id: `call_${id}`, type: "custom", custom: { name: call.name, input: call.arguments } }
          : { id: `call_${id}`, type: "function", function: { name: call.name, arguments: call.arguments }, ...extra };
      });
      messages.push({
        role: "assistant",
        content: text,
        ...(toolCalls.length === 0 ? null : { tool_calls: toolCalls }),
      });
      for (const call of toolCalls) messages.push({ role: "tool", tool_call_id: call.id, content: result });
      if (toolCalls.length > 0) messages.push({ role: "assistant", content: text });
    }
    return { model: "m", messages, ...members };
  });

describe("round trips through the neutral form", () => {
  test("a request of this dialect comes out as it went in", () => {
    fc.assert(
      fc.property(request, (body) => {
        const json = JSON.stringify(body);
        expect(throughNeutral(json)).toEqual(JSON.parse(json));
      }),
      { numRuns: 300 },
    );
  });

  test("keeps the bytes of large texts, numbers and escapes", () => {
    const big = "x".repeat(1_000_000);
    const document = documentOf(
      `{"model":"m","temperature":1.0,"seed":12345678901234567890,"messages":[{"role":"user","content":"${big}\\u00e9"}]}`,
    );
    const reading = openaiChatClient.readHead(document, ROUTE);
    if (!reading.ok) throw new Error("head");
    const decoded = openaiChatClient.decodeRequest(document, reading.head, ROUTE, []);
    if (!decoded.ok) throw new Error("decode");
    const result = openaiChatProvider.encodeRequest(decoded.request, target());
    if (!result.ok) throw new Error("encode");
    const body = Buffer.from(concat(result.encoded.body)).toString();
    expect(body).toContain('"temperature":1.0,"seed":12345678901234567890');
    expect(body).toContain(String.raw`x\u00e9"`);
    const shared = result.encoded.body.parts.filter((part) => part.buffer === document.bytes.buffer);
    expect(shared.reduce((sum, part) => sum + part.length, 0)).toBeGreaterThanOrEqual(1_000_000);
  });
});

function context(includeUsage: boolean): AnswerContext<ChatFacts> {
  return {
    requestId: "r",
    createdSeconds: 1,
    makeId: (prefix) => `${prefix}1`,
    facts: { includeUsage, usesDeprecatedFunctions: false, n: 1 },
    upstreamModel: "m",
    toolMap: null,
    options: {},
    count: () => {},
  };
}

/** Fragments of a stream: what one choice says, in pieces. */
const pieces = fc.array(
  fc.oneof(
    anyText.map((text) => ({ kind: "text", text }) as const),
    anyText.map((text) => ({ kind: "reasoning", text }) as const),
    fc.record({ kind: fc.constant("call" as const), name, text: fc.json() }),
  ),
  { minLength: 1, maxLength: 6 },
);

describe("round trips of streams", () => {
  test("decoding what was encoded gives the same answer, however events were cut", () => {
    fc.assert(
      fc.property(pieces, fc.boolean(), (parts, includeUsage) => {
        const events: StreamEvent[] = [{ type: "start", id: "u", model: "m" }];
        parts.forEach((piece, part) => {
          if (piece.kind === "call") {
            events.push({
              type: "part-start",
              candidate: 0,
              part,
              head: { type: "tool-call", id: `c${part}`, name: piece.name, kind: "function" },
            });
            const middle = Math.floor(piece.text.length / 2);
            for (const text of [piece.text.slice(0, middle), piece.text.slice(middle)])
              events.push({ type: "arguments-delta", candidate: 0, part, text, encoded: true });
          } else if (piece.kind === "text") {
            events.push({ type: "part-start", candidate: 0, part, head: { type: "text" } });
            events.push({ type: "text-delta", candidate: 0, part, text: piece.text });
          } else {
            events.push({ type: "part-start", candidate: 0, part, head: { type: "reasoning", form: "raw" } });
            events.push({ type: "reasoning-delta", candidate: 0, part, text: piece.text });
          }
          events.push({ type: "part-end", candidate: 0, part });
        });
        events.push({ type: "stop", candidate: 0, stop: { reason: "end", raw: "stop" } });
        events.push(
          { type: "usage", usage: { input: 3, output: 2, source: "upstream", final: true } },
          { type: "end" },
        );
        const written: Buffer[] = [];
        const encoder = openaiChatClient.createStreamEncoder(context(includeUsage), (bytes) => {
          written.push(Buffer.from(bytes));
        });
        for (const event of events) expect(encoder.encode(event)).toBeNull();

        const profile = compileChatProfile("openai", {});
        if (!profile.ok) throw new Error("profile");
        const assembler = new ResponseAssembler();
        const decoder = openaiChatProvider.createStreamDecoder(
          { profile: profile.profile, upstreamModel: "m", headers: [], count: () => {} },
          (event) => {
            assembler.add(event);
          },
        );
        for (const record of written) {
          expect(record.toString().endsWith("\n\n")).toBe(true);
          decoder.push({ bytes: record, dataStart: 6, dataEnd: record.length - 2, event: "" });
        }
        decoder.finish();
        const response = assembler.response();
        const decoded = (response.candidates[0]?.parts ?? []).map((part) => {
          if (part.type === "text") return textToString(part.text);
          if (part.type === "tool-call")
            return `${textToString(part.id)} ${textToString(part.name)} ${textToString(part.arguments.text as string)}`;
          return part.type === "reasoning" ? part.texts.map((text) => textToString(text)).join("") : "";
        });
        expect(decoded.filter((_, index) => response.candidates[0]?.parts[index]?.type === "tool-call")).toEqual(
          parts.flatMap((piece, part) => (piece.kind === "call" ? [`c${part} ${piece.name} ${piece.text}`] : [])),
        );
        const joined = decoded.filter((_, index) => response.candidates[0]?.parts[index]?.type === "text").join("");
        expect(joined).toBe(parts.flatMap((piece) => (piece.kind === "text" ? [piece.text] : [])).join(""));
        expect(response.usage?.input).toBe(includeUsage ? 3 : undefined);
      }),
      { numRuns: 200 },
    );
  });
});
