import { describe, expect, it } from "vitest";

import { isGatewayError } from "../errors/index.ts";
import type { NeutralResponse, StreamEvent } from "../ir/index.ts";
import { scan, type Document } from "../json/index.ts";
import { defineClientDialect, defineProviderDialect } from "./define.ts";
import {
  RecordFlag,
  type DecodeContext,
  type EncodeTarget,
  type ProviderDialect,
  type StreamRecord,
} from "./provider-dialect.ts";
import type { RequestHead } from "./client-dialect.ts";

const documentOf = (text: string): Document => {
  const result = scan(Buffer.from(text));
  if (!result.ok) throw new Error(result.error.message);
  return result.document;
};

const DOCUMENT = documentOf("{}");
const CONTEXT: DecodeContext = { profile: {}, upstreamModel: "m", headers: [], count: () => {} };
// Doors that have defaults look at neither.
const TARGET = {} as EncodeTarget;
const HEAD: RequestHead = { model: "m", modelNode: 0, stream: true, facts: null };

const RESPONSE: NeutralResponse = {
  candidates: [{ index: 0, parts: [], stop: { reason: "end", raw: "eos" } }],
  usage: { input: 1, output: 2, source: "upstream", final: true },
  extensions: [],
};

/** Records are events: one letter each. */
const EVENTS: Readonly<Record<string, StreamEvent>> = {
  s: { type: "part-start", candidate: 0, part: 0, head: { type: "text" } },
  t: { type: "text-delta", candidate: 0, part: 0, text: "x" },
  n: { type: "text-delta", candidate: 0, part: 0, text: "" },
  c: { type: "part-start", candidate: 0, part: 1, head: { type: "tool-call", id: "1", name: "f", kind: "function" } },
  p: { type: "stop", candidate: 0, stop: { reason: "end", raw: "eos" } },
  u: { type: "usage", usage: { input: 3, output: 4, source: "upstream", final: true } },
  e: { type: "end" },
  x: {
    type: "error",
    error: { class: "overloaded", origin: "upstream", message: "full", retrySame: true, fallback: true },
  },
};

const doors: Pick<ProviderDialect, "encodeRequest" | "decodeResponse" | "createStreamDecoder" | "classifyError"> = {
  encodeRequest: () => ({ ok: false, issues: [] }),
  decodeResponse: () => ({ ok: true, response: RESPONSE }),
  createStreamDecoder: (_context, emit) => ({
    isStopped: false,
    push: ({ bytes, dataStart, dataEnd }) => {
      for (const letter of Buffer.from(bytes.subarray(dataStart, dataEnd)).toString("latin1")) {
        const event = EVENTS[letter];
        if (event !== undefined) emit(event);
      }
    },
    finish: () => {
      const event = EVENTS["x"];
      if (event !== undefined) emit(event);
    },
  }),
  classifyError: () => ({ class: "quota", origin: "upstream", message: "", retrySame: false, fallback: true }),
};

const record = (letters: string): StreamRecord => {
  const bytes = Buffer.from(letters, "latin1");
  return { bytes, dataStart: 0, dataEnd: bytes.length, event: "" };
};

const problemsOf = (define: () => unknown): unknown => {
  try {
    define();
    return [];
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    expect(error.code).toBe("state_violation");
    const { problems } = error.details ?? {};
    for (const problem of problems as readonly string[]) expect(error.message).toContain(problem);
    return problems;
  }
};

describe("a provider dialect of which only the needed doors were written", () => {
  const dialect = defineProviderDialect({ id: "small", ...doors });

  it("generates, over event streams, and makes no signatures", () => {
    expect(dialect).toMatchObject({ id: "small", operations: ["generate"], framing: "sse", signatureOrigins: [] });
    expect(dialect.normalizesAnswers({})).toBe(true);
    expect(Object.isFrozen(dialect) && Object.isFrozen(dialect.operations)).toBe(true);
  });

  it("forwards nothing and counts nothing, and says so", () => {
    expect(dialect.forwardRequest(DOCUMENT, HEAD, "generate", [], TARGET)).toMatchObject({
      ok: false,
      issues: [{ code: "capability_missing", severity: "reject", path: "" }],
    });
    expect(dialect.decodeTokenCount(DOCUMENT)).toMatchObject({ ok: false, error: { class: "protocol" } });
  });

  it("has one profile without members", () => {
    expect(dialect.compileProfile("default", {})).toEqual({ ok: true, profile: {} });
    expect(dialect.compileProfile("other", {})).toMatchObject({ ok: false, problems: [{ path: "" }] });
    expect(dialect.compileProfile("default", { a: 1 })).toMatchObject({ ok: false, problems: [{ path: "/a" }] });
  });

  it("observes answers by decoding them", () => {
    expect(dialect.observeResponse(DOCUMENT, CONTEXT)).toEqual({ ok: true, usage: RESPONSE.usage, stopWord: "eos" });
    expect(dialect.readUsage(DOCUMENT, CONTEXT)).toEqual(RESPONSE.usage);
  });

  it("passes a broken answer on as its decoder sees it", () => {
    const error = { class: "protocol", origin: "upstream", message: "", retrySame: true, fallback: true } as const;
    const broken = defineProviderDialect({ id: "small", ...doors, decodeResponse: () => ({ ok: false, error }) });
    expect(broken.observeResponse(DOCUMENT, CONTEXT)).toEqual({ ok: false, error });
    expect(broken.readUsage(DOCUMENT, CONTEXT)).toBeNull();
  });

  it.each([
    { name: "an opening", letters: "s", flags: RecordFlag.forward },
    { name: "an empty text", letters: "n", flags: RecordFlag.forward },
    { name: "a text", letters: "t", flags: RecordFlag.forward | RecordFlag.content | RecordFlag.output },
    { name: "a call", letters: "c", flags: RecordFlag.forward | RecordFlag.content | RecordFlag.output },
    { name: "a stop and the end", letters: "pe", flags: RecordFlag.forward | RecordFlag.content | RecordFlag.end },
    { name: "an error", letters: "x", flags: RecordFlag.error },
  ])("observes $name in a stream by decoding it", ({ letters, flags }) => {
    expect(dialect.createStreamObserver(CONTEXT, HEAD).observe(record(letters))).toBe(flags);
  });

  it("keeps usage, stop word and error of a stream, and ignores what follows the end", () => {
    const ended = dialect.createStreamObserver(CONTEXT, HEAD);
    ended.observe(record("stupe"));
    expect([ended.observe(record("t")), ended.finish()]).toEqual([0, null]);
    expect(ended).toMatchObject({ usage: { input: 3, output: 4 }, stopWord: "eos", error: null, isStopped: false });
    const cut = dialect.createStreamObserver(CONTEXT, HEAD);
    cut.observe(record("st"));
    expect(cut.finish()).toMatchObject({ class: "overloaded" });
    expect(cut.error).toMatchObject({ class: "overloaded" });
  });
});

describe("a definition", () => {
  it("is called on the author's own object", () => {
    const author = {
      id: "counting",
      calls: 0,
      ...doors,
      encodeRequest() {
        this.calls += 1;
        return { ok: false, issues: [] } as const;
      },
    };
    defineProviderDialect(author).encodeRequest({} as never, TARGET);
    expect(author.calls).toBe(1);
  });

  it.each([
    { id: "Ollama", problem: /^id must be lower-case words/ },
    { id: "a_b", problem: /^id must be/ },
    { id: "-a", problem: /^id must be/ },
    { id: "a-", problem: /^id must be/ },
    { id: "", problem: /^id must be/ },
    { id: "a".repeat(65), problem: /at most 64 characters$/ },
  ])("with the id $id is refused", ({ id, problem }) => {
    expect(problemsOf(() => defineProviderDialect({ id, ...doors }))).toEqual([expect.stringMatching(problem)]);
  });

  it.each(["a", "a1-b2", "a".repeat(64)])("with the id %s is accepted", (id) => {
    expect(problemsOf(() => defineProviderDialect({ id, ...doors }))).toEqual([]);
  });

  it.each<{ readonly name: string; readonly change: object; readonly problems: readonly string[] }>([
    { name: "a missing door", change: { classifyError: undefined }, problems: ["classifyError is missing"] },
    { name: "a door that is no function", change: { encodeRequest: 1 }, problems: ["encodeRequest is not a function"] },
    { name: "a default that is no function", change: { readUsage: 1 }, problems: ["readUsage is not a function"] },
    {
      name: "a misspelled door",
      change: { clasifyError: () => null },
      problems: ["clasifyError is no door of a dialect"],
    },
    { name: "an unknown framing", change: { framing: "xml" }, problems: ['framing must be "sse" or "ndjson"'] },
    {
      name: "an operation twice",
      change: { operations: ["embed", "embed"] },
      problems: ["operations names one twice"],
    },
    {
      name: "no operation",
      change: { operations: [] },
      problems: ['operations must be a list of "generate", "count-tokens", "embed"'],
    },
    {
      name: "counting without a reader of counts",
      change: { operations: ["count-tokens"] },
      problems: ['decodeTokenCount and the operation "count-tokens" belong together'],
    },
    {
      name: "origins that are no list",
      change: { signatureOrigins: "g" },
      problems: ["signatureOrigins must be a list of texts"],
    },
    {
      name: "no profile",
      change: { profiles: {} },
      problems: ["profiles must be an object with at least one profile"],
    },
    {
      name: "profiles twice",
      change: { profiles: { a: {} }, compileProfile: () => null },
      problems: ["profiles and compileProfile exclude each other"],
    },
    {
      name: "several mistakes",
      change: { framing: "xml", decodeResponse: undefined },
      problems: ["decodeResponse is missing", 'framing must be "sse" or "ndjson"'],
    },
  ])("of a provider dialect with $name is refused", ({ change, problems }) => {
    expect(problemsOf(() => defineProviderDialect({ id: "small", ...doors, ...change }))).toEqual(problems);
  });
});

const error = { class: "internal", origin: "gateway", message: "", retrySame: false, fallback: false } as const;
const clientDoors = {
  readHead: () => ({ ok: false, error }) as const,
  decodeRequest: () => ({ ok: false, error }) as const,
  encodeResponse: () => ({ ok: false, error }) as const,
  createStreamEncoder: () => ({ encode: () => null, fail: () => {} }),
  encodeError: () => ({ status: 500, headers: [], body: new Uint8Array(0) }),
  encodeStreamError: () => new Uint8Array(0),
};
const GENERATE = { method: "POST", path: "/api/{model}:chat", operation: "generate" } as const;

describe("a client dialect of which only the needed doors were written", () => {
  const dialect = defineClientDialect({ id: "small", routes: [GENERATE], ...clientDoors });

  it("claims the paths of its routes", () => {
    expect(["/api/m:chat", "/api/chat", "/other"].map((path) => dialect.claims(path, []))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each([
    { headers: ["Authorization", "Bearer a"], expected: { ok: true, secret: "a" } },
    { headers: ["X-Api-Key", "a"], expected: { ok: true, secret: "a" } },
    { headers: ["x-api-key", "a", "authorization", "bearer a"], expected: { ok: true, secret: "a" } },
    { headers: ["x-api-key", "a", "authorization", "bearer b"], expected: { ok: false, reason: "conflict" } },
    { headers: ["authorization", "Basic a"], expected: { ok: true, secret: null } },
    { headers: [], expected: { ok: true, secret: null } },
  ])("reads credentials of $headers", ({ headers, expected }) => {
    expect(dialect.readCredential(headers, "")).toEqual(expected);
  });

  it("streams events, accepts all headers and names exchanges", () => {
    expect(dialect.streamContentType).toBe("text/event-stream");
    expect(Buffer.from(dialect.keepAlive).toString()).toMatch(/^:.*\n\n$/);
    expect(dialect.checkHeaders([])).toBeNull();
    expect(dialect.identify("r")).toEqual(["x-request-id", "r"]);
    expect("streamTerminator" in dialect).toBe(false);
  });

  it.each([
    { name: "text", body: { a: "x".repeat(400), b: ["y ".repeat(200)] }, tokens: 200 },
    { name: "a medium", body: { image: "A".repeat(100_000) }, tokens: 1_000 },
    { name: "nothing", body: {}, tokens: 0 },
  ])("estimates $name by its bytes", ({ body, tokens }) => {
    expect(dialect.estimateInputTokens(documentOf(JSON.stringify(body)))).toBe(tokens);
  });

  it("tells what limits leave in the usual fields, with resets in whole seconds", () => {
    const standings = [
      { dimension: "requests", limit: 9, remaining: 3, resetMs: 61_001 },
      { dimension: "inputTokens", limit: 8, remaining: 0, resetMs: 500 },
    ] as const;
    expect(dialect.encodeRateLimits(standings, 1_000)).toEqual([
      "x-ratelimit-limit-requests",
      "9",
      "x-ratelimit-remaining-requests",
      "3",
      "x-ratelimit-reset-requests",
      "61",
      "x-ratelimit-limit-input-tokens",
      "8",
      "x-ratelimit-remaining-input-tokens",
      "0",
      "x-ratelimit-reset-input-tokens",
      "0",
    ]);
  });

  it("throws where the gateway asks for an answer that no route of it needs", () => {
    expect(() => dialect.encodeTokenCount(1)).toThrow(expect.objectContaining({ code: "state_violation" }));
    expect(() => dialect.encodeModelList([], "")).toThrow(expect.objectContaining({ code: "state_violation" }));
  });
});

describe("a definition of a client dialect", () => {
  it.each<{ readonly name: string; readonly change: object; readonly problems: readonly unknown[] }>([
    { name: "no mistake", change: {}, problems: [] },
    { name: "no routes", change: { routes: [] }, problems: ["routes must be a list of at least one route"] },
    {
      name: "a route that is null",
      change: { routes: [null] },
      problems: [expect.stringContaining("routes[0] must have")],
    },
    {
      name: "a path without its slash",
      change: { routes: [{ ...GENERATE, path: "api" }] },
      problems: [expect.stringContaining("routes[0] must have a method")],
    },
    {
      name: "a path with a query",
      change: { routes: [{ ...GENERATE, path: "/a?b" }] },
      problems: ["routes[0] has a path with a query, a fragment or white space"],
    },
    {
      name: "a capture that is no name",
      change: { routes: [{ ...GENERATE, path: "/{a-b}" }] },
      problems: ["routes[0] has a capture that is not letters in braces"],
    },
    {
      name: "a capture twice",
      change: { routes: [{ ...GENERATE, path: "/{a}/{a}" }] },
      problems: ["routes[0] names a capture twice"],
    },
    {
      name: "a route twice",
      change: { routes: [GENERATE, GENERATE] },
      problems: ["routes[1] repeats POST /api/{model}:chat"],
    },
    {
      name: "a model list without a door",
      change: { routes: [GENERATE, { method: "GET", path: "/models", operation: "list-models" }] },
      problems: ['encodeModelList and a route for "list-models" belong together'],
    },
    {
      name: "another content type without a keep-alive",
      change: { streamContentType: "application/x-ndjson" },
      problems: [expect.stringContaining("keepAlive is missing")],
    },
    {
      name: "a terminator that is text",
      change: { streamTerminator: "x" },
      problems: ["streamTerminator must be bytes"],
    },
  ])("with $name has $problems", ({ change, problems }) => {
    expect(
      problemsOf(() => defineClientDialect({ id: "small", routes: [GENERATE], ...clientDoors, ...change })),
    ).toEqual(problems);
  });
});

describe("profiles in a table", () => {
  const dialect = defineProviderDialect({
    id: "small",
    ...doors,
    profiles: { plain: { limit: 1, words: ["a"], deep: {}, none: null } },
  });

  it.each([
    { overrides: { limit: 2 }, expected: { ok: true, profile: { limit: 2, words: ["a"], deep: {}, none: null } } },
    {
      overrides: { limit: "2" },
      expected: {
        ok: false,
        problems: [{ path: "/limit", message: "must be a number, as in the profile that it changes" }],
      },
    },
    {
      overrides: { words: {} },
      expected: {
        ok: false,
        problems: [{ path: "/words", message: "must be a list, as in the profile that it changes" }],
      },
    },
    {
      overrides: { "a/b": 1 },
      expected: {
        ok: false,
        problems: [
          {
            path: "/a~1b",
            message: "profiles of this dialect have no such member; they have: limit, words, deep, none",
          },
        ],
      },
    },
  ])("take $overrides as $expected.ok", ({ overrides, expected }) => {
    expect(dialect.compileProfile("plain", overrides)).toEqual(expected);
  });

  it("are looked up as own names only", () => {
    expect(dialect.compileProfile("toString", {})).toEqual({
      ok: false,
      problems: [{ path: "", message: 'there is no profile "toString"; there are: plain' }],
    });
  });
});
