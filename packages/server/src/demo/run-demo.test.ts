import { request } from "node:http";

import { describe, expect, it } from "vitest";

import { runDemo } from "./index.ts";

/** Collects the demo's text and tells when a part of it was written. */
class Recorder {
  text = "";
  readonly #waiting = new Map<string, () => void>();

  write(part: string): void {
    this.text += part;
    for (const [wanted, resolve] of this.#waiting) if (this.text.includes(wanted)) resolve();
  }

  waitFor(wanted: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(wanted, resolve);
    });
  }
}

/** Sends what a printed `curl` command says, without a shell. */
function sendPasted(command: string): Promise<{ status: number; text: string }> {
  const url = /http:\S+/u.exec(command)?.[0] ?? "";
  const headers = Object.fromEntries(
    [...command.matchAll(/-H '([^:]+): ([^']+)'/gu)].map(([, name, value]) => [String(name), String(value)]),
  );
  const body = /-d '([^']+)'/u.exec(command)?.[1] ?? "";
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", headers, agent: false }, (incoming) => {
      let text = "";
      incoming.on("data", (piece: Buffer) => (text += piece.toString("utf8")));
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, text }));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

describe("runDemo", () => {
  it("walks the whole tour, verifies every stop and returns 0", async () => {
    const output = new Recorder();
    const code = await runDemo({ port: null, once: true, stdout: output });
    expect(output.text).not.toContain("FAILED");
    expect(output.text).toContain("All 9 stops went as expected.");
    expect(code).toBe(0);
    for (const line of output.text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    expect(output.text).not.toContain("\u001b");
  });

  it("stays until it is stopped, and every printed command works", async () => {
    const output = new Recorder();
    const stop = new AbortController();
    const isReady = output.waitFor("Stop with");
    const ended = runDemo({ port: 0, once: false, stdout: output, signal: stop.signal });
    await isReady;
    const commands = output.text.split("curl ").slice(1);
    expect(commands).toHaveLength(4);
    for (const command of commands) {
      const { status, text } = await sendPasted(command);
      expect(status).toBe(200);
      expect(text).toContain("scripted");
    }
    stop.abort();
    expect(await ended).toBe(0);
  });
});
