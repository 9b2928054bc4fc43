// The steps of the tour: what is asked, what has to come back, and what that shows. Each expectation is checked on the answer
// that the client got and on the calls that the scripted upstream saw.
import type { UpstreamCallLog } from "../scripted-upstream/index.ts";
import { at, parseJson, spokenText } from "./tour-client.ts";
import type { TourAnswer, TourRequest } from "./tour-client.ts";

/** One statement about a step, and whether it holds. */
export interface Expectation {
  readonly statement: string;
  readonly holds: boolean;
}

/** One stop of the tour. */
export interface TourStep {
  readonly title: string;
  readonly shows: string;
  readonly request: TourRequest;
  check(answer: TourAnswer, calls: readonly UpstreamCallLog[]): readonly Expectation[];
}

const GREETING = "Hello! You said:";
const BRIEF = "Be brief.";

function expectation(statement: string, holds: boolean): Expectation {
  return { statement, holds };
}

function status(answer: TourAnswer, wanted: number): Expectation {
  return expectation(`status ${wanted}`, answer.status === wanted);
}

function deployment(answer: TourAnswer, id: string): Expectation {
  return expectation(`deployment ${id} served`, answer.headers["x-dragoman-deployment"] === id);
}

function upstreamPath(calls: readonly UpstreamCallLog[], path: string): Expectation {
  return expectation(`upstream asked at ${path}`, calls.length === 1 && calls[0]?.path === path);
}

function says(answer: TourAnswer, text: string): Expectation {
  return expectation(`says “${text}…”`, spokenText(answer).startsWith(text));
}

function ask(model: string, text: string, more: Readonly<Record<string, unknown>> = {}): TourRequest["body"] {
  return { model, ...more, messages: [{ role: "user", content: text }] };
}

const PASS_THROUGH = ask("chat", "Hello there");

const WEATHER_TOOL = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

function weatherCall(position: number, city: string): Readonly<Record<string, unknown>> {
  const id = `toolu_scripted_${position}`;
  return { id, type: "function", function: { name: "get_weather", arguments: JSON.stringify({ city }) } };
}

const SAME_DIALECT: readonly TourStep[] = [
  {
    title: "Same dialect: the body passes through as it came",
    shows: "Only the model's name is exchanged; no other byte of the request changes.",
    request: { dialect: "chat", body: PASS_THROUGH },
    check: (answer, calls) => [
      status(answer, 200),
      deployment(answer, "chat-1"),
      says(answer, GREETING),
      expectation(
        "upstream got the same bytes but for the model",
        calls[0]?.body.toString("utf8") === JSON.stringify({ ...PASS_THROUGH, model: "scripted-text" }),
      ),
    ],
  },
  {
    title: "Same dialect, streamed",
    shows: "Events are handed on as they arrive, with every event name in its place.",
    request: { dialect: "messages", body: ask("messages", "Hello again", { max_tokens: 200, stream: true }) },
    check: (answer) => [
      status(answer, 200),
      deployment(answer, "messages-1"),
      expectation("begins with message_start", answer.records[0]?.event === "message_start"),
      expectation("ends with message_stop", answer.records.at(-1)?.event === "message_stop"),
      says(answer, GREETING),
    ],
  },
];

const TRANSLATED: readonly TourStep[] = [
  {
    title: "OpenAI-style client, Anthropic-style upstream",
    shows: "The system message moves to where the upstream wants it; the answer comes back in the client's form.",
    request: {
      dialect: "chat",
      body: {
        model: "messages",
        max_completion_tokens: 200,
        messages: [
          { role: "system", content: BRIEF },
          { role: "user", content: "Hello across" },
        ],
      },
    },
    check: (answer, calls) => [
      status(answer, 200),
      upstreamPath(calls, "/v1/messages"),
      expectation("upstream got the system text as a member", at(calls[0]?.json, "system") === BRIEF),
      expectation("finish_reason is “stop”", at(parseJson(answer.text), "choices", 0, "finish_reason") === "stop"),
      says(answer, GREETING),
    ],
  },
  {
    title: "Anthropic-style client, OpenAI-style upstream, streamed",
    shows: "Chunks of one grammar become blocks of the other, event by event.",
    request: { dialect: "messages", body: ask("chat", "Hello back", { max_tokens: 200, stream: true }) },
    check: (answer, calls) => [
      status(answer, 200),
      upstreamPath(calls, "/v1/chat/completions"),
      expectation("begins with message_start", answer.records[0]?.event === "message_start"),
      expectation("ends with message_stop", answer.records.at(-1)?.event === "message_stop"),
      says(answer, GREETING),
    ],
  },
  {
    title: "Two tool calls at once, across dialects",
    shows: "Parallel calls keep their order, ids and arguments on the way through.",
    request: {
      dialect: "chat",
      body: ask("tools", "Weather in Oslo and Rome?", { max_tokens: 200, tools: [WEATHER_TOOL] }),
    },
    check: (answer) => {
      const choice = at(parseJson(answer.text), "choices", 0);
      const calls = at(choice, "message", "tool_calls");
      return [
        status(answer, 200),
        expectation("finish_reason is “tool_calls”", at(choice, "finish_reason") === "tool_calls"),
        expectation("two calls", Array.isArray(calls) && calls.length === 2),
        expectation("with the arguments", at(calls, 1, "function", "arguments") === JSON.stringify({ city: "Rome" })),
      ];
    },
  },
  {
    title: "… and their results on the way back",
    shows: "Tool messages become result blocks; the upstream can quote what the tools said.",
    request: {
      dialect: "chat",
      body: {
        model: "tools",
        max_tokens: 200,
        messages: [
          { role: "user", content: "Weather in Oslo and Rome?" },
          { role: "assistant", content: null, tool_calls: [weatherCall(1, "Oslo"), weatherCall(2, "Rome")] },
          { role: "tool", tool_call_id: "toolu_scripted_1", content: "7 degrees" },
          { role: "tool", tool_call_id: "toolu_scripted_2", content: "19 degrees" },
        ],
        tools: [WEATHER_TOOL],
      },
    },
    check: (answer) => [
      status(answer, 200),
      deployment(answer, "tools-1"),
      expectation("quotes the first result", spokenText(answer).includes("toolu_scripted_1 returned “7 degrees”")),
      expectation("quotes the second result", spokenText(answer).includes("toolu_scripted_2 returned “19 degrees”")),
    ],
  },
];

const FAILURES: readonly TourStep[] = [
  {
    title: "Fallback before the first content",
    shows: "The first upstream says 200 and then fails. Nothing was sent yet, so the second one answers.",
    request: { dialect: "chat", body: ask("fallback", "Hello twice", { max_tokens: 200, stream: true }) },
    check: (answer, calls) => [
      status(answer, 200),
      expectation("two upstream calls", calls.length === 2),
      deployment(answer, "second"),
      says(answer, GREETING),
      expectation("ends with [DONE]", answer.records.at(-1)?.data === "[DONE]"),
    ],
  },
  {
    title: "Refusal by dry run",
    shows: "No deployment can express n = 2. The client learns why, and no upstream is asked.",
    request: { dialect: "chat", body: ask("strict", "Two answers, please", { max_tokens: 200, n: 2 }) },
    check: (answer, calls) => [
      status(answer, 400),
      expectation("code is unsupported_request", at(parseJson(answer.text), "error", "code") === "unsupported_request"),
      expectation("names the member", answer.text.includes("/n")),
      expectation("no upstream call", calls.length === 0),
    ],
  },
  {
    title: "Error after the first content",
    shows: "The upstream goes away in mid-stream. The client sees an error, never a clean end.",
    request: { dialect: "chat", body: ask("breaks", "Hello and goodbye", { stream: true }) },
    check: (answer) => [
      status(answer, 200),
      says(answer, "Hello"),
      expectation(
        "the last record is an error",
        at(parseJson(answer.records.at(-1)?.data ?? ""), "error") !== undefined,
      ),
      expectation(
        "no [DONE]",
        answer.records.every((record) => record.data !== "[DONE]"),
      ),
      expectation("the HTTP message is complete", !answer.isCutShort),
    ],
  },
];

/** The tour in its order. */
export const TOUR: readonly TourStep[] = [...SAME_DIALECT, ...TRANSLATED, ...FAILURES];
