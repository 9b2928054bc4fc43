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
  const refused = { credentials: ["refused-credential"] };
  stack = await startBuiltStack({
    // Accounts of their own: a refused credential rests, and the others have to go on.
    providers: Object.fromEntries(
      ["error-401", "error-403"].flatMap((name) => [
        [`chat-${name}`, { kind: "openai", baseUrl: "http://127.0.0.1:9/v1", ...refused }],
        [`messages-${name}`, { kind: "anthropic", baseUrl: "http://127.0.0.1:9", ...refused }],
      ]),
    ),
    keys: [{ name: "narrow", hash: hashKey(NARROW_KEY), models: ["small"] }],
  });
});
afterEach(() => stack.upstream.clear());
afterAll(() => stack.close());

const USER = { role: "user" as const, content: "Hi" };

async function chatError(model: string, options: ClientOptions = {}, stream = false): Promise<InstanceType<typeof OpenAI.APIError>> {
  const request = { model, messages: [USER], max_completion_tokens: 50 };
  const client = openAiOf(stack, options);
  const call = stream ? client.chat.completions.create({ ...request, stream }) : client.chat.completions.create(request);
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
      if (upstream === "messages" || chat.status >= 500) expect(error.code).toBe(chat.code);
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
