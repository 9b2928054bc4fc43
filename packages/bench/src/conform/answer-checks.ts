// Checks of ordinary answers: whole, streamed, large, translated, listed.
import { ANSWERS, STREAM_CONTENT_EVENTS } from "../mock/answers.ts";
import { LATENCY_PROFILES, scriptedMs } from "../mock/latency-profiles.ts";
import {
  BOTH_DIALECTS,
  fail,
  judgeProblems,
  notApplicable,
  pass,
  type Check,
  type CheckContext,
  type ClientDialect,
} from "./check.ts";
import type { Exchange } from "./exchange.ts";
import { parseJson, valueAt } from "./json-value.ts";
import { readStream } from "./stream-grammar.ts";

const CHAT_ANSWER = parseJson(ANSWERS["openai-chat"].plain.parts.map(String).join(""));
const EXPECTED_TEXT = String(valueAt(CHAT_ANSWER, "choices", 0, "message", "content"));
const EXPECTED_OUTPUT_TOKENS = valueAt(CHAT_ANSWER, "usage", "completion_tokens");
const LARGE_TEXT = "a large body is passed on whole, ".repeat(6400);
/** Below this share of the script a stream was held back and sent at once. */
const INCREMENTAL_SHARE = 0.5;

/** Where each dialect's plain answer holds what is checked. */
const PLACES: Readonly<
  Record<
    ClientDialect,
    {
      readonly text: (string | number)[];
      readonly kind: string[];
      readonly kindValue: string;
      readonly finish: (string | number)[];
      readonly tokens: string[];
    }
  >
> = {
  "openai-chat": {
    text: ["choices", 0, "message", "content"],
    kind: ["object"],
    kindValue: "chat.completion",
    finish: ["choices", 0, "finish_reason"],
    tokens: ["usage", "completion_tokens"],
  },
  anthropic: {
    text: ["content", 0, "text"],
    kind: ["type"],
    kindValue: "message",
    finish: ["stop_reason"],
    tokens: ["usage", "output_tokens"],
  },
};

/** Problems of a plain answer. */
function plainProblems(dialect: ClientDialect, { status, headers, body, end }: Exchange): string[] {
  if (status !== 200) return [`status ${status ?? "none"} instead of 200`];
  const places = PLACES[dialect];
  const value = parseJson(body);
  const problems: string[] = [];
  if (end !== "complete") problems.push(`the answer was ${end}`);
  if (value === undefined) return [...problems, "the body is not JSON"];
  if (!String(headers["content-type"]).startsWith("application/json"))
    problems.push(`content-type ${String(headers["content-type"])}`);
  if (valueAt(value, ...places.kind) !== places.kindValue)
    problems.push(`${places.kind.join(".")} is not ${places.kindValue}`);
  if (valueAt(value, ...places.text) !== EXPECTED_TEXT) problems.push("the text is not the upstream's");
  if (typeof valueAt(value, ...places.finish) !== "string") problems.push(`${places.finish.join(".")} is missing`);
  if (valueAt(value, ...places.tokens) !== EXPECTED_OUTPUT_TOKENS)
    problems.push(`${places.tokens.join(".")} is not the upstream's`);
  return problems;
}

async function checkStream({ dialect, send }: CheckContext): Promise<ReturnType<typeof judgeProblems>> {
  const { status, headers, body, end } = await send({ isStreamed: true });
  if (status !== 200) return fail(`status ${status ?? "none"} instead of 200`);
  const reading = readStream(dialect, body);
  const problems = [...reading.problems];
  if (end !== "complete") problems.push(`the answer was ${end}`);
  if (!String(headers["content-type"]).startsWith("text/event-stream"))
    problems.push(`content-type ${String(headers["content-type"])}`);
  if (reading.text !== EXPECTED_TEXT) problems.push("the text is not the upstream's");
  if (reading.outputTokens !== EXPECTED_OUTPUT_TOKENS) problems.push("the usage is not the upstream's");
  return judgeProblems(problems, "events in order, text and usage as sent");
}

/** Checks of ordinary answers, in the order they run. */
export const ANSWER_CHECKS: readonly Check[] = [
  {
    id: "answer",
    title: "answers in the client's shape",
    dialects: BOTH_DIALECTS,
    run: async ({ dialect, send }) =>
      judgeProblems(plainProblems(dialect, await send({})), "text, stop reason and usage as sent"),
  },
  { id: "stream", title: "streams by the dialect's grammar", dialects: BOTH_DIALECTS, run: checkStream },
  {
    id: "stream-incremental",
    title: "passes events on as they come",
    dialects: BOTH_DIALECTS,
    run: async ({ send, upstream }) => {
      await upstream.setProfile("LS");
      const { status, bodyMs } = await send({ isStreamed: true });
      const profile = LATENCY_PROFILES.LS;
      const scripted = scriptedMs(profile, STREAM_CONTENT_EVENTS) - profile.firstMs;
      if (status !== 200) return fail(`status ${status ?? "none"} instead of 200`);
      const detail = `body over ${bodyMs.toFixed(0)} ms of the script's ${scripted} ms`;
      return bodyMs >= scripted * INCREMENTAL_SHARE ? pass(detail) : fail(`held back: ${detail}`);
    },
  },
  {
    id: "large-body",
    title: "passes a body of 200 KB on whole",
    dialects: BOTH_DIALECTS,
    run: async ({ dialect, send, upstream }) => {
      const problems = plainProblems(dialect, await send({ text: LARGE_TEXT }));
      const [call] = await upstream.details();
      if (!call?.body.includes(LARGE_TEXT)) problems.push("the upstream did not get the whole text");
      return judgeProblems(problems, "the upstream got every byte of the text");
    },
  },
  {
    id: "translate",
    title: "serves an OpenAI model to an Anthropic client",
    dialects: ["anthropic"],
    run: async ({ dialect, traffic, send, upstream }) => {
      if (traffic.model("cross") === traffic.model("anthropic"))
        return notApplicable("it has no model of another dialect");
      const problems = plainProblems(dialect, await send({ route: "cross" }));
      const [call] = await upstream.details();
      if (call === undefined || call.target.includes("/messages"))
        problems.push("the upstream was not called in OpenAI's dialect");
      return judgeProblems(problems, `translated to ${call?.target ?? "nothing"}`);
    },
  },
  {
    id: "translate-stream",
    title: "streams an OpenAI model to an Anthropic client",
    dialects: ["anthropic"],
    run: async ({ dialect, traffic, send }) => {
      if (traffic.model("cross") === traffic.model("anthropic"))
        return notApplicable("it has no model of another dialect");
      const { status, body } = await send({ route: "cross", isStreamed: true });
      if (status !== 200) return fail(`status ${status ?? "none"} instead of 200`);
      const reading = readStream(dialect, body);
      return judgeProblems(
        reading.text === EXPECTED_TEXT ? reading.problems : [...reading.problems, "the text is not the upstream's"],
        "events in order",
      );
    },
  },
];
