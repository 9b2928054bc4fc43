// How a test speaks each client dialect: requests as bytes, and what an answer, a stream's end and an error look like.
import type { RawAnswer } from "../harness/raw-client.ts";
import { RawClient } from "../harness/raw-client.ts";
import { KEY } from "./built-gateway.ts";

/** A client dialect as tests need it. */
export interface Dialect {
  readonly name: "openai" | "anthropic";
  readonly path: string;
  readonly credential: (key: string) => string;
  readonly body: (parts: RequestParts) => string;
  /** The text of a whole answer. */
  readonly textOf: (answer: RawAnswer) => string;
  /** Type, message and parameter of an error answer; throws when it is not this dialect's envelope. */
  readonly errorOf: (answer: RawAnswer) => DialectError;
  /** Whether a stream ended as a successful one does. */
  readonly isCleanEnd: (body: string) => boolean;
  /** Whether a stream carries this dialect's error event. */
  readonly hasErrorEvent: (body: string) => boolean;
}

export interface RequestParts {
  readonly model: string;
  readonly text?: string;
  readonly stream?: boolean;
}

export interface DialectError {
  readonly type: string;
  readonly message: string;
  readonly code: string | null;
  readonly param: string | null;
}

type Json = Readonly<Record<string, unknown>>;

function parseObject(text: string): Json {
  const value: unknown = JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
  if (typeof value !== "object" || value === null) throw new Error(`no object: ${text.slice(0, 200)}`);
  return value as Json;
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function dataOf(body: string): readonly string[] {
  return [...body.matchAll(/^data: ?(.*)$/gm)].map((match) => match[1] ?? "");
}

function textOfChat(answer: RawAnswer): string {
  const { choices } = parseObject(answer.body) as {
    readonly choices: readonly { readonly message: { readonly content: string } }[];
  };
  return choices[0]?.message.content ?? "";
}

function textOfMessage(answer: RawAnswer): string {
  const { content } = parseObject(answer.body) as { readonly content: readonly { readonly text?: string }[] };
  return content.map((block) => block.text ?? "").join("");
}

function errorOfChat(answer: RawAnswer): DialectError {
  const { error, ...rest } = parseObject(answer.body);
  if (Object.keys(rest).length > 0 || typeof error !== "object" || error === null)
    throw new Error(`not the envelope of this dialect: ${answer.body.slice(0, 300)}`);
  const { type, message, code, param } = error as Json;
  return { type: String(type), message: String(message), code: stringOrNull(code), param: stringOrNull(param) };
}

function errorOfMessage(answer: RawAnswer): DialectError {
  const { type: outer, error } = parseObject(answer.body);
  if (outer !== "error" || typeof error !== "object" || error === null)
    throw new Error(`not the envelope of this dialect: ${answer.body.slice(0, 300)}`);
  const { type, message } = error as Json;
  return { type: String(type), message: String(message), code: null, param: null };
}

const OPENAI: Dialect = {
  name: "openai",
  path: "/v1/chat/completions",
  credential: (key) => `authorization: Bearer ${key}\r\n`,
  body: ({ model, text = "hi", stream = false }) =>
    JSON.stringify({ model, ...(stream ? { stream } : {}), messages: [{ role: "user", content: text }] }),
  textOf: textOfChat,
  errorOf: errorOfChat,
  isCleanEnd: (body) => dataOf(body).includes("[DONE]") && /"finish_reason":"/.test(body) && !/"error":\{/.test(body),
  hasErrorEvent: (body) => dataOf(body).some((data) => data.startsWith('{"error":{')),
};

const ANTHROPIC: Dialect = {
  name: "anthropic",
  path: "/v1/messages",
  credential: (key) => `x-api-key: ${key}\r\nanthropic-version: 2023-06-01\r\n`,
  body: ({ model, text = "hi", stream = false }) =>
    JSON.stringify({
      model,
      max_tokens: 64,
      ...(stream ? { stream } : {}),
      messages: [{ role: "user", content: text }],
    }),
  textOf: textOfMessage,
  errorOf: errorOfMessage,
  isCleanEnd: (body) => body.includes('"type":"message_stop"') && !body.includes('"type":"error"'),
  hasErrorEvent: (body) => /^event: error\r?\ndata: ?\{"type":"error","error":\{/m.test(body),
};

/** Both dialects. */
export const DIALECTS: readonly Dialect[] = [OPENAI, ANTHROPIC];

/** Both by name. */
export const DIALECT = { openai: OPENAI, anthropic: ANTHROPIC } as const;

/** A POST with a body and correct framing; `fields` are further header lines. */
export function post(dialect: Dialect, body: string | Uint8Array, fields: string = "", key: string = KEY): Buffer {
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  const head =
    `POST ${dialect.path} HTTP/1.1\r\nhost: gateway.test\r\n${dialect.credential(key)}content-type: application/json\r\n` +
    `${fields}content-length: ${bytes.byteLength}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

/** Sends one request on a connection of its own and returns its whole answer. */
export async function ask(url: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const client = await RawClient.open(url);
  client.send(bytes);
  try {
    return await client.answer();
  } finally {
    client.destroy();
  }
}
