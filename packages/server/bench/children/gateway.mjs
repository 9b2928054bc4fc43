// The built gateway as it ships: one process, one key checked on every request, no request log.
import { serve, tuneProcess } from "../../dist/index.js";
import { createHash } from "node:crypto";

const upstreamPort = Number(process.argv[2]);
const key = process.argv[3];
/** Empty = the one that a configuration gets which names none. */
const frontEnd = process.argv[4] ?? "";

// As the `serve` command does.
tuneProcess();
const running = await serve({
  host: "127.0.0.1",
  port: 0,
  ...(frontEnd === "" ? {} : { frontEnd }),
  config: {
    version: 1,
    server: { headers: { debug: "off" } },
    telemetry: { requestLog: false },
    providers: {
      chat: { kind: "openai", baseUrl: `http://127.0.0.1:${upstreamPort}`, credentials: ["bench-credential"] },
      messages: { kind: "anthropic", baseUrl: `http://127.0.0.1:${upstreamPort}`, credentials: ["bench-credential"] },
    },
    models: {
      bench: { deployments: [{ id: "chat", provider: "chat", model: "up" }] },
      "bench-messages": { deployments: [{ id: "messages", provider: "messages", model: "up" }] },
    },
    keys: [{ name: "bench", hash: `sha256:${createHash("sha256").update(key).digest("hex")}`, models: ["*"] }],
  },
});
process.send({ port: Number(new URL(running.url).port) });
