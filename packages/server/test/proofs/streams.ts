// Recorded answers of both dialects, record by record, and the requests that ask for them. Records carry a mark, so that a test can
// say at which byte an answer begins to count.
/** The dialects that the proofs run over. */
export type ProofDialect = "chat" | "messages";

export const PROOF_DIALECTS: readonly ProofDialect[] = ["chat", "messages"];

/** One record of a recorded stream. */
export interface RecordedRecord {
  readonly mark: "open" | "content" | "finish" | "usage" | "end";
  readonly text: string;
}

/** Where clients of a dialect send their requests. */
export const PATH_OF: Readonly<Record<ProofDialect, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
};

function chatRecord(mark: RecordedRecord["mark"], choices: readonly unknown[], usage: unknown = null): RecordedRecord {
  const chunk = {
    id: "c-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "up",
    choices,
    ...(usage === null ? {} : { usage }),
  };
  return { mark, text: `data: ${JSON.stringify(chunk)}\n\n` };
}

function messagesRecord(
  mark: RecordedRecord["mark"],
  event: { readonly type: string } & Record<string, unknown>,
): RecordedRecord {
  return { mark, text: `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n` };
}

const CHAT_USAGE = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };

/** One content record. */
export function contentRecord(dialect: ProofDialect, text: string): RecordedRecord {
  return dialect === "chat"
    ? chatRecord("content", [{ index: 0, delta: { content: text }, finish_reason: null }])
    : messagesRecord("content", { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
}

/** What comes before the first content. Both streams say who answers, and the messages stream its input usage. */
export function openingRecords(dialect: ProofDialect): RecordedRecord[] {
  if (dialect === "chat")
    return [chatRecord("open", [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }])];
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "up",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  return [
    messagesRecord("open", { type: "message_start", message }),
    messagesRecord("open", { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  ];
}

/** What comes after the last content. Without usage the upstream leaves it out. */
export function closingRecords(dialect: ProofDialect, withUsage = true): RecordedRecord[] {
  if (dialect === "chat") {
    const finish = chatRecord("finish", [{ index: 0, delta: {}, finish_reason: "stop" }]);
    return [
      finish,
      ...(withUsage ? [chatRecord("usage", [], CHAT_USAGE)] : []),
      { mark: "end", text: "data: [DONE]\n\n" },
    ];
  }
  const delta = { stop_reason: "end_turn", stop_sequence: null };
  return [
    messagesRecord("content", { type: "content_block_stop", index: 0 }),
    messagesRecord("finish", { type: "message_delta", delta, ...(withUsage ? { usage: { output_tokens: 3 } } : {}) }),
    messagesRecord("end", { type: "message_stop" }),
  ];
}

/** A whole stream that says the given texts. */
export function recordedStream(dialect: ProofDialect, texts: readonly string[], withUsage = true): RecordedRecord[] {
  return [
    ...openingRecords(dialect),
    ...texts.map((text) => contentRecord(dialect, text)),
    ...closingRecords(dialect, withUsage),
  ];
}

/** The bytes of records as text. */
export function textOf(records: readonly RecordedRecord[]): string {
  return records.map((record) => record.text).join("");
}

/** A streaming request for `model`. */
export function streamRequest(dialect: ProofDialect, model: string, prompt = "Hello."): string {
  const limit = dialect === "chat" ? { stream_options: { include_usage: true } } : { max_tokens: 100 };
  return JSON.stringify({ model, stream: true, ...limit, messages: [{ role: "user", content: prompt }] });
}

/** The text that a client's stream says. */
export function spokenText(stream: string): string {
  let text = "";
  for (const line of stream.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const data = JSON.parse(line.slice(6)) as {
      readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
      readonly delta?: { readonly text?: string };
    };
    text += data.choices?.[0]?.delta?.content ?? data.delta?.text ?? "";
  }
  return text;
}
