// What travels in the bench: one request and one answer of a kilobyte, a 200 KB request, and a stream of 20 events, in both dialects.

const PROSE =
  "The caravan reached the gate at dusk, and the interpreter walked ahead to speak for all of them: merchants from three coasts, a " +
  "surveyor with his instruments in oilcloth, and two scholars who had argued since the river. ";

const repeat = (bytes) => PROSE.repeat(Math.ceil(bytes / PROSE.length)).slice(0, bytes);

/** Request bodies of about 1 KB. */
export const chatRequest = (stream, bytes = 780) =>
  JSON.stringify({
    model: "bench",
    messages: [
      { role: "system", content: "You are a helpful interpreter. Answer briefly." },
      { role: "user", content: repeat(bytes) },
    ],
    temperature: 0.7,
    max_tokens: 256,
    ...(stream ? { stream: true } : {}),
  });

export const anthropicRequest = (stream, bytes = 780) =>
  JSON.stringify({
    model: "bench",
    system: "You are a helpful interpreter. Answer briefly.",
    messages: [{ role: "user", content: repeat(bytes) }],
    max_tokens: 256,
    ...(stream ? { stream: true } : {}),
  });

/** A conversation of many messages with escapes and non-ASCII text, as real ones are. */
export function conversation(bytes) {
  const request = JSON.parse(chatRequest(false, 0));
  const piece = "Où mène ce chemin? “Down to the river”, he said.\nThen:\tnothing — and 12 °C outside. ";
  request.messages.pop();
  for (let size = 0; size < bytes;) {
    const content = piece.repeat(Math.max(1, Math.min(8, Math.round((bytes - size) / piece.length))));
    request.messages.push({ role: request.messages.length % 2 === 0 ? "assistant" : "user", content });
    size += content.length + 40;
  }
  return JSON.stringify(request);
}

const ANSWER_TEXT = repeat(220);

export const CHAT_ANSWER = JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created: 1_790_000_000,
  model: "up",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: ANSWER_TEXT, refusal: null },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 210, completion_tokens: 52, total_tokens: 262, prompt_tokens_details: { cached_tokens: 0 } },
});

export const ANTHROPIC_ANSWER = JSON.stringify({
  id: "msg_bench",
  type: "message",
  role: "assistant",
  model: "up",
  content: [{ type: "text", text: ANSWER_TEXT }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 210, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 52 },
});

/** Content events of a stream; each is about 300 bytes on the wire. */
export const CONTENT_EVENTS = 20;
const PIECE = repeat(110);

const chatChunk = (delta, finish) =>
  `data: ${JSON.stringify({ id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1_790_000_000, model: "up", system_fingerprint: "fp_bench", choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;

export const CHAT_EVENTS = [
  ...Array.from({ length: CONTENT_EVENTS }, (_, index) =>
    chatChunk(index === 0 ? { role: "assistant", content: PIECE } : { content: PIECE }, null),
  ),
  chatChunk({}, "stop") + "data: [DONE]\n\n",
];

const anthropicEvent = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

export const ANTHROPIC_EVENTS = [
  anthropicEvent({
    type: "message_start",
    message: {
      id: "msg_bench",
      type: "message",
      role: "assistant",
      model: "up",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 210, output_tokens: 1 },
    },
  }) + anthropicEvent({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  ...Array.from({ length: CONTENT_EVENTS - 1 }, () =>
    anthropicEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: repeat(200) } }),
  ),
  anthropicEvent({ type: "content_block_stop", index: 0 }) +
    anthropicEvent({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 52 },
    }) +
    anthropicEvent({ type: "message_stop" }),
];
