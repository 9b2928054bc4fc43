// The vendors' SDKs as a test uses them: pointed at a stack, without retries of their own unless a test asks for them.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

import type { Stack } from "../harness/stack.ts";

/** What a test sets on a client. */
export interface ClientOptions {
  readonly key?: string;
  readonly maxRetries?: number;
  /** Header values in place of the SDK's own; null leaves a header out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Sees every response, also those that the SDK retries. */
  readonly onResponse?: (response: Response) => void;
}

function watchedFetch(onResponse: ClientOptions["onResponse"]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    onResponse?.(response);
    return response;
  };
}

/** An OpenAI client of the stack. */
export function openAiOf(stack: Stack, options: ClientOptions = {}): OpenAI {
  return new OpenAI({
    baseURL: `${stack.url}/v1`,
    apiKey: options.key ?? stack.key,
    organization: null,
    project: null,
    maxRetries: options.maxRetries ?? 0,
    defaultHeaders: { ...options.headers },
    fetch: watchedFetch(options.onResponse),
    logLevel: "off",
  });
}

/** An Anthropic client of the stack. */
export function anthropicOf(stack: Stack, options: ClientOptions = {}): Anthropic {
  return new Anthropic({
    baseURL: stack.url,
    apiKey: options.key ?? stack.key,
    maxRetries: options.maxRetries ?? 0,
    defaultHeaders: { ...options.headers },
    fetch: watchedFetch(options.onResponse),
    logLevel: "off",
  });
}

/** The upstream dialects that each SDK is tried against: prefixes of the stack's model names. */
export const UPSTREAMS = ["chat", "messages"] as const;
