// Streams and complete answers of the Chat Completions API as servers send them, standard and odd but legal.
import fc from "fast-check";

import type { JsonObject } from "../testing/spelled-json.ts";
import type { SampleStream } from "../testing/subject.ts";
import {
  argumentsText,
  counts,
  fragmentSizes,
  fragmentsOf,
  frame,
  framing,
  toolName,
  visibleText,
} from "../testing/json-samples.ts";
import type { Counts } from "../testing/json-samples.ts";

interface ChoicePlan {
  readonly reasoning: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly { readonly name: string; readonly text: string }[];
  readonly finish: string;
}

interface StreamHabits {
  readonly reasoningField: "reasoning_content" | "reasoning";
  readonly hasEarlyChunk: boolean;
  readonly repeatsRole: boolean;
  readonly namesCallsLate: boolean;
  readonly repeatsIds: boolean;
  readonly interleavesCalls: boolean;
  readonly wholeArguments: boolean;
  readonly usage: "own-chunk" | "with-finish" | "every-chunk";
  readonly hasDone: boolean;
}

const choicePlan: fc.Arbitrary<ChoicePlan> = fc
  .record({
    reasoning: fc.oneof(fc.constant(""), visibleText),
    text: fc.oneof(fc.constant(""), visibleText),
    refusal: fc.oneof({ weight: 4, arbitrary: fc.constant("") }, { weight: 1, arbitrary: visibleText }),
    calls: fc.array(fc.record({ name: toolName, text: argumentsText }), { maxLength: 3 }),
    isCut: fc.integer({ min: 0, max: 4 }).map((roll) => roll === 0),
    saysStop: fc.boolean(),
  })
  .map(({ isCut, saysStop, ...plan }) => {
    const finish = plan.calls.length > 0 && !saysStop ? "tool_calls" : "stop";
    return { ...plan, finish: isCut ? "length" : finish };
  });

const habits: fc.Arbitrary<StreamHabits> = fc.record({
  reasoningField: fc.constantFrom("reasoning_content", "reasoning"),
  hasEarlyChunk: fc.boolean(),
  repeatsRole: fc.boolean(),
  namesCallsLate: fc.boolean(),
  repeatsIds: fc.boolean(),
  interleavesCalls: fc.boolean(),
  wholeArguments: fc.boolean(),
  usage: fc.constantFrom("own-chunk", "with-finish", "every-chunk"),
  hasDone: fc.boolean(),
}) as fc.Arbitrary<StreamHabits>;

const HEAD = { id: "c1", object: "chat.completion.chunk", created: 1, model: "up-model" };

/** Upstream streams with the answer that each one says. */
export const chatStreams: fc.Arbitrary<SampleStream> = fc
  .record({
    plans: fc.array(choicePlan, { minLength: 1, maxLength: 2 }),
    habits,
    sizes: fragmentSizes,
    counts,
    framing,
  })
  .map(({ plans, habits: habit, sizes, counts: counted, framing: framed }) => {
    const chunks = chunksOf(plans, habit, sizes, chatUsage(counted));
    const records = chunks.map((chunk) => [`data: ${JSON.stringify(chunk)}`]);
    if (habit.hasDone) records.push(["data: [DONE]"]);
    return { text: frame(records, framed), whole: JSON.stringify(wholeOf(plans, habit, chatUsage(counted))) };
  });

/** Counts in this dialect's members. */
function chatUsage({ input, output, cacheRead, cacheWrite, reasoning }: Counts): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function chunksOf(
  plans: readonly ChoicePlan[],
  habit: StreamHabits,
  sizes: readonly number[],
  usage: JsonObject,
): readonly JsonObject[] {
  const chunks: JsonObject[] = [];
  const always: JsonObject = habit.usage === "every-chunk" ? { usage: null } : {};
  const add = (index: number, delta: JsonObject, finish: string | null, extra: JsonObject = {}): void => {
    const role: JsonObject = habit.repeatsRole ? { role: "assistant" } : {};
    chunks.push({
      ...HEAD,
      choices: [{ index, delta: { ...role, ...delta }, finish_reason: finish }],
      ...always,
      ...extra,
    });
  };
  if (habit.hasEarlyChunk) chunks.push({ ...HEAD, choices: [], prompt_filter_results: [] });
  plans.forEach((_plan, index) => {
    add(index, { role: "assistant", content: "" }, null);
  });
  plans.forEach((plan, index) => {
    for (const delta of deltasOf(plan, habit, sizes)) add(index, delta, null);
  });
  plans.forEach((plan, index) => {
    const isLast = index === plans.length - 1;
    add(index, {}, plan.finish, isLast && habit.usage === "with-finish" ? { usage } : {});
  });
  if (habit.usage !== "with-finish") chunks.push({ ...HEAD, choices: [], usage });
  return chunks;
}

function deltasOf(plan: ChoicePlan, habit: StreamHabits, sizes: readonly number[]): readonly JsonObject[] {
  const deltas: JsonObject[] = [];
  const texts = [
    [habit.reasoningField, plan.reasoning],
    ["content", plan.text],
    ["refusal", plan.refusal],
  ] as const;
  for (const [member, text] of texts) {
    if (text === "") continue;
    for (const fragment of fragmentsOf(text, sizes)) deltas.push({ [member]: fragment });
  }
  const calls = plan.calls.map((call_, index) => callDeltas(call_, index, habit, sizes));
  if (habit.interleavesCalls) {
    const longest = Math.max(0, ...calls.map((list) => list.length));
    for (let step = 0; step < longest; step++) for (const list of calls) deltas.push(...list.slice(step, step + 1));
  } else deltas.push(...calls.flat());
  return deltas;
}

function callDeltas(
  { name, text }: { readonly name: string; readonly text: string },
  index: number,
  habit: StreamHabits,
  sizes: readonly number[],
): readonly JsonObject[] {
  const id = `call_${index + 1}`;
  const again: JsonObject = habit.repeatsIds ? { id } : {};
  const wrap = (fragment: JsonObject): JsonObject => ({ tool_calls: [{ index, ...fragment }] });
  if (habit.wholeArguments) return [wrap({ id, type: "function", function: { name, arguments: text } })];
  const start: JsonObject[] = habit.namesCallsLate
    ? [wrap({ id, type: "function", function: { arguments: "" } }), wrap({ ...again, function: { name } })]
    : [wrap({ id, type: "function", function: { name, arguments: "" } })];
  return [
    ...start,
    ...fragmentsOf(text, sizes).map((fragment) => wrap({ ...again, function: { arguments: fragment } })),
  ];
}

function wholeOf(plans: readonly ChoicePlan[], habit: StreamHabits, usage: JsonObject): JsonObject {
  const choices = plans.map(({ reasoning, text, refusal, calls, finish }, index) => ({
    index,
    message: {
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      refusal: refusal === "" ? null : refusal,
      ...(reasoning === "" ? null : { [habit.reasoningField]: reasoning }),
      ...(calls.length === 0
        ? null
        : {
            tool_calls: calls.map((made, number) => ({
              id: `call_${number + 1}`,
              type: "function",
              function: { name: made.name, arguments: made.text },
            })),
          }),
    },
    logprobs: null,
    finish_reason: finish,
  }));
  return { id: "c1", object: "chat.completion", created: 1, model: "up-model", choices, usage };
}
