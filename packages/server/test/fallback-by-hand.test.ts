/** The example that compares a fall-back written by hand with the gateway's: both must answer in the cases that it names. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { askByHand, type Providers } from "../../../examples/fallback-by-hand/by-hand.ts";
import { askWithDragoman } from "../../../examples/fallback-by-hand/with-dragoman.ts";
import { createScriptedUpstream } from "../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../src/scripted-upstream/index.ts";

let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await createScriptedUpstream();
});
afterAll(() => upstream.close());

async function collect(pieces: AsyncGenerator<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

const WAYS: readonly (readonly [string, (question: string, providers: Providers) => AsyncGenerator<string>])[] = [
  ["by hand", askByHand],
  ["with Dragoman", askWithDragoman],
];

describe.each(WAYS)("a fall-back %s", (_name, ask) => {
  it.each([
    ["a first provider that works", "scripted-text", "/v1/chat/completions"],
    ["a first provider that answers 503", "scripted-error-503", "/v1/messages"],
    ["a first provider that says 200 and then fails", "scripted-error-record", "/v1/messages"],
  ])("answers with %s", async (_case, first, servedAt) => {
    upstream.clear();
    const text = await collect(ask("Hello", { url: upstream.url, first, second: "scripted-text" }));
    expect(text).toBe("Hello! You said: “Hello”. This answer is scripted.");
    expect(upstream.calls.at(-1)?.path).toBe(servedAt);
  });
});
