/** The same fall-back with a gateway in the process: one SDK, one request, and the rest is configuration. */
import OpenAI from "openai";

import { createGateway } from "dragoman";

import type { Providers } from "./by-hand.ts";

/** Streams an answer to one question, piece by piece. */
export async function* askWithDragoman(question: string, providers: Providers): AsyncGenerator<string> {
  const gateway = await createGateway({
    version: 1,
    providers: {
      first: { kind: "openai", baseUrl: providers.url, credentials: ["first-credential"] },
      second: { kind: "anthropic", baseUrl: providers.url, credentials: ["second-credential"] },
    },
    models: {
      chat: {
        deployments: [
          { provider: "first", model: providers.first, tier: 1 },
          { provider: "second", model: providers.second, tier: 2, capabilities: { defaultMaxOutputTokens: 1024 } },
        ],
      },
    },
  });
  const openai = new OpenAI({ fetch: gateway.as({ id: "service" }).fetch, apiKey: "unused", maxRetries: 0 });
  try {
    const stream = await openai.chat.completions.create({
      model: "chat",
      messages: [
        { role: "system", content: "Answer briefly." },
        { role: "user", content: question },
      ],
      stream: true,
    });
    for await (const chunk of stream) {
      const text = chunk.choices[0]?.delta.content ?? "";
      if (text !== "") yield text;
    }
  } finally {
    await gateway.close();
  }
}
