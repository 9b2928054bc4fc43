// Requests, answers and streams of the Messages API as clients and servers write them, standard and odd but legal.
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

const mark = fc.constantFrom<JsonObject>(
  {},
  {},
  { cache_control: { type: "ephemeral" } },
  { cache_control: { type: "ephemeral", ttl: "1h" } },
);
const vendor = fc.constantFrom<JsonObject>({}, {}, { vendor_x: { a: [1, "é"] } });
const textBlock = fc
  .tuple(visibleText, mark, vendor)
  .map(([text, marks, extra]) => ({ type: "text", text, ...marks, ...extra }));
const mediaBlock = fc.constantFrom<JsonObject>(
  { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0K" } },
  { type: "image", source: { type: "url", url: "https://example.test/a.png" } },
  { type: "image", source: { type: "file", file_id: "file_1" } },
  { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0x" }, title: "T" },
  { type: "document", source: { type: "text", media_type: "text/plain", data: "plain" }, context: "C" },
  { type: "document", source: { type: "url", url: "https://example.test/a.pdf" }, citations: { enabled: true } },
  { type: "search_result", source: "https://example.test", title: "T", content: [{ type: "text", text: "r" }] },
  { type: "container_upload", file_id: "file_2" },
);
const userBlocks = fc.array(fc.oneof({ weight: 2, arbitrary: textBlock }, { weight: 1, arbitrary: mediaBlock }), {
  minLength: 2,
  maxLength: 3,
});

const thinking = fc.constantFrom<JsonObject>(
  { type: "thinking", thinking: "hm", signature: "c2ln" },
  { type: "thinking", thinking: "", signature: "c2ln" },
  { type: "redacted_thinking", data: "ZGF0YQ" },
);

const resultContent = fc.oneof(
  fc.constant(undefined),
  visibleText,
  fc.array(fc.oneof(textBlock, mediaBlock), { minLength: 2, maxLength: 2 }),
);

const turn = fc.record({
  user: fc.oneof(visibleText, userBlocks),
  thinking: fc.option(thinking, { nil: undefined, freq: 4 }),
  text: fc.option(visibleText, { nil: undefined }),
  calls: fc.array(fc.record({ name: toolName, text: argumentsText }), { maxLength: 3 }),
  result: resultContent,
  isError: fc.boolean(),
});

const tools = fc.uniqueArray(
  fc.record({
    name: toolName,
    description: fc.option(visibleText, { nil: undefined }),
    input_schema: objectSchema,
    mark,
    isStrict: fc.boolean(),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
);

const members = someOf({
  temperature: fc.constantFrom(0, 0.5, 1),
  top_p: fc.constantFrom(0.1, 0.5),
  top_k: fc.integer({ min: 1, max: 100 }),
  stop_sequences: fc.array(visibleText, { minLength: 1, maxLength: 4 }),
  thinking: fc.constantFrom<JsonObject>(
    { type: "adaptive" },
    { type: "adaptive", display: "summarized" },
    { type: "disabled" },
  ),
  output_config: fc.constantFrom<JsonObject>(
    { effort: "high" },
    { format: { type: "json_schema", schema: { type: "object", properties: {}, additionalProperties: false } } },
  ),
  metadata: fc.constant({ user_id: "u-1" }),
  service_tier: fc.constant("standard_only"),
  speed: fc.constant("fast"),
  cache_control: fc.constant({ type: "ephemeral" }),
  container: fc.constant("c_1"),
  context_management: fc.constant({ edits: [] }),
  vendor_member: fc.constant([1, null]),
});

const commonMembers = someOf({
  temperature: fc.constantFrom(0, 0.5),
  stop_sequences: fc.array(visibleText, { minLength: 1, maxLength: 4 }),
  metadata: fc.constant({ user_id: "u-1" }),
});

/** Requests that are already in this dialect's own spelling. */
export const messagesRequests: fc.Arbitrary<JsonObject> = fc
  .record({
    system: fc.option(fc.oneof(visibleText, fc.array(textBlock, { minLength: 2, maxLength: 3 })), { nil: undefined }),
    turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
    members: fc.oneof(members, commonMembers),
    tools,
    choice: fc.option(fc.constantFrom("auto-sequential", "any", "tool", "none"), { nil: undefined }),
    maxTokens: fc.integer({ min: 1, max: 100_000 }),
    stream: fc.constantFrom<JsonObject>({}, { stream: true }),
  })
  .map((plan) => {
    const messages: JsonValue[] = [];
    let made = 0;
    let results: JsonValue[] = [];
    for (const { user, thinking: thought, text, calls, result, isError } of plan.turns) {
      const said: JsonValue[] = typeof user === "string" ? [{ type: "text", text: user }] : [...user];
      const isPlain = results.length === 0 && typeof user === "string";
      messages.push({ role: "user", content: isPlain ? user : [...results, ...said] });
      results = [];
      const uses = calls.map((call): JsonObject => {
        made += 1;
        return { type: "tool_use", id: `toolu_${made}`, name: call.name, input: JSON.parse(call.text) as JsonValue };
      });
      const blocks: JsonValue[] = thought === undefined ? [] : [thought];
      if (text !== undefined || uses.length === 0) blocks.push({ type: "text", text: text ?? "Hm." });
      blocks.push(...uses);
      const [only] = blocks;
      const isText = blocks.length === 1 && (only as JsonObject)["type"] === "text";
      messages.push({ role: "assistant", content: isText ? ((only as JsonObject)["text"] as string) : blocks });
      results = uses.map(({ id }) => ({
        type: "tool_result",
        tool_use_id: id as JsonValue,
        ...(result === undefined ? null : { content: result as JsonValue }),
        ...(isError ? { is_error: true } : null),
      }));
    }
    messages.push({
      role: "user",
      content: results.length === 0 ? "Go on" : [...results, { type: "text", text: "Go on" }],
    });
    const [first] = plan.tools;
    const thinksNot = (plan.members["thinking"] as JsonObject | undefined)?.["type"] === "disabled";
    // Effort says nothing where thinking is off.
    const { output_config: config, ...others } = plan.members;
    const hasEffort = (config as JsonObject | undefined)?.["effort"] !== undefined;
    return withFewMarks({
      model: "m",
      max_tokens: plan.maxTokens,
      ...(plan.system === undefined ? null : { system: plan.system }),
      messages,
      ...others,
      ...(config === undefined || (thinksNot && hasEffort) ? null : { output_config: config }),
      ...(first === undefined
        ? null
        : {
            tools: plan.tools.map(({ description, mark: marks, isStrict, ...tool }) => ({
              ...tool,
              ...(description === undefined ? null : { description }),
              ...(isStrict && tool.input_schema["additionalProperties"] === false ? { strict: true } : null),
              ...marks,
            })),
            ...(plan.choice === undefined ? null : { tool_choice: choiceOf(plan.choice, first.name) }),
          }),
      ...plan.stream,
    });
  });

/** The API takes four cache marks; an automatic one counts. */
function withFewMarks(body: JsonObject): JsonObject {
  let left = body["cache_control"] === undefined ? 4 : 3;
  const thin = (value: JsonValue, isRoot: boolean): JsonValue => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map((inner) => thin(inner, false));
    const members = Object.entries(value).filter(([name]) => isRoot || name !== "cache_control" || left-- > 0);
    return Object.fromEntries(members.map(([name, inner]) => [name, thin(inner, false)]));
  };
  return thin(body, true) as JsonObject;
}

function choiceOf(word: string, name: string): JsonObject {
  if (word === "auto-sequential") return { type: "auto", disable_parallel_tool_use: true };
  return word === "tool" ? { type: "tool", name } : { type: word };
}

type BlockPlan =
  | { readonly kind: "text" | "thinking"; readonly text: string }
  | { readonly kind: "redacted" }
  | { readonly kind: "tool"; readonly name: string; readonly text: string };

const blockPlan: fc.Arbitrary<BlockPlan> = fc.oneof(
  visibleText.map((text): BlockPlan => ({ kind: "text", text })),
  visibleText.map((text): BlockPlan => ({ kind: "thinking", text })),
  fc.constant<BlockPlan>({ kind: "redacted" }),
  fc.tuple(toolName, argumentsText).map(([name, text]): BlockPlan => ({ kind: "tool", name, text })),
);

interface StreamHabits {
  readonly hasPings: boolean;
  readonly hasUnknownEvents: boolean;
  readonly startsWhole: boolean;
  readonly repeatsCounts: boolean;
  readonly namesEvents: boolean;
}

const habits: fc.Arbitrary<StreamHabits> = fc.record({
  hasPings: fc.boolean(),
  hasUnknownEvents: fc.boolean(),
  startsWhole: fc.boolean(),
  repeatsCounts: fc.boolean(),
  namesEvents: fc.boolean(),
});

const STOPS = [
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "refusal",
  "pause_turn",
  "model_context_window_exceeded",
] as const;

/** Counts in this dialect's members. */
export function messagesUsage({ input, output, cacheRead, cacheWrite, reasoning }: Counts): JsonObject {
  return {
    input_tokens: input - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
  };
}

/** Upstream streams with the answer that each one says. */
export const messagesStreams: fc.Arbitrary<SampleStream> = fc
  .record({
    blocks: fc.array(blockPlan, { maxLength: 4 }),
    stop: fc.constantFrom(...STOPS),
    habits,
    sizes: fragmentSizes,
    counts,
    framing,
  })
  .map(({ blocks, stop, habits: habit, sizes, counts: counted, framing: framed }) => {
    const hasCalls = blocks.some(({ kind }) => kind === "tool");
    const word = stop === "end_turn" && hasCalls ? "tool_use" : stop;
    const ended: JsonObject = { stop_reason: word, stop_sequence: word === "stop_sequence" ? "END" : null };
    const usage = messagesUsage(counted);
    const events = eventsOf(blocks, habit, sizes, ended, usage);
    const records = events.map((event) => {
      const data = `data: ${withInputs(event, blocks)}`;
      return habit.namesEvents ? [`event: ${event["type"] as string}`, data] : [data];
    });
    const content = blocks.map((block, index) => wholeBlock(block, index));
    return {
      text: frame(records, framed),
      whole: withInputs(
        { id: "msg_u1", type: "message", role: "assistant", model: "up-model", content, ...ended, usage },
        blocks,
      ),
    };
  });

function wholeBlock(block: BlockPlan, index: number): JsonObject {
  switch (block.kind) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: `sig${index}` };
    case "redacted":
      return { type: "redacted_thinking", data: `data${index}` };
    case "tool":
      return { type: "tool_use", id: `toolu_${index}`, name: block.name, input: `input of ${index}` };
  }
}

/** JSON text with the inputs of calls put in as the model spelled them. */
function withInputs(value: JsonObject, blocks: readonly BlockPlan[]): string {
  return blocks.reduce(
    (text, block, index) => (block.kind === "tool" ? text.replace(`"input of ${index}"`, () => block.text) : text),
    JSON.stringify(value),
  );
}

function eventsOf(
  blocks: readonly BlockPlan[],
  habit: StreamHabits,
  sizes: readonly number[],
  ended: JsonObject,
  usage: JsonObject,
): readonly JsonObject[] {
  const { output_tokens: _output, output_tokens_details: details, ...inputs } = usage;
  const message = {
    id: "msg_u1",
    type: "message",
    role: "assistant",
    model: "up-model",
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  const events: JsonObject[] = habit.hasPings ? [{ type: "ping" }] : [];
  events.push({ type: "message_start", message: { ...message, usage: { ...inputs, output_tokens: 1 } } });
  blocks.forEach((block, index) => {
    events.push(...blockEvents(block, index, habit, sizes));
  });
  if (habit.hasUnknownEvents) events.push({ type: "vendor_event", data: 1 });
  const final: JsonObject = {
    output_tokens: usage["output_tokens"] as number,
    output_tokens_details: details as JsonObject,
  };
  events.push({ type: "message_delta", delta: ended, usage: habit.repeatsCounts ? { ...inputs, ...final } : final });
  events.push({ type: "message_stop" });
  return events;
}

function blockEvents(
  block: BlockPlan,
  index: number,
  habit: StreamHabits,
  sizes: readonly number[],
): readonly JsonObject[] {
  const start = (content: JsonObject): JsonObject => ({ type: "content_block_start", index, content_block: content });
  const delta = (content: JsonObject): JsonObject => ({ type: "content_block_delta", index, delta: content });
  const events: JsonObject[] = [];
  if (block.kind === "redacted") events.push(start(wholeBlock(block, index)));
  else if (block.kind === "text") {
    events.push(
      start({ type: "text", text: "" }),
      ...fragmentsOf(block.text, sizes).map((text) => delta({ type: "text_delta", text })),
    );
  } else if (block.kind === "thinking") {
    events.push(start({ type: "thinking", thinking: "", signature: "" }));
    events.push(
      ...fragmentsOf(block.text, sizes).map((thinking_) => delta({ type: "thinking_delta", thinking: thinking_ })),
    );
    events.push(delta({ type: "signature_delta", signature: `sig${index}` }));
  } else if (block.kind === "tool" && habit.startsWhole) events.push(start(wholeBlock(block, index)));
  else if (block.kind === "tool") {
    events.push(start({ type: "tool_use", id: `toolu_${index}`, name: block.name, input: {} }));
    events.push(
      ...fragmentsOf(block.text, sizes).map((json) => delta({ type: "input_json_delta", partial_json: json })),
    );
  }
  if (habit.hasUnknownEvents) events.push(delta({ type: "vendor_delta", vendor: 1 }));
  if (habit.hasPings) events.push({ type: "ping" });
  events.push({ type: "content_block_stop", index });
  return events;
}
