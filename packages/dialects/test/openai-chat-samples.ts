// Requests, answers and streams of the Chat Completions API as clients and servers write them, standard and odd but legal.
import fc from "fast-check";

import type { JsonObject, JsonValue } from "../src/testing/spelled-json.ts";
import type { SampleStream } from "../src/testing/subject.ts";
import {
  argumentsText,
  counts,
  fragmentSizes,
  fragmentsOf,
  frame,
  framing,
  objectSchema,
  someOf,
  toolName,
  visibleText,
} from "./json-samples.ts";
import type { Counts } from "./json-samples.ts";

const vendor = fc.constantFrom<JsonObject>({}, { vendor_x: { a: [1, "é"] } });
const mark = fc.constantFrom<JsonObject>({}, { prompt_cache_breakpoint: { mode: "explicit" } });
const textPart = fc
  .tuple(visibleText, mark, vendor)
  .map(([text, marks, extra]) => ({ type: "text", text, ...marks, ...extra }));
const mediaPart = fc.constantFrom<JsonObject>(
  { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0K" } },
  { type: "image_url", image_url: { url: "https://example.test/a.png", detail: "low" } },
  { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
  { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0x", filename: "a.pdf" } },
  { type: "file", file: { file_id: "file-1" } },
  { type: "vendor_part", vendor: true },
);
const userContent = fc.oneof(
  visibleText,
  fc.array(fc.oneof({ weight: 2, arbitrary: textPart }, { weight: 1, arbitrary: mediaPart }), {
    minLength: 2,
    maxLength: 3,
  }),
);

const call = fc.record({
  name: toolName,
  text: argumentsText,
  isCustom: fc.integer({ min: 0, max: 5 }).map((roll) => roll === 0),
});

/** One exchange: a user's turn, the assistant's, and results where it called tools, in any order. */
const turn = fc.record({
  user: userContent,
  name: fc.option(fc.constant("Bo"), { nil: undefined, freq: 6 }),
  text: fc.option(visibleText, { nil: undefined }),
  refusal: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
  calls: fc.array(call, { maxLength: 3 }),
  areResultsReversed: fc.boolean(),
  result: fc.oneof(visibleText, fc.constant("")),
});

const members = someOf({
  temperature: fc.constantFrom(0, 0.5, 1, 2),
  top_p: fc.constantFrom(0.1, 1),
  max_completion_tokens: fc.integer({ min: 1, max: 100_000 }),
  seed: fc.integer(),
  n: fc.integer({ min: 2, max: 8 }),
  stop: fc.array(visibleText, { minLength: 1, maxLength: 4 }),
  reasoning_effort: fc.constantFrom("none", "minimal", "low", "high", "xhigh"),
  verbosity: fc.constantFrom("low", "high"),
  metadata: fc.constant({ a: "b", é: "" }),
  user: visibleText,
  safety_identifier: toolName,
  service_tier: fc.constantFrom("default", "flex", "vendor_tier"),
  store: fc.constant(true),
  prompt_cache_key: visibleText,
  prompt_cache_options: fc.constantFrom<JsonObject>({ mode: "explicit" }, { mode: "explicit", ttl: "30m" }),
  logit_bias: fc.constant({ "50256": -100 }),
  presence_penalty: fc.constantFrom(-2, 0.5),
  prediction: fc.constant({ type: "content", content: "x" }),
  web_search_options: fc.constant({}),
  moderation: fc.constant({ model: "x" }),
  vendor_member: fc.jsonValue({ maxDepth: 1 }).filter((value) => value !== null) as fc.Arbitrary<JsonValue>,
  response_format: fc.constantFrom<JsonObject>(
    { type: "json_object" },
    {
      type: "json_schema",
      json_schema: { name: "o", schema: { type: "object", properties: {}, additionalProperties: false }, strict: true },
    },
  ),
});

/** Few members, so that many requests are ones that other dialects can say. */
const commonMembers = someOf({
  temperature: fc.constantFrom(0, 0.5),
  max_completion_tokens: fc.integer({ min: 1, max: 100_000 }),
  stop: fc.array(visibleText, { minLength: 1, maxLength: 4 }),
  user: toolName,
});

const tools = fc.uniqueArray(
  fc.record({ name: toolName, description: fc.option(visibleText, { nil: undefined }), parameters: objectSchema }),
  {
    selector: ({ name }) => name,
    maxLength: 3,
  },
);

const choice = fc.constantFrom<JsonValue>("none", "required", "named", "allowed");

/** Requests that are already in this dialect's own spelling. */
export const chatRequests: fc.Arbitrary<JsonObject> = fc
  .record({
    system: fc.option(fc.oneof(visibleText, fc.array(textPart, { minLength: 2, maxLength: 3 })), { nil: undefined }),
    role: fc.constantFrom("system", "developer"),
    turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
    members: fc.oneof(members, commonMembers),
    tools,
    choice: fc.option(choice, { nil: undefined }),
    isSequential: fc.boolean(),
    stream: fc.constantFrom<JsonObject>({}, { stream: true }),
  })
  .map((plan) => {
    const messages: JsonValue[] = plan.system === undefined ? [] : [{ role: plan.role, content: plan.system }];
    let made = 0;
    for (const { user, name, text, refusal, calls, areResultsReversed, result } of plan.turns) {
      messages.push({ role: "user", content: user, ...(name === undefined ? null : { name }) });
      const toolCalls = calls.map((made_): JsonObject => {
        made += 1;
        const id = `call_${made}`;
        return made_.isCustom
          ? { id, type: "custom", custom: { name: made_.name, input: made_.text } }
          : { id, type: "function", function: { name: made_.name, arguments: made_.text } };
      });
      if (toolCalls.length > 0) {
        messages.push({ role: "assistant", content: text ?? null, tool_calls: toolCalls });
        const results = toolCalls.map(({ id }) => ({ role: "tool", tool_call_id: id as JsonValue, content: result }));
        messages.push(...(areResultsReversed ? results.toReversed() : results));
      } else if (refusal) messages.push({ role: "assistant", content: null, refusal: "No." });
      else if (text !== undefined) messages.push({ role: "assistant", content: text });
    }
    messages.push({ role: "user", content: "Go on" });
    const [first] = plan.tools;
    return {
      model: "m",
      messages: mergeUsers(messages),
      ...plan.members,
      ...(first === undefined
        ? null
        : {
            tools: plan.tools.map(({ description, ...tool }) => ({
              type: "function",
              function: { ...tool, ...(description === undefined ? null : { description }) },
            })),
            ...(plan.choice === undefined ? null : { tool_choice: choiceOf(plan.choice as string, first.name) }),
            // Without calls there is nothing to put in sequence.
            ...(plan.isSequential && plan.choice !== "none" ? { parallel_tool_calls: false } : null),
          }),
      ...plan.stream,
    };
  });

/** Users speak once in a row; several messages of one role are a spelling that the neutral form does not keep. */
function mergeUsers(messages: readonly JsonValue[]): readonly JsonValue[] {
  return messages.flatMap((message, index): JsonValue[] => {
    const next = messages[index + 1];
    const isUser = (value: JsonValue | undefined): boolean => (value as JsonObject | undefined)?.["role"] === "user";
    return isUser(message) && isUser(next) ? [message, { role: "assistant", content: "Hm." }] : [message];
  });
}

function choiceOf(word: string, name: string): JsonValue {
  const tool = { type: "function", function: { name } };
  if (word === "named") return tool;
  return word === "allowed" ? { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tool] } } : word;
}

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
export function chatUsage({ input, output, cacheRead, cacheWrite, reasoning }: Counts): JsonObject {
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
