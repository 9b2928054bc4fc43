// Two SDKs and a local Ollama, spoken to in its own words. Run it from the repository with `npx tsx examples/custom-dialect/main.ts`
// after `npm run build`, beside an Ollama that has the model.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

import { createGateway } from "dragoman";

import { ollama, ollamaNative } from "./ollama/ollama.ts";

const gateway = await createGateway(
  {
    version: 1,
    providers: {
      local: { kind: "ollama-native", baseUrl: process.env["OLLAMA_URL"] ?? "http://127.0.0.1:11434" },
    },
    models: { chat: [`local/${process.env["OLLAMA_MODEL"] ?? "qwen3"}`] },
  },
  { dialects: [{ provider: ollama }], kinds: [ollamaNative] },
);
const { fetch } = gateway.as({ id: "example" });

const stream = await new OpenAI({ fetch, apiKey: "unused" }).chat.completions.create({
  model: "chat",
  messages: [{ role: "user", content: "Say hello in three languages." }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");

const message = await new Anthropic({ fetch, apiKey: "unused" }).messages.create({
  model: "chat",
  max_tokens: 200,
  messages: [{ role: "user", content: "And goodbye." }],
});
for (const block of message.content) if (block.type === "text") console.log(`\n${block.text}`);

await gateway.close();
