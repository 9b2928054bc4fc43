// Requests of the Chat Completions API as clients write them.
import fc from "fast-check";

import type { JsonObject, JsonValue } from "../testing/spelled-json.ts";
import { argumentsText, objectSchema, someOf, toolName, visibleText } from "../testing/json-samples.ts";

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
