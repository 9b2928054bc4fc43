// Clients that leave: before the first byte, in the middle of a stream, by a time limit; and what happens upstream then.
import { APIConnectionTimeoutError, APIUserAbortError as AnthropicAbortError } from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import type { DeploymentConfig, GatewayConfig } from "@dragoman/core";

import { startBuiltStack } from "../harness/stack.ts";
import type { Stack } from "../harness/stack.ts";
import { until } from "../harness/until.ts";
import { anthropicOf, openAiOf, UPSTREAMS } from "./clients.ts";

let stack: Stack;
beforeAll(async () => {
  const withPolicy = (disconnect: DeploymentConfig["disconnect"] & object): GatewayConfig["models"] =>
    Object.fromEntries(
      UPSTREAMS.map((provider) => [
        `${disconnect.mode}/${provider}/*`,
        {
          deployments: [
            {
              id: `${disconnect.mode}-${provider}`,
              provider,
              model: "*",
              disconnect,
              capabilities: { defaultMaxOutputTokens: 10 },
            },
          ],
        },
      ]),
    );
  stack = await startBuiltStack({
    models: { ...withPolicy({ mode: "cancel" }), ...withPolicy({ mode: "drain", maxMs: 5_000 }) },
  });
});
afterEach(() => stack.upstream.clear());
afterAll(() => stack.close());

const USER = { role: "user" as const, content: "Hi" };
const ended = (): unknown => stack.upstream.calls.at(-1)?.ended;

/** Starts a call with a signal and waits until the upstream has it. */
async function askAndWait(
  start: (signal: AbortSignal) => Promise<unknown>,
): Promise<{ leave: () => Promise<unknown> }> {
  const controller = new AbortController();
  const outcome = start(controller.signal).then(
    () => "no error",
    (error: unknown) => error,
  );
  await until(() => stack.upstream.calls.at(-1)?.bodyComplete === true, "the upstream's call");
  return {
    leave: () => {
      controller.abort();
      return outcome;
    },
  };
}

describe.each(UPSTREAMS)("a client that leaves before the first byte, %s upstream", (upstream) => {
  const rows = [false, true].flatMap((stream) => ["cancel", "drain"].map((mode) => ({ mode, stream })));

  it.each(rows)("ends the upstream call by policy $mode (streamed: $stream)", async ({ mode, stream }) => {
    const model = `${mode}/${upstream}/scripted-text:stall`;
    const chat = await askAndWait((signal) =>
      openAiOf(stack).chat.completions.create({ model, messages: [USER], stream }, { signal }),
    );
    expect(await chat.leave()).toBeInstanceOf(OpenAI.APIUserAbortError);
    // Draining waits for the usage of what is being made anyway: the upstream may end its answer.
    if (mode === "drain") stack.upstream.release();
    await until(() => ended() !== null, "the end of the call");
    expect(ended()).toBe(mode === "cancel" ? "client-closed" : "complete");
    const message = await askAndWait((signal) =>
      anthropicOf(stack).messages.create({ model, messages: [USER], max_tokens: 10, stream }, { signal }),
    );
    expect(await message.leave()).toBeInstanceOf(AnthropicAbortError);
    if (mode === "drain") stack.upstream.release();
    await until(() => ended() !== null, "the end of the call");
    expect(ended()).toBe(mode === "cancel" ? "client-closed" : "complete");
  });
});

describe.each(UPSTREAMS)("a client that leaves in mid-stream, %s upstream", (upstream) => {
  it.each(["cancel", "drain"])("ends the upstream call by policy %s", async (mode) => {
    const model = `${mode}/${upstream}/scripted-text:stall-after-6`;
    const controller = new AbortController();
    const stream = await openAiOf(stack).chat.completions.create(
      { model, messages: [USER], stream: true },
      { signal: controller.signal },
    );
    let chunks = 0;
    for await (const chunk of stream) {
      chunks += 1;
      if ((chunk.choices[0]?.delta.content ?? "") !== "") controller.abort();
    }
    expect(chunks).toBeGreaterThan(0);
    // A drained call goes on without its client until the upstream has ended its answer.
    if (mode === "drain") stack.upstream.release();
    await until(() => ended() !== null, "the end of the call");
    expect(ended()).toBe(mode === "cancel" ? "client-closed" : "complete");
  });

  it("by the abort() of the SDK's stream helper", async () => {
    const model = `cancel/${upstream}/scripted-text:stall-after-6`;
    const stream = anthropicOf(stack).messages.stream({ model, messages: [USER], max_tokens: 10 });
    stream.on("text", () => stream.abort());
    await expect(stream.finalMessage()).rejects.toThrow(AnthropicAbortError);
    await until(() => ended() !== null, "the end of the call");
    expect(ended()).toBe("client-closed");
    const helper = openAiOf(stack).chat.completions.stream({ model, messages: [USER] });
    helper.on("content", () => helper.abort());
    await expect(helper.finalChatCompletion()).rejects.toThrow(OpenAI.APIUserAbortError);
    await until(() => ended() !== null, "the end of the call");
    expect(ended()).toBe("client-closed");
  });

  it("by breaking out of the loop", async () => {
    const model = `cancel/${upstream}/scripted-text:stall-after-6`;
    for await (const event of await anthropicOf(stack).messages.create({
      model,
      messages: [USER],
      max_tokens: 10,
      stream: true,
    })) {
      if (event.type === "content_block_delta") break;
    }
    await until(() => ended() !== null, "the end of the call");
    expect(ended()).toBe("client-closed");
  });
});

describe("a client that runs out of time", () => {
  it("raises the SDK's timeout and ends the upstream call", async () => {
    const model = "cancel/messages/scripted-text:stall";
    const message = anthropicOf(stack).messages.create({ model, messages: [USER], max_tokens: 10 }, { timeout: 50 });
    await expect(message).rejects.toThrow(APIConnectionTimeoutError);
    await until(() => ended() === "client-closed", "the end of the call");
    const chat = openAiOf(stack).chat.completions.create({ model, messages: [USER] }, { timeout: 50 });
    await expect(chat).rejects.toThrow(OpenAI.APIConnectionTimeoutError);
    await until(() => ended() === "client-closed", "the end of the call");
  });

  it("leaves the gateway as it was: the next call is served", async () => {
    const { choices } = await openAiOf(stack).chat.completions.create({
      model: "chat/scripted-text",
      messages: [USER],
    });
    expect(choices[0]?.finish_reason).toBe("stop");
  });
});
