// Limits and budgets as the vendors' SDKs see them: header fields of their own API on answers and refusals, and typed exceptions.
import * as A from "@anthropic-ai/sdk";
import { createLedgerAdmission, createLimitDirectory, MemoryLedgerStore, PriceBook } from "@dragoman/ledger";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { hashKey } from "../../src/keys/index.ts";
import { createNodeClock } from "../../src/ports/index.ts";
import { startStack } from "../harness/stack.ts";
import type { InProcessStack } from "../harness/stack.ts";
import { anthropicOf, openAiOf } from "./clients.ts";
import type { ClientOptions } from "./clients.ts";

/** Half past eleven at night, UTC: the hour has 30 minutes left, and so has the day. */
const NOW_MS = Date.parse("2026-11-30T23:30:00Z");

const KEYS = {
  roomy: [
    { requests: 600, per: "hour" },
    { tokens: 1_000_000, per: "hour" },
    { inputTokens: 1_000_000, per: "hour" },
  ],
  used: [{ requests: 0, per: "hour" }],
  broke: [{ usd: 0, per: "day" }],
  free: [],
};
const secretOf = (name: keyof typeof KEYS): string => `dgm_${name}`;

const store = new MemoryLedgerStore();
let stack: InProcessStack;
beforeAll(async () => {
  stack = await startStack(
    {
      keys: Object.keys(KEYS).map((name) => ({
        name,
        hash: hashKey(`dgm_${name}`),
        models: ["*"],
        trusted: name === "roomy",
      })),
    },
    {
      clock: { ...createNodeClock(), nowMs: () => NOW_MS },
      admission: createLedgerAdmission({
        clock: { nowMs: () => NOW_MS },
        sink: store,
        limits: createLimitDirectory({ keys: KEYS }),
        prices: new PriceBook({ rows: [{ model: "*", input: 1, output: 1 }] }),
      }),
    },
  );
});
afterAll(() => stack.close());

const USER = { role: "user" as const, content: "Hi" };

/** Fields of the last response that speak of limits. */
function limitFields(response: Response | null): Readonly<Record<string, string>> {
  const all = [...(response?.headers ?? [])];
  return Object.fromEntries(all.filter(([name]) => /ratelimit|retry-after/.test(name)));
}

interface Seen {
  readonly thrown: unknown;
  readonly fields: Readonly<Record<string, string>>;
}

async function seen(call: (options: ClientOptions) => Promise<unknown>, key: keyof typeof KEYS): Promise<Seen> {
  let last: Response | null = null;
  const thrown = await call({ key: secretOf(key), onResponse: (response) => (last = response) }).then(
    () => null,
    (error: unknown) => error,
  );
  return { thrown, fields: limitFields(last) };
}

const chat =
  (stream: boolean) =>
  async (options: ClientOptions): Promise<unknown> => {
    const request = { model: "chat/scripted-text", messages: [USER], max_completion_tokens: 50 };
    const { completions } = openAiOf(stack, options).chat;
    if (!stream) return completions.create(request);
    for await (const chunk of await completions.create({ ...request, stream })) expect(chunk.object).toBeTruthy();
    return null;
  };

const messages =
  (stream: boolean) =>
  async (options: ClientOptions): Promise<unknown> => {
    const request = { model: "messages/scripted-text", messages: [USER], max_tokens: 50 };
    const client = anthropicOf(stack, options);
    return stream ? client.messages.stream(request).finalMessage() : client.messages.create(request);
  };

describe.each([false, true])("an answer (streamed: %s)", (stream) => {
  it("tells an OpenAI client what its limits leave", async () => {
    const { thrown, fields } = await seen(chat(stream), "roomy");
    expect(thrown).toBeNull();
    expect(fields).toMatchObject({
      "x-ratelimit-limit-requests": "600",
      "x-ratelimit-remaining-requests": expect.stringMatching(/^59\d$/),
      "x-ratelimit-reset-requests": "30m0s",
      "x-ratelimit-limit-tokens": "1000000",
      "x-ratelimit-remaining-tokens": expect.stringMatching(/^99\d{4}$/),
      "x-ratelimit-reset-tokens": "30m0s",
    });
    expect(Object.keys(fields)).toHaveLength(6);
  });

  it("tells an Anthropic client what its limits leave", async () => {
    const { thrown, fields } = await seen(messages(stream), "roomy");
    expect(thrown).toBeNull();
    expect(fields).toMatchObject({
      "anthropic-ratelimit-requests-limit": "600",
      "anthropic-ratelimit-requests-reset": "2026-12-01T00:00:00Z",
      "anthropic-ratelimit-tokens-remaining": expect.stringMatching(/^99\d{4}$/),
      "anthropic-ratelimit-input-tokens-limit": "1000000",
    });
    expect(Object.keys(fields)).toHaveLength(9);
  });

  it("tells a caller without limits nothing", async () => {
    expect((await seen(chat(stream), "free")).fields).toEqual({});
    expect((await seen(messages(stream), "free")).fields).toEqual({});
  });
});

describe("a refusal", () => {
  it("by a rate is an OpenAI client's RateLimitError, with the limit and when to come back", async () => {
    const { thrown, fields } = await seen(chat(true), "used");
    expect(thrown).toBeInstanceOf(OpenAI.RateLimitError);
    expect(thrown).toMatchObject({ status: 429, code: "rate_limited", type: "rate_limit_error" });
    expect(fields).toEqual({
      "x-ratelimit-limit-requests": "0",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "30m0s",
    });
  });

  it("by a rate is an Anthropic client's RateLimitError, with the limit and when to come back", async () => {
    const { thrown, fields } = await seen(messages(true), "used");
    expect(thrown).toBeInstanceOf(A.RateLimitError);
    expect(fields).toMatchObject({ "anthropic-ratelimit-requests-remaining": "0" });
    expect(thrown).toMatchObject({
      status: 429,
      error: {
        error: { type: "rate_limit_error", details: { error_code: "rate_limited", scope: "key", per: "hour" } },
      },
    });
  });

  it("by a budget is an OpenAI client's RateLimitError that says which budget", async () => {
    const { thrown } = await seen(chat(false), "broke");
    expect(thrown).toBeInstanceOf(OpenAI.RateLimitError);
    expect(thrown).toMatchObject({ status: 429, code: "budget_exceeded", type: "insufficient_quota" });
    expect((thrown as Error).message).toContain("this key (0 USD per day)");
  });

  it("by a budget is an Anthropic client's billing error that says which budget", async () => {
    const { thrown } = await seen(messages(false), "broke");
    expect(thrown).toBeInstanceOf(A.APIError);
    expect(thrown).toMatchObject({
      status: 402,
      errorCode: "budget_exceeded",
      error: {
        error: { type: "billing_error", details: { error_code: "budget_exceeded", scope: "key", limit: "usd" } },
      },
    });
  });
});

describe("what a caller says of its own users and tags", () => {
  const HEADERS = { "x-dragoman-user": "ada", "x-dragoman-tags": "batch, eu" };
  const booked = async (key: keyof typeof KEYS): Promise<readonly unknown[]> => {
    const seenBefore = store.size;
    const request = { model: "chat/scripted-text", messages: [USER], max_completion_tokens: 50, user: "bob" };
    await openAiOf(stack, { key: secretOf(key), headers: HEADERS }).chat.completions.create(request);
    const entries = [];
    for await (const { endUser, tags } of store.entries({})) entries.push([endUser, tags]);
    return entries.slice(seenBefore);
  };

  it("is booked where its key is trusted", async () => {
    expect(await booked("roomy")).toEqual([["ada", ["batch", "eu"]]]);
  });

  it("is not even read where it is not", async () => {
    expect(await booked("free")).toEqual([["bob", []]]);
  });
});
