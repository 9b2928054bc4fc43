// The worked examples of the translation between the dialects of this package, from client bytes to upstream bytes and back. JSON is
// compared by value with the spelling of numbers, streams record by record.
import { describe, expect, test } from "vitest";

import { expandLossy, mergeCapabilities, RecordFlag } from "@dragoman/core";
import type { CapabilityOverrides, NeutralError } from "@dragoman/core";

import {
  answerContextOf,
  bodyOf,
  decodeContextOf,
  encodeEvents,
  mustRead,
  readChunks,
  targetOf,
} from "../src/testing/exchange.ts";
import { documentOf, spelledJson } from "../src/testing/spelled-json.ts";
import type { DialectSubject } from "../src/testing/subject.ts";
import { anthropicSubject } from "../src/subjects/anthropic-subject.ts";
import { blockOf, readFixture, recordsOf, wireOf } from "./fixture.ts";
import { openaiChatSubject, withProfile } from "../src/subjects/openai-chat-subject.ts";

const SUBJECTS: Readonly<Record<string, DialectSubject>> = {
  "openai-chat": openaiChatSubject,
  anthropic: anthropicSubject,
};

function subjectOf(dialect: string, profile?: string): DialectSubject {
  const subject = SUBJECTS[dialect];
  if (subject === undefined) throw new Error(dialect);
  return profile === undefined ? subject : withProfile(profile);
}

/** What an upstream's answer is read with, and what the client's request asked for. */
interface AnswerRow {
  readonly id: string;
  readonly name: string;
  /** Profile of the upstream; its dialect's own when absent. */
  readonly profile?: string;
  /** Members of the client's request beside model and messages. */
  readonly asked?: Readonly<Record<string, unknown>>;
}

function factsOf(client: DialectSubject, asked: Readonly<Record<string, unknown>> = {}): unknown {
  const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "x" }], ...asked };
  return mustRead(client, JSON.stringify(body)).head.facts;
}

interface RequestRow {
  readonly id: string;
  readonly name: string;
  readonly allow: readonly string[];
  readonly capabilities?: CapabilityOverrides;
  readonly codes: readonly string[];
  readonly headers: readonly string[];
}

const VERSION = "anthropic-version";

const REQUESTS: readonly RequestRow[] = [
  { id: "X01", name: "sampling needs the old version", allow: [], codes: [], headers: [VERSION, "2023-06-01"] },
  {
    id: "X02",
    name: "parallel calls are answered in call order",
    allow: [],
    codes: ["max_tokens_defaulted"],
    headers: [VERSION, "2026-10-21"],
  },
  {
    id: "X06",
    name: "a budget becomes an effort",
    allow: ["@hints"],
    capabilities: { explicitCache: false },
    codes: ["cache_hint", "text_prefixed", "effort_mapped"],
    headers: [],
  },
];

describe("requests", () => {
  test.each(REQUESTS)("$id: $name", ({ id, allow, capabilities, codes, headers }) => {
    const blocks = readFixture(id);
    const asked = blockOf(blocks, "client-request");
    const expected = blockOf(blocks, "upstream-request");
    const target = subjectOf(expected.dialect);
    const { request } = mustRead(subjectOf(asked.dialect), asked.text);
    const deployment = {
      ...targetOf(target, expandLossy(allow).codes),
      capabilities: mergeCapabilities(target.capabilities, capabilities ?? {}),
    };
    const result = target.provider.encodeRequest(request, deployment);
    expect(result.issues.filter(({ severity }) => severity === "reject")).toEqual([]);
    expect(spelledJson(bodyOf(result) as Buffer)).toEqual(spelledJson(expected.text));
    expect(result.issues.map(({ code }) => code)).toEqual(expect.arrayContaining([...codes]));
    expect(result.ok && result.encoded.headers).toEqual(headers);
  });

  test("X32: a dry run names every code with its place", () => {
    const blocks = readFixture("X32");
    const asked = blockOf(blocks, "client-request");
    const refusal = blockOf(blocks, "refusal");
    const target = subjectOf(refusal.dialect);
    const { request } = mustRead(subjectOf(asked.dialect), asked.text);
    const result = target.provider.encodeRequest(request, targetOf(target, new Set()));
    expect(result.ok).toBe(false);
    const refused = result.issues
      .filter(({ severity }) => severity !== "adapt")
      .map(({ code, path }) => `${code} ${path}`);
    expect(refused.sort()).toEqual(JSON.parse(refusal.text));
  });

  test.each([
    { id: "X37", name: "a token count keeps what it knows", operation: "count-tokens", path: "/messages/count_tokens" },
    { id: "X38", name: "usage is asked for, unknown members pass", operation: "generate", path: "/chat/completions" },
  ] as const)("$id: $name", ({ id, operation, path }) => {
    const blocks = readFixture(id);
    const asked = blockOf(blocks, "client-request");
    const expected = blockOf(blocks, "upstream-request");
    const subject = subjectOf(asked.dialect);
    const { document, head } = mustRead(subject, asked.text);
    const result = subject.provider.forwardRequest(document, head, operation, [], targetOf(subject, new Set()));
    // Forwarding keeps the client's bytes, so the text is compared.
    expect(bodyOf(result)?.toString()).toBe(expected.text);
    expect(result.ok && result.encoded.path).toBe(path);
    expect(result.issues).toEqual([]);
  });
});

const ANSWERS: readonly AnswerRow[] = [
  { id: "X15", name: "thinking, text and a call" },
  {
    id: "X16",
    name: "DeepSeek's cache hits, reasoning and stop word",
    profile: "deepseek",
    asked: { thinking: { type: "adaptive", display: "summarized" } },
  },
  { id: "X20", name: "a refusal with an explanation" },
];

describe("complete answers", () => {
  test.each(ANSWERS)("$id: $name", ({ id, profile, asked }) => {
    const blocks = readFixture(id);
    const given = blockOf(blocks, "upstream-response");
    const expected = blockOf(blocks, "client-response");
    const upstream = subjectOf(given.dialect, profile);
    const client = subjectOf(expected.dialect);
    const decoded = upstream.provider.decodeResponse(documentOf(given.text), decodeContextOf(upstream));
    if (!decoded.ok) throw new Error(decoded.error.message);
    const answer = client.client.encodeResponse(decoded.response, answerContextOf(factsOf(client, asked)));
    if (!answer.ok) throw new Error(answer.error.message);
    expect(spelledJson(answer.body)).toEqual(spelledJson(expected.text));
  });

  test("X37: a token count passes", () => {
    const blocks = readFixture("X37");
    const { provider, client } = subjectOf("anthropic");
    const counted = provider.decodeTokenCount(documentOf(blockOf(blocks, "upstream-response").text));
    if (!counted.ok) throw new Error(counted.error.message);
    expect(Buffer.from(client.encodeTokenCount(counted.count)).toString()).toBe(
      blockOf(blocks, "client-response").text,
    );
  });
});

const STREAMS: readonly AnswerRow[] = [
  { id: "X21", name: "text with usage", asked: { stream: true, stream_options: { include_usage: true } } },
  { id: "X22", name: "calls are counted, not blocks", asked: { stream: true } },
  { id: "X23", name: "interleaved calls become blocks in sequence", asked: { stream: true } },
  {
    id: "X30",
    name: "a Groq stream is normalised",
    profile: "groq",
    asked: { stream: true, stream_options: { include_usage: true } },
  },
];

describe("streams", () => {
  test.each(STREAMS)("$id: $name", ({ id, profile, asked }) => {
    const blocks = readFixture(id);
    const given = blockOf(blocks, "upstream-stream");
    const expected = blockOf(blocks, "client-stream");
    const upstream = subjectOf(given.dialect, profile);
    const client = subjectOf(expected.dialect);
    const written: Buffer[] = [];
    const encoder = client.client.createStreamEncoder(answerContextOf(factsOf(client, asked)), (bytes) => {
      written.push(Buffer.from(bytes));
    });
    const decoder = upstream.provider.createStreamDecoder(decodeContextOf(upstream), (event) => {
      expect(encoder.encode(event)).toBeNull();
    });
    readChunks("sse", [wireOf(given)], (record) => {
      decoder.push(record);
    });
    decoder.finish();
    expect(recordsOf(Buffer.concat(written))).toEqual(recordsOf(wireOf(expected)));
  });

  test("X38: a usage record that the client did not ask for is left out, all else is forwarded as it is", () => {
    const blocks = readFixture("X38");
    const subject = subjectOf("openai-chat");
    const { head } = mustRead(subject, blockOf(blocks, "client-request").text);
    const observer = subject.provider.createStreamObserver(decodeContextOf(subject), head);
    const forwarded: Buffer[] = [];
    readChunks("sse", [wireOf(blockOf(blocks, "upstream-stream"))], (record) => {
      if ((observer.observe(record) & RecordFlag.forward) === 0) return;
      forwarded.push(Buffer.from(record.bytes.slice(record.rawStart, record.rawEnd)));
    });
    expect(Buffer.concat(forwarded).toString()).toBe(wireOf(blockOf(blocks, "client-stream")).toString());
    expect(observer.finish()).toBeNull();
    expect(observer.usage).toMatchObject({ input: 3, output: 1 });
  });
});

describe("errors", () => {
  test("X31: an overload that is told in the first record is an error like any other", () => {
    const blocks = readFixture("X31");
    const given = blockOf(blocks, "upstream-stream");
    const expected = blockOf(blocks, "client-response");
    const upstream = subjectOf(given.dialect);
    const errors: NeutralError[] = [];
    const others: string[] = [];
    const decoder = upstream.provider.createStreamDecoder(decodeContextOf(upstream), (event) => {
      if (event.type === "error") errors.push(event.error);
      else others.push(event.type);
    });
    readChunks("sse", [wireOf(given)], (record) => {
      decoder.push(record);
    });
    decoder.finish();
    expect(others).toEqual([]);
    expect(errors).toHaveLength(1);
    const answer = subjectOf(expected.dialect).client.encodeError(errors[0] as NeutralError, {
      requestId: "req_t1",
      hasFallenBack: false,
    });
    expect(answer.status).toBe(expected.status);
    expect(spelledJson(answer.body)).toEqual(spelledJson(expected.text));
    expect(answer.headers).toEqual(expect.arrayContaining(["x-should-retry", "true"]));
  });

  test("X34: an empty account at the provider is the operator's affair", () => {
    const blocks = readFixture("X34");
    const given = blockOf(blocks, "upstream-response");
    const expected = blockOf(blocks, "client-response");
    const upstream = subjectOf(given.dialect);
    const error = upstream.provider.classifyError(
      { status: given.status, headers: [], body: Buffer.from(given.text), nowMs: 0 },
      decodeContextOf(upstream),
    );
    expect(error).toMatchObject({ class: "quota", origin: "upstream", retrySame: false, fallback: true });
    const answer = subjectOf(expected.dialect).client.encodeError(error, { requestId: "req_t1", hasFallenBack: false });
    expect(answer.status).toBe(expected.status);
    expect(spelledJson(answer.body)).toEqual(spelledJson(expected.text));
  });

  test.each(["openai-chat", "anthropic"])("X35: a lost connection ends the %s stream with its error", (dialect) => {
    const expected = readFixture("X35").find((block) => block.dialect === dialect);
    const { client } = subjectOf(dialect);
    const lost: NeutralError = {
      class: "network",
      origin: "upstream",
      message: "socket hang up",
      retrySame: false,
      fallback: false,
    };
    const context = answerContextOf(factsOf(subjectOf(dialect)));
    const { chunks } = encodeEvents(client, context, [
      { type: "start", id: "u", model: "up-model" },
      { type: "part-start", candidate: 0, part: 0, head: { type: "text" } },
      { type: "text-delta", candidate: 0, part: 0, text: "Hi" },
      { type: "error", error: lost },
    ]);
    const records = recordsOf(Buffer.concat(chunks));
    expect(records.at(-1)).toEqual(recordsOf(wireOf(expected ?? blockOf([], dialect)))[0]);
    expect(Buffer.concat(chunks).toString()).toContain('"Hi"');
    // A forwarded stream gets the same record.
    expect(recordsOf(client.encodeStreamError(lost, { requestId: "req_t1" }))).toEqual([records.at(-1)]);
  });
});
