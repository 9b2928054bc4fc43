// The grammar of both dialects' event streams, as their SDKs read them: OpenAI Chat Completions (platform.openai.com/docs, streaming) and
// Anthropic Messages (docs.anthropic.com, streaming messages). Pure: an event stream in, its problems out.
import type { ClientDialect } from "./check.ts";
import { parseJson, valueAt } from "./json-value.ts";

/** One event of a stream. */
export interface StreamEvent {
  readonly name: string | undefined;
  readonly data: string;
}

/** What a stream says. */
export interface StreamReading {
  readonly problems: readonly string[];
  readonly text: string;
  /** It ended as a whole answer ends, with its terminator. */
  readonly isFinished: boolean;
  /** It holds an error event. */
  readonly hasError: boolean;
  readonly outputTokens: unknown;
}

/** Splits an event stream (WHATWG HTML, event stream interpretation). An unfinished last event is dropped, as a client drops it. */
export function parseEvents(body: string): StreamEvent[] {
  const blocks = body.replaceAll(/\r\n?/g, "\n").split("\n\n");
  return blocks.slice(0, -1).flatMap((block) => {
    const fields = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    const valuesOf = (field: string): string[] =>
      fields
        .filter((line) => line.startsWith(`${field}:`))
        .map((line) => line.slice(field.length + 1).replace(/^ /, ""));
    const data = valuesOf("data");
    return data.length === 0 ? [] : [{ name: valuesOf("event").at(-1), data: data.join("\n") }];
  });
}

/** Reads a stream of a dialect. */
export function readStream(dialect: ClientDialect, body: string): StreamReading {
  const events = parseEvents(body);
  return dialect === "openai-chat" ? readChat(events) : readMessages(events);
}

const DONE = "[DONE]";

function readChat(events: readonly StreamEvent[]): StreamReading {
  const problems: string[] = [];
  const doneAt = events.findIndex(({ data }) => data === DONE);
  if (doneAt < 0) problems.push("no [DONE]");
  else if (doneAt !== events.length - 1) problems.push("events after [DONE]");
  const chunks = events.filter(({ data }) => data !== DONE).map(({ data }) => parseJson(data));
  if (chunks.includes(undefined)) problems.push("an event whose data is not JSON");
  const errors = chunks.filter((chunk) => valueAt(chunk, "error") !== undefined);
  const content = chunks.filter((chunk) => valueAt(chunk, "error") === undefined && chunk !== undefined);
  if (content.some((chunk) => valueAt(chunk, "object") !== "chat.completion.chunk"))
    problems.push("a chunk without object chat.completion.chunk");
  if (new Set(content.map((chunk) => valueAt(chunk, "id"))).size > 1) problems.push("chunks with different ids");
  const choices = content.map((chunk) => valueAt(chunk, "choices", 0)).filter((choice) => choice !== undefined);
  if (valueAt(choices[0], "delta", "role") !== "assistant")
    problems.push("the first delta does not say role assistant");
  const finished = choices.filter((choice) => typeof valueAt(choice, "finish_reason") === "string").length;
  if (finished !== 1) problems.push(`${finished} finish reasons`);
  const text = choices
    .map((choice) => valueAt(choice, "delta", "content"))
    .filter((piece) => typeof piece === "string")
    .join("");
  const usages = content
    .map((chunk) => valueAt(chunk, "usage", "completion_tokens"))
    .filter((count) => count !== undefined);
  return {
    problems,
    text,
    isFinished: doneAt >= 0 && errors.length === 0,
    hasError: errors.length > 0,
    outputTokens: usages.at(-1),
  };
}

function readMessages(events: readonly StreamEvent[]): StreamReading {
  const problems: string[] = [];
  const parsed = events.map(({ name, data }) => ({ name, value: parseJson(data) }));
  if (parsed.some(({ value }) => value === undefined)) problems.push("an event whose data is not JSON");
  if (parsed.some(({ name, value }) => name !== valueAt(value, "type")))
    problems.push("an event whose name is not its type");
  const typed = parsed
    .map(({ value }) => ({ type: String(valueAt(value, "type")), value }))
    .filter(({ type }) => type !== "ping");
  const types = typed.map(({ type }) => type);
  problems.push(...blockProblems(typed), ...frameProblems(types));
  const text = typed
    .map(({ value }) => valueAt(value, "delta", "text"))
    .filter((piece) => typeof piece === "string")
    .join("");
  const counts = typed
    .map(({ value }) => valueAt(value, "usage", "output_tokens"))
    .filter((count) => count !== undefined);
  const hasError = types.includes("error");
  return {
    problems,
    text,
    isFinished: types.includes("message_stop") && !hasError,
    hasError,
    outputTokens: counts.at(-1),
  };
}

function frameProblems(types: readonly string[]): string[] {
  const problems: string[] = [];
  if (types[0] !== "message_start") problems.push("does not begin with message_start");
  if (types.filter((type) => type === "message_start").length > 1) problems.push("more than one message_start");
  if (!types.includes("message_delta")) problems.push("no message_delta");
  if (types.at(-1) !== "message_stop") problems.push("does not end with message_stop");
  return problems;
}

/** Blocks open and close in order, and deltas lie within the block they name. */
function blockProblems(events: readonly { readonly type: string; readonly value: unknown }[]): string[] {
  const problems: string[] = [];
  let open: unknown;
  let next = 0;
  for (const { type, value } of events) {
    const index = valueAt(value, "index");
    if (type === "content_block_start") {
      if (open !== undefined) problems.push(`block ${show(index)} starts inside block ${show(open)}`);
      if (index !== next) problems.push(`block ${show(index)} comes where ${next} is due`);
      open = index;
      next += 1;
    }
    if (type === "content_block_delta" && index !== open)
      problems.push(`a delta of block ${show(index)} outside of it`);
    if (type === "content_block_stop") {
      if (index !== open) problems.push(`block ${show(index)} stops without having started`);
      open = undefined;
    }
    if (type === "message_stop" && open !== undefined) problems.push(`block ${show(open)} is not closed`);
  }
  return problems;
}

/** An index as it was sent, which may be anything. */
function show(value: unknown): string {
  return JSON.stringify(value) ?? "none";
}
