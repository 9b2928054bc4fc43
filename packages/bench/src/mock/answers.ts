// Pre-rendered answers of the mock, one plain and one streamed per dialect, with the usage numbers that gateways would otherwise
// estimate with a tokenizer.
import type { TrafficDialect } from "../contract/cell.ts";

const WORDS =
  "The quick brown fox jumps over the lazy dog while the slow green turtle waits near old stone walls now".split(" ");
const TEXT = WORDS.join(" ");

/** Content events of every streamed answer: one per word. */
export const STREAM_CONTENT_EVENTS: number = WORDS.length;

const USAGE = { input: 24, output: 20 } as const;
const CREATED = 1_750_000_000;

/** The parts of an answer: one for a plain body, one per content event for a stream (the last holds the end of the stream too). */
export interface RenderedAnswer {
  readonly contentType: "application/json" | "text/event-stream";
  readonly parts: readonly Buffer[];
}

/** Both forms of a dialect's answer; embeddings have no stream. */
export interface DialectAnswers {
  readonly plain: RenderedAnswer;
  readonly stream: RenderedAnswer | undefined;
}

/** Rendered answers by dialect. */
export const ANSWERS: Readonly<Record<TrafficDialect, DialectAnswers>> = {
  "openai-chat": { plain: plain(chatAnswer()), stream: stream(chatEvents()) },
  "openai-responses": { plain: plain(responsesAnswer("completed")), stream: stream(responsesEvents()) },
  "openai-embeddings": { plain: plain(embeddingsAnswer()), stream: undefined },
  anthropic: { plain: plain(messagesAnswer()), stream: stream(messagesEvents()) },
};

/** Answer of `GET /v1/models`. */
export const MODELS_ANSWER: RenderedAnswer = plain({
  object: "list",
  data: ["mock-model", "gpt-4o-mini", "claude-mock", "text-embedding-3-small"].map((id) => ({
    id,
    object: "model",
    created: CREATED,
    owned_by: "mock",
  })),
});

/** Error body that all dialects can read. */
export function errorAnswer(status: number): RenderedAnswer {
  const type = status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "api_error";
  return plain({
    type: "error",
    error: { type, code: type, message: `The mock answers ${status} on demand.`, param: null },
  });
}

function plain(body: unknown): RenderedAnswer {
  return { contentType: "application/json", parts: [Buffer.from(JSON.stringify(body))] };
}

function stream(events: readonly (readonly string[])[]): RenderedAnswer {
  return { contentType: "text/event-stream", parts: events.map((part) => Buffer.from(part.join(""))) };
}

function chatUsage(): object {
  return { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output };
}

function chatAnswer(): object {
  return {
    id: "chatcmpl-mock0001",
    object: "chat.completion",
    created: CREATED,
    model: "gpt-4o-mini",
    choices: [
      { index: 0, message: { role: "assistant", content: TEXT, refusal: null }, logprobs: null, finish_reason: "stop" },
    ],
    usage: chatUsage(),
    system_fingerprint: "fp_mock",
  };
}

function chatEvents(): string[][] {
  const head = { id: "chatcmpl-mock0001", object: "chat.completion.chunk", created: CREATED, model: "gpt-4o-mini" };
  const event = (choices: object[], rest: object): string =>
    `data: ${JSON.stringify({ ...head, choices, ...rest })}\n\n`;
  const delta = (content: object, finish: string | null): object => ({
    index: 0,
    delta: content,
    finish_reason: finish,
  });
  return contentParts(
    (word) => event([delta({ content: word }, null)], {}),
    event([delta({ role: "assistant", content: "" }, null)], {}),
    event([delta({}, "stop")], {}) + event([], { usage: chatUsage() }) + "data: [DONE]\n\n",
  );
}

function messagesAnswer(): object {
  return {
    id: "msg_mock0001",
    type: "message",
    role: "assistant",
    model: "claude-mock",
    content: [{ type: "text", text: TEXT }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  };
}

function messagesEvents(): string[][] {
  const event = (type: string, data: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const start = {
    ...messagesAnswer(),
    content: [],
    stop_reason: null,
    usage: { input_tokens: USAGE.input, output_tokens: 1 },
  };
  return contentParts(
    (word) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text: word } }),
    event("message_start", { message: start }) +
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_stop", { index: 0 }) +
      event("message_delta", {
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }) +
      event("message_stop", {}),
  );
}

function responsesAnswer(status: "completed" | "in_progress"): object {
  const content = [{ type: "output_text", text: TEXT, annotations: [], logprobs: [] }];
  return {
    id: "resp_mock0001",
    object: "response",
    created_at: CREATED,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    model: "gpt-4o-mini",
    output: status === "completed" ? [{ id: "msg_mock0001", type: "message", status, role: "assistant", content }] : [],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    usage:
      status === "completed"
        ? {
            input_tokens: USAGE.input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: USAGE.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: USAGE.input + USAGE.output,
          }
        : null,
  };
}

function responsesEvents(): string[][] {
  let sequence = -1;
  const event = (type: string, data: object): string => {
    sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...data })}\n\n`;
  };
  const place = { item_id: "msg_mock0001", output_index: 0, content_index: 0 };
  const item = (status: string, content: object[]): object => ({
    id: "msg_mock0001",
    type: "message",
    status,
    role: "assistant",
    content,
  });
  const part = (text: string): object => ({ type: "output_text", text, annotations: [], logprobs: [] });
  const opening =
    event("response.created", { response: responsesAnswer("in_progress") }) +
    event("response.in_progress", { response: responsesAnswer("in_progress") }) +
    event("response.output_item.added", { output_index: 0, item: item("in_progress", []) }) +
    event("response.content_part.added", { ...place, part: part("") });
  const words = WORDS.map((word, index) =>
    event("response.output_text.delta", { ...place, delta: spaced(word, index), logprobs: [] }),
  );
  const closing =
    event("response.output_text.done", { ...place, text: TEXT, logprobs: [] }) +
    event("response.content_part.done", { ...place, part: part(TEXT) }) +
    event("response.output_item.done", { output_index: 0, item: item("completed", [part(TEXT)]) }) +
    event("response.completed", { response: responsesAnswer("completed") });
  return assemble(words, opening, closing);
}

function embeddingsAnswer(): object {
  // Small multiples of 1/64 are exact in binary floating point, so that a re-encoding keeps every digit.
  const embedding = Array.from({ length: 256 }, (_, index) => ((index * 37) % 127) / 64 - 1);
  return {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding }],
    model: "text-embedding-3-small",
    usage: { prompt_tokens: USAGE.input, total_tokens: USAGE.input },
  };
}

function contentParts(render: (word: string) => string, opening: string, closing: string): string[][] {
  return assemble(
    WORDS.map((word, index) => render(spaced(word, index))),
    opening,
    closing,
  );
}

/** The opening travels with the first content event and the closing with the last: the script counts content events. */
function assemble(words: readonly string[], opening: string, closing: string): string[][] {
  return words.map((word, index) => [index === 0 ? opening : "", word, index === words.length - 1 ? closing : ""]);
}

function spaced(word: string, index: number): string {
  return index === 0 ? word : ` ${word}`;
}
