import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createScriptedUpstream } from "../scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../scripted-upstream/index.ts";
import { sendTourRequest, spokenText } from "./tour-client.ts";
import type { TourStep } from "./tour-steps.ts";
import { walkTour } from "./walk-tour.ts";

let upstream: ScriptedUpstream;
let written: string;
const output = { write: (text: string): void => void (written += text) };

beforeEach(async () => {
  written = "";
  upstream = await createScriptedUpstream();
});
afterEach(async () => {
  await upstream.close();
});

function step(model: string, holds: boolean, stream = true): TourStep {
  const body = { model, stream, messages: [{ role: "user", content: "Hi" }] };
  return {
    title: `Ask ${model}`,
    shows: "What a step shows.",
    request: { dialect: "chat", body },
    check: () => [{ statement: "it is so", holds }],
  };
}

// The tour's client needs no gateway in front of it: the scripted upstream speaks the same dialects.
function walk(steps: readonly TourStep[], gatewayUrl: string = upstream.url): Promise<boolean> {
  return walkTour({ output, gatewayUrl, key: "k", upstream }, steps);
}

describe("walkTour", () => {
  it("reports request, upstream call, answer and what was verified", async () => {
    expect(await walk([step("scripted-text", true)])).toBe(true);
    expect(written).toContain("1. Ask scripted-text ─");
    expect(written).toMatch(/request {5}POST \/v1\/chat\/completions, model “scripted-text”, streamed/u);
    expect(written).toMatch(/answer {6}200, text\/event-stream; charset=utf-8, \d+ records/u);
    expect(written).toContain("ends with data: [DONE]");
    expect(written).toMatch(/verified {4}it is so/u);
    expect(written).toContain("All 1 stops went as expected.");
  });

  it("names the expectation that failed and walks on", async () => {
    expect(await walk([step("scripted-text", false), step("scripted-text", true)])).toBe(false);
    expect(written).toMatch(/FAILED {6}it is so/u);
    expect(written).toContain("2. Ask");
    expect(written).toContain("1 of 2 stops did not go as expected.");
  });

  it("counts a stop without any answer as failed", async () => {
    expect(await walk([step("scripted-cut-at-0", true)])).toBe(false);
    expect(written).toMatch(/FAILED {6}no answer: /u);
  });

  it("writes at most 100 columns and no control characters", async () => {
    await walk([step("scripted-unicode", true), step("scripted-error-500", true), step("scripted-tools", true, false)]);
    for (const line of written.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    expect(written).not.toContain("\u001b");
  });
});

describe("sendTourRequest", () => {
  it.each([
    { dialect: "chat" as const, model: "scripted-text", stream: false, isCutShort: false },
    { dialect: "chat" as const, model: "scripted-text", stream: true, isCutShort: false },
    { dialect: "messages" as const, model: "scripted-text", stream: false, isCutShort: false },
    { dialect: "messages" as const, model: "scripted-text", stream: true, isCutShort: false },
    { dialect: "chat" as const, model: "scripted-text:cut-after-6", stream: true, isCutShort: true },
  ])("reads a $dialect answer of $model, streamed: $stream", async ({ dialect, model, stream, isCutShort }) => {
    const body = { model, stream, max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
    const answer = await sendTourRequest(upstream.url, "k", { dialect, body });
    expect(answer).toMatchObject({ status: 200, isCutShort });
    expect(spokenText(answer)).toMatch(/^Hello! You said/u);
  });
});
