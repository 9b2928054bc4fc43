// Errors as the SDKs' typed exceptions: class, status, code, message, request id and retry hints; and streams that break.
import * as A from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { hashKey } from "../../src/keys/index.ts";
import { startBuiltStack } from "../harness/stack.ts";
import type { Stack } from "../harness/stack.ts";
import { anthropicOf, openAiOf, UPSTREAMS } from "./clients.ts";
import type { ClientOptions } from "./clients.ts";

const NARROW_KEY = "dgm_NarrowKeyOfTheTests000000000";

let stack: Stack;
beforeAll(async () => {
  const accounts = ["error-401", "error-403"] as const;
  const credentials = ["refused-credential"];
  stack = await startBuiltStack({
    // Accounts of their own: a refused credential rests, and the others have to go on.
    providers: (url) =>
      Object.fromEntries(
        accounts.flatMap((name) => [
          [`chat-${name}`, { kind: "openai", baseUrl: `${url}/v1`, credentials }],
          [`messages-${name}`, { kind: "anthropic", baseUrl: url, credentials }],
        ]),
      ),
    models: {
      ...Object.fromEntries(
        UPSTREAMS.flatMap((upstream) =>
          accounts.map((name) => [
            `refused/${upstream}/${name}`,
            {
              deployments: [
                {
                  provider: `${upstream}-${name}`,
                  model: `scripted-${name}`,
                  capabilities: { defaultMaxOutputTokens: 10 },
                },
              ],
            },
          ]),
        ),
      ),
      twice: {
        attempts: 1,
        deployments: [
          { provider: "chat", model: "scripted-error-500", tier: 1 },
          { provider: "chat", model: "scripted-error-500:crlf", tier: 2 },
        ],
      },
    },
    keys: [{ name: "narrow", hash: hashKey(NARROW_KEY), models: ["small"] }],
  });
});
afterEach(() => stack.upstream.clear());
afterAll(() => stack.close());

const USER = { role: "user" as const, content: "Hi" };

async function chatError(
  model: string,
  options: ClientOptions = {},
  stream = false,
): Promise<InstanceType<typeof OpenAI.APIError>> {
  const request = { model, messages: [USER], max_completion_tokens: 50 };
  const client = openAiOf(stack, options);
  const call = stream
    ? client.chat.completions.create({ ...request, stream })
    : client.chat.completions.create(request);
  const error = await call.then(
    () => "no error",
    (thrown: unknown) => thrown,
  );
  if (error instanceof OpenAI.APIError) return error;
  throw new Error("expected an APIError", { cause: error });
}

async function messageError(model: string, options: ClientOptions = {}, stream = false): Promise<A.APIError> {
  const request = { model, messages: [USER], max_tokens: 50 };
  const client = anthropicOf(stack, options);
  const call = stream ? client.messages.create({ ...request, stream }) : client.messages.create(request);
  const error = await call.then(
    () => "no error",
    (thrown: unknown) => thrown,
  );
  if (error instanceof A.APIError) return error;
  throw new Error("expected an APIError", { cause: error });
}

interface ErrorRow {
  readonly behaviour: string;
  readonly chat: {
    readonly type: new (...args: never[]) => Error;
    readonly status: number;
    readonly code: string | null;
    /** The upstream's own code, where it differs. */
    readonly quotedCode?: string;
    readonly says: string;
  };
  readonly message: {
    readonly type: new (...args: never[]) => Error;
    readonly status: number;
    readonly kind: string;
    readonly says: string;
  };
  readonly retry: "true" | "false";
}

const ROWS: readonly ErrorRow[] = [
  {
    behaviour: "error-400",
    chat: { type: OpenAI.BadRequestError, status: 400, code: null, says: "The request is not valid." },
    message: { type: A.BadRequestError, status: 400, kind: "invalid_request_error", says: "The request is not valid." },
    retry: "false",
  },
  {
    behaviour: "error-400-context",
    chat: { type: OpenAI.BadRequestError, status: 400, code: "context_length_exceeded", says: "" },
    message: { type: A.BadRequestError, status: 400, kind: "invalid_request_error", says: "prompt is too long: " },
    retry: "false",
  },
  {
    behaviour: "error-404",
    chat: { type: OpenAI.InternalServerError, status: 502, code: "upstream_model_not_found", says: "" },
    message: { type: A.InternalServerError, status: 502, kind: "api_error", says: "" },
    retry: "false",
  },
  {
    behaviour: "error-413",
    chat: { type: OpenAI.APIError, status: 413, code: "request_too_large", says: "" },
    message: { type: A.ContentTooLargeError, status: 413, kind: "request_too_large", says: "" },
    retry: "false",
  },
  {
    behaviour: "error-429",
    chat: { type: OpenAI.RateLimitError, status: 429, code: "rate_limit_exceeded", says: "Rate limit reached" },
    message: { type: A.RateLimitError, status: 429, kind: "rate_limit_error", says: "Rate limit reached" },
    retry: "true",
  },
  {
    behaviour: "error-500",
    chat: { type: OpenAI.InternalServerError, status: 502, code: "upstream_error", says: "" },
    message: { type: A.InternalServerError, status: 502, kind: "api_error", says: "" },
    retry: "true",
  },
  {
    behaviour: "error-503",
    chat: {
      type: OpenAI.InternalServerError,
      status: 503,
      code: "server_is_overloaded",
      says: "The model provider is overloaded.",
    },
    message: {
      type: A.OverloadedError,
      status: 529,
      kind: "overloaded_error",
      says: "The model provider is overloaded.",
    },
    retry: "true",
  },
  {
    behaviour: "error-529",
    chat: { type: OpenAI.InternalServerError, status: 503, code: "server_is_overloaded", says: "" },
    message: { type: A.OverloadedError, status: 529, kind: "overloaded_error", says: "" },
    retry: "true",
  },
  {
    behaviour: "error-504",
    chat: { type: OpenAI.InternalServerError, status: 504, code: "timeout", says: "" },
    message: { type: A.GatewayTimeoutError, status: 504, kind: "timeout_error", says: "" },
    retry: "true",
  },
  {
    behaviour: "html-502",
    chat: { type: OpenAI.InternalServerError, status: 502, code: "upstream_error", says: "" },
    message: { type: A.InternalServerError, status: 502, kind: "api_error", says: "" },
    retry: "true",
  },
];

describe.each(UPSTREAMS)("an error of a %s upstream", (upstream) => {
  it.each(ROWS)("$behaviour raises the OpenAI SDK's exception", async ({ behaviour, chat, retry }) => {
    for (const isStream of [false, true]) {
      const error = await chatError(`${upstream}/scripted-${behaviour}`, {}, isStream);
      expect(error).toBeInstanceOf(chat.type);
      expect(error.status).toBe(chat.status);
      // An upstream of the client's own dialect is quoted as it is when the fault is the request's.
      const isQuoted = upstream === "chat" && chat.status < 500;
      expect(error.code).toBe(isQuoted ? (chat.quotedCode ?? chat.code) : chat.code);
      expect(error.message).toContain(chat.says);
      expect(error.requestID).toMatch(/^req_[0-9A-Za-z]{24}$/);
      expect(error.headers?.get("x-should-retry")).toBe(retry);
    }
  });

  it.each(ROWS)("$behaviour raises the Anthropic SDK's exception", async ({ behaviour, message, retry }) => {
    for (const isStream of [false, true]) {
      const error = await messageError(`${upstream}/scripted-${behaviour}`, {}, isStream);
      expect(error).toBeInstanceOf(message.type);
      expect(error.status).toBe(message.status);
      expect(error.type).toBe(message.kind);
      expect(error.apiMessage).toContain(message.says);
      expect(error.requestID).toMatch(/^req_[0-9A-Za-z]{24}$/);
      expect(error.headers?.get("x-should-retry")).toBe(retry);
    }
  });

  it("keeps retry-after on the rate limit", async () => {
    const chat = await chatError(`${upstream}/scripted-error-429-retry`);
    expect(chat).toBeInstanceOf(OpenAI.RateLimitError);
    expect(chat.headers?.get("retry-after")).toBe("7");
    const message = await messageError(`${upstream}/scripted-error-429-retry:crlf`);
    expect(message).toBeInstanceOf(A.RateLimitError);
    expect(message.headers?.get("retry-after")).toBe("7");
  });

  it("about the operator's empty account is no fault of the client", async () => {
    const chat = await chatError(`${upstream}/scripted-error-402`);
    expect([chat.status, chat.code]).toEqual([503, "upstream_quota_exhausted"]);
    const message = await messageError(`${upstream}/scripted-error-402`);
    expect([message.status, message.type]).toEqual([503, "api_error"]);
  });
});

describe("a fault of the client", () => {
  it("in its key raises AuthenticationError", async () => {
    const chat = await chatError("chat/scripted-text", { key: "dgm_nobody" });
    expect(chat).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(chat).toMatchObject({ code: "invalid_api_key", type: "invalid_request_error" });
    const message = await messageError("chat/scripted-text", { key: "dgm_nobody" });
    expect(message).toBeInstanceOf(A.AuthenticationError);
    expect(message).toMatchObject({ type: "authentication_error" });
    for (const error of [chat, message]) {
      expect(error.headers?.get("x-should-retry")).toBe("false");
      expect(error.message).not.toContain("dgm_nobody");
    }
    expect(stack.upstream.calls).toEqual([]);
  });

  it("in its permissions raises PermissionDeniedError", async () => {
    const chat = await chatError("chat/scripted-text", { key: NARROW_KEY });
    expect(chat).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(chat.code).toBe("permission_denied");
    const message = await messageError("messages/scripted-text", { key: NARROW_KEY });
    expect(message).toBeInstanceOf(A.PermissionDeniedError);
    expect(message.type).toBe("permission_error");
    expect(stack.upstream.calls).toEqual([]);
  });

  it("in the model's name raises NotFoundError with the name in its message", async () => {
    const chat = await chatError("nowhere-1");
    expect(chat).toBeInstanceOf(OpenAI.NotFoundError);
    expect(chat.code).toBe("model_not_found");
    const message = await messageError("nowhere-1");
    expect(message).toBeInstanceOf(A.NotFoundError);
    expect(message.type).toBe("not_found_error");
    for (const error of [chat, message]) expect(error.message).toContain("nowhere-1");
  });

  it("in the path raises NotFoundError", async () => {
    const chat = openAiOf(stack).completions.create({ model: "chat/scripted-text", prompt: "x" });
    await expect(chat).rejects.toThrow(OpenAI.NotFoundError);
    const batches = anthropicOf(stack).messages.batches.list();
    await expect(batches).rejects.toThrow(A.NotFoundError);
  });

  it("in the body raises BadRequestError that says where", async () => {
    const chat = openAiOf(stack).chat.completions.create({
      model: "messages/scripted-text",
      messages: "no list" as unknown as [],
    });
    await expect(chat).rejects.toThrow(OpenAI.BadRequestError);
    await expect(chat).rejects.toMatchObject({ param: "messages" });
    const message = anthropicOf(stack).messages.create({
      model: "chat/scripted-text",
      max_tokens: -1,
      messages: [USER],
    });
    await expect(message).rejects.toThrow(A.BadRequestError);
    await expect(message).rejects.toThrow(/max_tokens/);
  });
});

describe.each(UPSTREAMS)("a refusal of the gateway's own credential by a %s upstream", (upstream) => {
  it.each(["error-401", "error-403"])("%s is no fault of the client's key", async (name) => {
    for (const _attempt of ["asked", "resting"]) {
      const chat = await chatError(`refused/${upstream}/${name}`);
      expect(chat).toBeInstanceOf(OpenAI.InternalServerError);
      expect([chat.status, chat.code]).toEqual([502, "upstream_credential_rejected"]);
      const message = await messageError(`refused/${upstream}/${name}`);
      expect(message).toBeInstanceOf(A.InternalServerError);
      expect([message.status, message.type]).toEqual([502, "api_error"]);
      for (const error of [chat, message]) {
        expect(error.headers?.get("x-should-retry")).toBe("false");
        expect(JSON.stringify(error.error)).not.toContain("refused-credential");
      }
    }
  });
});

/** Reads a stream to its end or its error. */
async function read(stream: AsyncIterable<unknown>): Promise<{ events: number; error: unknown }> {
  let events = 0;
  try {
    for await (const _event of stream) events += 1;
  } catch (error) {
    return { events, error };
  }
  return { events, error: null };
}

const BROKEN_STREAMS = [
  { behaviour: "text:error-after-6", says: /overloaded/i },
  { behaviour: "text:cut-after-6", says: /connection was lost/ },
  { behaviour: "text:reset-after-6", says: /connection was lost/ },
  { behaviour: "text:no-ending", says: /provider/ },
  { behaviour: "text:cut-after-6:until-close", says: /provider/ },
  { behaviour: "tools:cut-after-12", says: /connection was lost/ },
] as const;

describe.each(UPSTREAMS)("a stream of a %s upstream that breaks after content", (upstream) => {
  it.each(BROKEN_STREAMS)("by $behaviour raises from the OpenAI SDK", async ({ behaviour, says }) => {
    const request = { model: `${upstream}/scripted-${behaviour}`, messages: [USER], max_completion_tokens: 50 };
    const client = openAiOf(stack);
    const raw = await read(await client.chat.completions.create({ ...request, stream: true }));
    expect(raw.events).toBeGreaterThan(0);
    expect(raw.error).toBeInstanceOf(OpenAI.APIError);
    expect(String(raw.error)).toMatch(says);
    await expect(client.chat.completions.stream(request).finalChatCompletion()).rejects.toThrow(OpenAI.OpenAIError);
  });

  it.each(BROKEN_STREAMS)("by $behaviour raises from the Anthropic SDK", async ({ behaviour, says }) => {
    const request = { model: `${upstream}/scripted-${behaviour}`, messages: [USER], max_tokens: 50 };
    const client = anthropicOf(stack);
    const raw = await read(await client.messages.create({ ...request, stream: true }));
    expect(raw.events).toBeGreaterThan(0);
    expect(raw.error).toBeInstanceOf(A.APIError);
    expect(String(raw.error)).toMatch(says);
    await expect(client.messages.stream(request).finalMessage()).rejects.toThrow(A.AnthropicError);
  });
});

describe.each(UPSTREAMS)("an answer of a %s upstream that is cut short", (upstream) => {
  it.each(["text:cut-at-300", "text:reset-at-300", "garbage-truncated-json", "garbage-html", "text:wrong-type"])(
    "by %s raises, plain and streamed",
    async (behaviour) => {
      for (const isStream of [false, true]) {
        const chat = await chatError(`${upstream}/scripted-${behaviour}`, {}, isStream);
        expect(chat).toBeInstanceOf(OpenAI.InternalServerError);
        expect(chat.status).toBe(502);
        const message = await messageError(`${upstream}/scripted-${behaviour}`, {}, isStream);
        expect(message).toBeInstanceOf(A.InternalServerError);
        expect(message.status).toBe(502);
      }
    },
  );
});

describe("an error in the place of the first event", () => {
  it.each(UPSTREAMS)("of a %s upstream is a plain error for both SDKs", async (upstream) => {
    const chat = await chatError(`${upstream}/scripted-error-record`, {}, true);
    expect([chat.status, chat.code]).toEqual([503, "server_is_overloaded"]);
    const message = await messageError(`${upstream}/scripted-error-record`, {}, true);
    expect(message).toBeInstanceOf(A.OverloadedError);
  });
});

describe("retries of the SDKs", () => {
  it.each(UPSTREAMS)("follow the gateway's word: a %s upstream's overload is tried again", async (upstream) => {
    const script = [{ nth: 1, model: /text$/, behaviour: { error: { status: 503 } } }];
    stack.upstream.script(script);
    const statuses: number[] = [];
    const options = { maxRetries: 2, onResponse: ({ status }: Response) => void statuses.push(status) };
    const model = `${upstream}/scripted-text`;
    await openAiOf(stack, options).chat.completions.create({ model, messages: [USER] });
    expect(statuses).toEqual([503, 200]);
    stack.upstream.script(script);
    await anthropicOf(stack, options).messages.create({ model, messages: [USER], max_tokens: 5 });
    expect(statuses).toEqual([503, 200, 529, 200]);
    expect(stack.upstream.calls.length).toBe(4);
  });

  it("follow the gateway's word: what no retry can mend is asked once", async () => {
    const statuses: number[] = [];
    const options = { maxRetries: 2, onResponse: ({ status }: Response) => void statuses.push(status) };
    await chatError("chat/scripted-error-400", options);
    await chatError("chat/scripted-error-404", options);
    await messageError("messages/scripted-error-404", options);
    await messageError("messages/scripted-error-413", options);
    expect(statuses).toEqual([400, 502, 502, 413]);
    expect(stack.upstream.calls.length).toBe(4);
  });

  it("are off once the gateway has tried several deployments by itself", async () => {
    const statuses: number[] = [];
    const options = { maxRetries: 2, onResponse: ({ status }: Response) => void statuses.push(status) };
    const error = await chatError("twice", options);
    expect(error.headers?.get("x-should-retry")).toBe("false");
    expect(statuses).toEqual([502]);
    expect(stack.upstream.calls.length).toBe(2);
  });
});
