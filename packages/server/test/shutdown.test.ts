// The end of a server with exchanges that would go on for long: the deadline ends them, with or without a client.
import { afterEach, describe, expect, it } from "vitest";

import { startStack } from "./harness/stack.ts";
import type { InProcessStack } from "./harness/stack.ts";
import { until } from "./harness/until.ts";

const TEN_MINUTES_MS = 600_000;
const DEADLINE_MS = 50;

let stack: InProcessStack | null = null;
afterEach(() => stack?.close());

async function startStalled(): Promise<InProcessStack> {
  stack = await startStack({
    models: {
      patient: {
        deployments: [
          {
            provider: "chat",
            model: "scripted-text:stall-after-6",
            disconnect: { mode: "drain", maxMs: TEN_MINUTES_MS },
          },
        ],
      },
    },
  });
  return stack;
}

function ask({ url, key }: InProcessStack, signal: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    signal,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "patient", stream: true, messages: [{ role: "user", content: "Hi" }] }),
  });
}

describe("a shutdown", () => {
  it("tells a client in mid-stream at the deadline that its answer is broken", async () => {
    const running = await startStalled();
    const response = await ask(running, new AbortController().signal);
    const body = response.text();
    await running.closeGateway(DEADLINE_MS);
    const records = (await body).trimEnd().split("\n\n");
    expect(records.length).toBeGreaterThan(1);
    expect(records.at(-1)).toMatch(/^data: \{"error":/);
    expect(running.gateway.hasFailedTask).toBe(false);
  });

  it("does not wait past the deadline for the drain of a client that has left", async () => {
    const running = await startStalled();
    const client = new AbortController();
    const response = await ask(running, client.signal);
    await response.body?.getReader().read();
    client.abort();
    await running.closeGateway(DEADLINE_MS);
    await until(() => running.upstream.calls[0]?.ended === "client-closed", "the end of the upstream call");
    expect(running.gateway.inFlight).toBe(0);
    expect(running.gateway.hasFailedTask).toBe(false);
  });
});
