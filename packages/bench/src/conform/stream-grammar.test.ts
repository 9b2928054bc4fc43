import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ANSWERS } from "../mock/answers.ts";
import type { ClientDialect } from "./check.ts";
import { parseEvents, readStream } from "./stream-grammar.ts";

const CHAT = ANSWERS["openai-chat"].stream?.parts.map(String).join("") ?? "";
const MESSAGES = ANSWERS.anthropic.stream?.parts.map(String).join("") ?? "";

/** The stream without its `index`-th event. */
function without(stream: string, match: RegExp): string {
  return stream
    .split("\n\n")
    .filter((block) => !match.test(block))
    .join("\n\n");
}

describe("parseEvents", () => {
  it.each([
    {
      name: "joins the data lines of an event",
      body: "data: a\ndata: b\n\n",
      expected: [{ name: undefined, data: "a\nb" }],
    },
    { name: "reads CRLF", body: "event: x\r\ndata: 1\r\n\r\n", expected: [{ name: "x", data: "1" }] },
    { name: "ignores comments", body: ": keep-alive\n\ndata: 1\n\n", expected: [{ name: undefined, data: "1" }] },
    {
      name: "drops an event that was cut off",
      body: "data: 1\n\ndata: 2\n",
      expected: [{ name: undefined, data: "1" }],
    },
  ])("$name", ({ body, expected }) => {
    expect(parseEvents(body)).toEqual(expected);
  });
});

describe("readStream", () => {
  it.each([
    { name: "a whole chat stream", dialect: "openai-chat", body: CHAT },
    { name: "a whole Messages stream", dialect: "anthropic", body: MESSAGES },
    {
      name: "a Messages stream with a ping",
      dialect: "anthropic",
      body: MESSAGES.replace(
        "event: content_block_start",
        'event: ping\ndata: {"type":"ping"}\n\nevent: content_block_start',
      ),
    },
  ] as const)("accepts $name", ({ dialect, body }) => {
    const reading = readStream(dialect, body);
    expect(reading.problems).toEqual([]);
    expect(reading).toMatchObject({ isFinished: true, hasError: false, outputTokens: 20 });
    expect(reading.text).toMatch(/^The quick brown fox/);
  });

  it.each([
    { name: "without [DONE]", dialect: "openai-chat", body: without(CHAT, /DONE/), problem: "no [DONE]" },
    {
      name: "with an event after [DONE]",
      dialect: "openai-chat",
      body: `${CHAT}data: {}\n\n`,
      problem: "events after [DONE]",
    },
    {
      name: "without a finish reason",
      dialect: "openai-chat",
      body: without(CHAT, /"stop"/),
      problem: "0 finish reasons",
    },
    {
      name: "without a role",
      dialect: "openai-chat",
      body: without(CHAT, /"role"/),
      problem: "the first delta does not say role assistant",
    },
    {
      name: "with data that is not JSON",
      dialect: "openai-chat",
      body: `data: {\n\n${CHAT}`,
      problem: "an event whose data is not JSON",
    },
    {
      name: "without message_start",
      dialect: "anthropic",
      body: without(MESSAGES, /event: message_start/),
      problem: "does not begin with message_start",
    },
    {
      name: "without message_stop",
      dialect: "anthropic",
      body: without(MESSAGES, /event: message_stop/),
      problem: "does not end with message_stop",
    },
    {
      name: "without message_delta",
      dialect: "anthropic",
      body: without(MESSAGES, /event: message_delta/),
      problem: "no message_delta",
    },
    {
      name: "with a block left open",
      dialect: "anthropic",
      body: without(MESSAGES, /event: content_block_stop/),
      problem: "block 0 is not closed",
    },
    {
      name: "with deltas outside of a block",
      dialect: "anthropic",
      body: without(MESSAGES, /event: content_block_start/),
      problem: "a delta of block 0 outside of it",
    },
    {
      name: "with a name that is not its type",
      dialect: "anthropic",
      body: MESSAGES.replace("event: message_stop", "event: end"),
      problem: "an event whose name is not its type",
    },
  ] as const)("finds fault with a stream $name", ({ dialect, body, problem }) => {
    expect(readStream(dialect, body).problems).toContain(problem);
  });

  it.each([
    { dialect: "openai-chat", body: without(CHAT, /DONE/).concat('data: {"error":{"message":"x"}}\n\n') },
    {
      dialect: "anthropic",
      body: without(MESSAGES, /message_stop/).concat('event: error\ndata: {"type":"error","error":{}}\n\n'),
    },
  ] as const)("tells an error event of $dialect from an end", ({ dialect, body }) => {
    expect(readStream(dialect, body)).toMatchObject({ isFinished: false, hasError: true });
  });

  it("takes no cut stream for a finished one, wherever it is cut", () => {
    const streams = fc.constantFrom<[ClientDialect, string]>(["openai-chat", CHAT], ["anthropic", MESSAGES]);
    fc.assert(
      fc.property(streams, fc.nat(), ([dialect, stream], at) => {
        const cut = stream.slice(0, at % (stream.length - 1));
        expect(readStream(dialect, cut).isFinished).toBe(false);
      }),
    );
  });
});
