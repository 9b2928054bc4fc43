import { describe, expect, it } from "vitest";

import type { PartHead, StreamEvent } from "./index.ts";
import { isContentBearing } from "./content-bearing.ts";

const start = (head: PartHead): StreamEvent => ({ type: "part-start", candidate: 0, part: 0, head });
const at = { candidate: 0, part: 0 } as const;
const raw = { value: 1 };

describe("isContentBearing", () => {
  it.each<{ readonly name: string; readonly event: StreamEvent; readonly expected: boolean }>([
    { name: "a start", event: { type: "start" }, expected: false },
    { name: "a text's start", event: start({ type: "text" }), expected: false },
    { name: "a refusal's start", event: start({ type: "refusal" }), expected: false },
    { name: "a reasoning's start", event: start({ type: "reasoning", form: "raw" }), expected: false },
    {
      name: "a tool call's start, which names the tool",
      event: start({ type: "tool-call", id: "1", name: "f", kind: "function" }),
      expected: true,
    },
    { name: "an image", event: start({ type: "image", media: { from: "text", text: "x" } }), expected: true },
    { name: "a server tool", event: start({ type: "server-tool", dialect: "d", raw }), expected: true },
    { name: "a text", event: { type: "text-delta", ...at, text: "x" }, expected: true },
    { name: "an empty text", event: { type: "text-delta", ...at, text: "" }, expected: false },
    {
      name: "an empty slice",
      event: { type: "reasoning-delta", ...at, text: { bytes: new Uint8Array(3), start: 2, end: 2 } },
      expected: false,
    },
    { name: "a refusal", event: { type: "refusal-delta", ...at, text: "x" }, expected: true },
    { name: "empty arguments", event: { type: "arguments-delta", ...at, text: "", encoded: true }, expected: false },
    {
      name: "a signature",
      event: { type: "signature-delta", ...at, signature: { origin: "o", data: "" } },
      expected: true,
    },
    { name: "a citation", event: { type: "citation-delta", ...at, raw }, expected: true },
    { name: "audio", event: { type: "audio-delta", ...at, raw }, expected: true },
    { name: "log probabilities", event: { type: "logprobs-delta", candidate: 0, raw }, expected: true },
    {
      name: "a stop: an empty answer is an answer",
      event: { type: "stop", candidate: 0, stop: { reason: "end", raw: "" } },
      expected: true,
    },
    { name: "a part's end", event: { type: "part-end", ...at }, expected: false },
    {
      name: "a usage",
      event: { type: "usage", usage: { input: 1, output: 1, source: "upstream", final: true } },
      expected: false,
    },
    { name: "a ping", event: { type: "ping" }, expected: false },
    { name: "an end", event: { type: "end" }, expected: false },
  ])("$name: $expected", ({ event, expected }) => {
    expect(isContentBearing(event)).toBe(expected);
  });
});
