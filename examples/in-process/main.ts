// Vendors' SDKs and a gateway in one process, without a socket between them. Run it from the repository with
// `npx tsx examples/in-process/main.ts` after `npm run build`.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

import { createGateway } from "dragoman";

const gateway = await createGateway({
  version: 1,
  providers: {
    local: { kind: "openai-compatible", baseUrl: process.env["UPSTREAM_URL"] ?? "http://127.0.0.1:11434/v1" },
  },
  models: { chat: [`local/${process.env["UPSTREAM_MODEL"] ?? "llama3.3"}`] },
});

gateway.events.on("outcome", ({ principalId, deploymentId, usage }) => {
  console.log(`\n${principalId ?? "nobody"} used ${deploymentId ?? "nothing"}: ${usage?.output ?? "?"} output tokens`);
});

// The caller of every request that is sent through this `fetch`; the SDK's key is ignored.
const { fetch } = gateway.as({ id: "nightly-report", owner: "research" });

const openai = new OpenAI({ fetch, apiKey: "unused" });
const stream = await openai.chat.completions.create({
  model: "chat",
  messages: [{ role: "user", content: "Hello" }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");

const anthropic = new Anthropic({ fetch, apiKey: "unused" });
const message = await anthropic.messages.create({
  model: "chat",
  max_tokens: 200,
  messages: [{ role: "user", content: "Hello" }],
});
for (const block of message.content) if (block.type === "text") console.log(block.text);

await gateway.close();
