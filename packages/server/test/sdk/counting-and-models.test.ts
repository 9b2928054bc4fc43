// Token counting and model lists through the vendors' SDKs, and both styles of credentials.
import { BadRequestError } from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { hashKey } from "../../src/keys/index.ts";
import { startBuiltStack } from "../harness/stack.ts";
import type { Stack } from "../harness/stack.ts";
import { anthropicOf, openAiOf } from "./clients.ts";
import { lastBody } from "./last-call.ts";

const NARROW_KEY = "dgm_NarrowKeyOfTheTests000000000";

let stack: Stack;
beforeAll(async () => {
  const deployments = [{ provider: "chat", model: "scripted-text" }];
  stack = await startBuiltStack({
    models: { small: { aliases: ["little"], deployments }, large: { deployments }, "team/secret": { deployments } },
    keys: [{ name: "narrow", hash: hashKey(NARROW_KEY), models: ["small", "chat/*"] }],
  });
});
afterEach(() => stack.upstream.clear());
afterAll(() => stack.close());

const USER = { role: "user" as const, content: "How many tokens are these?" };

describe("token counting", () => {
  it("asks an upstream of the client's dialect, without what counting does not know", async () => {
    const { input_tokens: count } = await anthropicOf(stack).messages.countTokens({
      model: "messages/scripted-text",
      system: "Be brief.",
      messages: [USER],
    });
    expect(count).toBe(12);
    expect(stack.upstream.calls.at(-1)?.path).toBe("/v1/messages/count_tokens");
    expect(lastBody(stack)).toEqual({ model: "scripted-text", system: "Be brief.", messages: [USER] });
  });

  it("works through the beta resource too", async () => {
    const { input_tokens: count } = await anthropicOf(stack).beta.messages.countTokens({
      model: "messages/scripted-text",
      messages: [USER],
    });
    expect(count).toBe(10);
  });

  it("raises the SDK's exception where the upstream has no such call", async () => {
    const error = await anthropicOf(stack)
      .messages.countTokens({ model: "chat/scripted-text", messages: [USER] })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ type: "invalid_request_error" });
    expect(String(error)).toContain("capability_missing");
    expect(stack.upstream.calls).toEqual([]);
  });
});

describe("model lists, OpenAI client", () => {
  it("hold the configured names and aliases in the client's form", async () => {
    const models = [];
    for await (const model of openAiOf(stack).models.list()) models.push(model);
    expect(models.map(({ id }) => id).sort()).toEqual(["large", "little", "small", "team/secret"]);
    expect(models[0]).toMatchObject({ object: "model", owned_by: "gateway" });
    expect(Number.isInteger(models[0]?.created)).toBe(true);
  });

  it("hold what the key may use", async () => {
    const models = [];
    for await (const model of openAiOf(stack, { key: NARROW_KEY }).models.list()) models.push(model.id);
    expect(models).toContain("small");
    expect(models).not.toContain("large");
  });

  it.each(["small", "little", "team/secret", "chat/anything:at-all"])("describe %s alone", async (id) => {
    expect(await openAiOf(stack).models.retrieve(id)).toMatchObject({ id, object: "model" });
  });

  it("do not describe what does not exist or may not be used", async () => {
    await expect(openAiOf(stack).models.retrieve("nowhere")).rejects.toThrow(OpenAI.NotFoundError);
    await expect(openAiOf(stack, { key: NARROW_KEY }).models.retrieve("large")).rejects.toThrow(OpenAI.NotFoundError);
  });
});

describe("model lists, Anthropic client", () => {
  it("hold the configured names and aliases in the client's form, page by page", async () => {
    for (const limit of [1, 2, 20]) {
      const models = [];
      for await (const model of anthropicOf(stack).models.list({ limit })) models.push(model);
      expect(models.map(({ id }) => id).sort()).toEqual(["large", "little", "small", "team/secret"]);
      expect(models[0]).toMatchObject({ type: "model" });
      expect(Number.isNaN(Date.parse(models[0]?.created_at ?? ""))).toBe(false);
    }
  });

  it("describe one alone", async () => {
    expect(await anthropicOf(stack).models.retrieve("little")).toMatchObject({ id: "little", type: "model" });
  });
});

describe("credentials", () => {
  const chat = { model: "chat/scripted-text", messages: [USER] };
  const message = { model: "messages/scripted-text", max_tokens: 10, messages: [USER] };

  it("of an OpenAI client come as a bearer token or in api-key", async () => {
    expect((await openAiOf(stack).chat.completions.create(chat)).object).toBe("chat.completion");
    const azureStyle = openAiOf(stack, { key: "unused", headers: { authorization: null, "api-key": stack.key } });
    expect((await azureStyle.chat.completions.create(chat)).object).toBe("chat.completion");
  });

  it("of an Anthropic client come as a bearer token or in x-api-key", async () => {
    expect((await anthropicOf(stack).messages.create(message)).type).toBe("message");
    const olderStyle = anthropicOf(stack, { key: "unused", headers: { authorization: null, "x-api-key": stack.key } });
    expect((await olderStyle.messages.create(message)).type).toBe("message");
  });

  it("of a client never reach an upstream, which gets the provider's in the provider's form", async () => {
    await openAiOf(stack).chat.completions.create({ ...chat, model: "messages/scripted-text" });
    await anthropicOf(stack).messages.create({ ...message, model: "chat/scripted-text" });
    const [first, second] = stack.upstream.calls;
    expect(first?.headers).toMatchObject({ "x-api-key": "messages-credential" });
    expect(first?.headers["authorization"]).toBeUndefined();
    expect(second?.headers).toMatchObject({ authorization: "Bearer chat-credential" });
    for (const call of stack.upstream.calls) expect(JSON.stringify(call.rawHeaders)).not.toContain(stack.key);
  });

  it("that contradict each other are refused", async () => {
    const client = openAiOf(stack, { headers: { "api-key": NARROW_KEY } });
    await expect(client.chat.completions.create(chat)).rejects.toThrow(OpenAI.AuthenticationError);
  });
});
