// Which HTTP front end a standalone server gets. They are told apart by a request line with two spaces before the version: RFC 9112 §3
// lets a server take it, as node:http does; the own front end refuses it.
import { afterEach, describe, expect, it } from "vitest";

import { serve } from "../src/index.ts";
import type { RunningServer } from "../src/index.ts";
import { frontEndOfRun } from "./harness/front-end.ts";
import { RawClient } from "./harness/raw-client.ts";
import { buildStackConfig } from "./harness/stack-config.ts";
import { startBuiltStack } from "./harness/stack.ts";

const STATUS = { wire: 400, node: 200 } as const;

let running: RunningServer | null = null;
afterEach(() => running?.close(0));

async function statusOfWideLine(url: string): Promise<number> {
  const client = await RawClient.open(url);
  client.send("GET /healthz  HTTP/1.1\r\nhost: a\r\n\r\n");
  const { status } = await client.answer();
  client.destroy();
  return status;
}

describe("the front end of a standalone server", () => {
  const rows = [
    { configured: undefined, option: undefined, expected: "wire" },
    { configured: "wire", option: undefined, expected: "wire" },
    { configured: "node", option: undefined, expected: "node" },
    { configured: "wire", option: "node", expected: "node" },
    { configured: "node", option: "wire", expected: "wire" },
  ] as const;
  it.each(rows)("is $expected with $configured configured and $option asked for", async (row) => {
    const { server, ...config } = buildStackConfig("http://127.0.0.1:1");
    const { frontEnd: _ofRun, ...rest } = server ?? {};
    running = await serve({
      config: { ...config, server: { ...rest, ...(row.configured && { frontEnd: row.configured }) } },
      ...(row.option && { frontEnd: row.option }),
    });
    expect(await statusOfWideLine(running.url)).toBe(STATUS[row.expected]);
  });

  it("is the run's in the stacks of these tests", async () => {
    const stack = await startBuiltStack();
    try {
      expect(await statusOfWideLine(stack.url)).toBe(STATUS[frontEndOfRun().frontEnd ?? "wire"]);
    } finally {
      await stack.close();
    }
  });
});
