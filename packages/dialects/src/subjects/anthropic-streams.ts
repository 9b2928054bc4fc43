// Streams and complete answers of the Messages API as servers send them, standard and odd but legal.
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
function messagesUsage({ input, output, cacheRead, cacheWrite, reasoning }: Counts): JsonObject {
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
