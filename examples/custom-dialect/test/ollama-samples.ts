/** Streams and whole answers of Ollama as its server writes them, standard and odd but legal. */
import fc from "fast-check";

import { argumentsText, fragmentSizes, fragmentsOf, toolName, visibleText } from "@dragoman/dialects/testing";
import type { JsonObject, SampleStream } from "@dragoman/dialects/testing";

const CREATED_AT = "2026-01-15T10:30:00.123456789Z";

interface Plan {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly text: string }[];
  readonly doneReason: "stop" | "length" | "load";
  /** Newer servers give ids. */
  readonly hasIds: boolean;
  readonly counts: JsonObject;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  thinking: fc.oneof(fc.constant(""), visibleText),
  text: fc.oneof(fc.constant(""), visibleText),
  calls: fc.array(fc.record({ name: toolName, text: argumentsText }), { maxLength: 3 }),
  doneReason: fc.constantFrom("stop", "stop", "length", "load"),
  hasIds: fc.boolean(),
  counts: fc.record(
    { prompt_eval_count: fc.integer({ min: 1, max: 500 }), eval_count: fc.integer({ min: 1, max: 500 }) },
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<JsonObject>,
});

interface Habits {
  readonly sizes: readonly number[];
  readonly lineEnd: "\n" | "\r\n";
  readonly isLastOpen: boolean;
  /** All calls in one line, or each in its own. */
  readonly callsTogether: boolean;
  /** The last line carries the last text, or an empty message. */
  readonly textWithDone: boolean;
}

const habits: fc.Arbitrary<Habits> = fc.record({
  sizes: fragmentSizes,
  lineEnd: fc.constantFrom("\n", "\r\n"),
  isLastOpen: fc.boolean(),
  callsTogether: fc.boolean(),
  textWithDone: fc.boolean(),
}) as fc.Arbitrary<Habits>;

/** Upstream streams with the answer that each one says. */
export const ollamaStreams: fc.Arbitrary<SampleStream> = fc.tuple(plan, habits).map(([said, habit]) => {
  const text = linesOf(said, habit).join(habit.lineEnd) + habit.lineEnd;
  return { text: habit.isLastOpen ? text.slice(0, -habit.lineEnd.length) : text, whole: wholeOf(said) };
});

/** Records that `readUsage` reads: Ollama's counts stand at the root. */
export const ollamaUsages: fc.Arbitrary<JsonObject> = fc.record(
  {
    prompt_eval_count: fc.integer({ min: 1, max: 500 }),
    eval_count: fc.nat(500),
    eval_duration: fc.nat(),
  },
  { requiredKeys: ["prompt_eval_count"], noNullPrototype: true },
) as fc.Arbitrary<JsonObject>;

/** Objects are written by hand, so that arguments keep the spelling of their numbers. */
function callsJson({ calls, hasIds }: Plan, from: number, to: number): string {
  const items = calls.slice(from, to).map(({ name, text }, index) => {
    const id = hasIds ? `"id":"call_${from + index}",` : "";
    return `{${id}"function":{"index":${from + index},"name":${JSON.stringify(name)},"arguments":${text}}}`;
  });
  return items.length === 0 ? "" : `,"tool_calls":[${items.join(",")}]`;
}

const HEAD = `"model":"up-model","created_at":"${CREATED_AT}"`;

const record = (content: string, thinking: string, calls: string, rest = `"done":false`): string =>
  `{${HEAD},"message":{"role":"assistant","content":${JSON.stringify(content)}${
    thinking === "" ? "" : `,"thinking":${JSON.stringify(thinking)}`
  }${calls}},${rest}}`;

const doneOf = ({ doneReason, counts }: Plan): string =>
  [`"done_reason":"${doneReason}"`, `"done":true`, `"total_duration":1`, JSON.stringify(counts).slice(1, -1)]
    .filter((member) => member !== "")
    .join(",");

function linesOf(said: Plan, { sizes, callsTogether, textWithDone }: Habits): readonly string[] {
  const lines = fragmentsOf(said.thinking, sizes).map((piece) => record("", piece, ""));
  const texts = [...fragmentsOf(said.text, sizes)];
  const isHeld = textWithDone && said.calls.length === 0;
  const last = isHeld ? (texts.pop() ?? "") : "";
  for (const piece of texts) lines.push(record(piece, "", ""));
  if (callsTogether && said.calls.length > 0) lines.push(record("", "", callsJson(said, 0, said.calls.length)));
  else said.calls.forEach((_, index) => lines.push(record("", "", callsJson(said, index, index + 1))));
  lines.push(record(last, "", "", doneOf(said)));
  return lines;
}

const wholeOf = (said: Plan): string =>
  record(said.text, said.thinking, callsJson(said, 0, said.calls.length), doneOf(said));
