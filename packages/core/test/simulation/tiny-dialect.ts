/**
 * The smallest dialects that exercise the engine: the same grammar in different words, so that forwarding and translating differ
 * on the wire. A request is `{"model","stream","input"}`, an answer one text with a stop and a usage. The record `{"boom":true}`
 * makes a decoder throw, as a defect would.
 */
import type {
  AnswerContext,
  ByteSink,
  ClientDialect,
  DecodeContext,
  DecodedResponse,
  Document,
  EncodedAnswer,
  EncodeResult,
  ErrorClass,
  NeutralError,
  NeutralResponse,
  ObservedResponse,
  ProviderDialect,
  ProviderKind,
  StreamDecoder,
  StreamEncoder,
  StreamEvent,
  StreamObserver,
  StreamRecord,
  Usage,
} from "../../src/index.ts";
import { decodeText, findHeader, RecordFlag, textToString } from "../../src/index.ts";

/** What one of these dialects calls things. */
export interface Words {
  readonly id: string;
  readonly text: string;
  readonly delta: string;
  readonly stop: string;
  readonly done: string;
}

export const ALPHA: Words = { id: "alpha", text: "text", delta: "delta", stop: "stop", done: "done" };
export const BETA: Words = { id: "beta", text: "content", delta: "piece", stop: "finish", done: "closed" };

/** Counts as a provider reports them. */
export interface WireUsage {
  readonly input: number;
  readonly output: number;
}

/** Message of the error that stands for a defect in a dialect. */
export const BOOM = "boom: a planted defect";

const STATUS: Readonly<Partial<Record<ErrorClass, number>>> = {
  auth: 401,
  permission: 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "unsupported-media-type": 415,
  "too-large": 413,
  "rate-limit": 429,
  quota: 402,
  overloaded: 503,
  timeout: 504,
  "upstream-5xx": 502,
  network: 502,
  protocol: 502,
  internal: 500,
};

/** How routing may go on after an upstream's error of a class. */
const RETRY: Readonly<Partial<Record<ErrorClass, Pick<NeutralError, "retrySame" | "fallback">>>> = {
  overloaded: { retrySame: true, fallback: true },
  "rate-limit": { retrySame: true, fallback: true },
  "upstream-5xx": { retrySame: true, fallback: true },
  protocol: { retrySame: true, fallback: true },
  auth: { retrySame: false, fallback: true },
  permission: { retrySame: false, fallback: true },
  "context-length": { retrySame: false, fallback: "larger-window" },
};

/** One record of a stream of these dialects. */
export const record = (value: unknown): Uint8Array => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

const upstreamError = (value: unknown, headers: readonly string[], status?: number): NeutralError => {
  const { class: name = "upstream-5xx", message = "failed" } = (value ?? {}) as {
    class?: ErrorClass;
    message?: string;
  };
  const retryAfter = findHeader(headers, "retry-after-ms");
  return {
    class: name,
    origin: "upstream",
    message,
    retrySame: false,
    fallback: false,
    ...RETRY[name],
    ...(status === undefined ? {} : { status }),
    ...(retryAfter === undefined ? {} : { retryAfterMs: Number(retryAfter) }),
  };
};

const broken = (message: string): NeutralError => ({
  class: "protocol",
  origin: "upstream",
  message,
  retrySame: true,
  fallback: true,
});
const refused = (message: string): NeutralError => ({
  class: "invalid-request",
  origin: "client",
  message,
  retrySame: false,
  fallback: false,
});
const usageOf = (value: unknown): Usage | null => {
  const { input, output } = (value ?? {}) as Partial<WireUsage>;
  return input === undefined || output === undefined ? null : { input, output, source: "upstream", final: true };
};

const memberText = (document: Document, name: string): string => {
  const node = document.member(document.root, name);
  return document.isString(node) ? document.string(node) : "";
};

type Members = Readonly<Record<string, unknown>>;

const parse = (bytes: Uint8Array, start: number, end: number): Members | null => {
  try {
    return JSON.parse(Buffer.from(bytes.subarray(start, end)).toString("utf8")) as Members;
  } catch {
    // What is no JSON is reported by the caller as a broken stream.
    return null;
  }
};

class Decoder implements StreamDecoder {
  isStopped = false;
  readonly #words: Words;
  readonly #emit: (event: StreamEvent) => void;
  #hasPart = false;
  #isOver = false;

  constructor(words: Words, emit: (event: StreamEvent) => void) {
    this.#words = words;
    this.#emit = emit;
  }

  push(row: StreamRecord): void {
    if (this.#isOver) return;
    const members = parse(row.bytes, row.dataStart, row.dataEnd);
    if (members === null) {
      this.#end({ type: "error", error: broken("a record is not JSON") });
      return;
    }
    const { delta, stop, done } = this.#words;
    if (members["boom"] === true) throw new Error(BOOM);
    if (members["error"] !== undefined) this.#end({ type: "error", error: upstreamError(members["error"], []) });
    else if (members["ping"] === true) this.#emit({ type: "ping" });
    else if (typeof members[delta] === "string") this.#text(members[delta]);
    else if (typeof members[stop] === "string") this.#stop(members[stop]);
    else if (members["usage"] !== undefined) this.#usage(members["usage"]);
    else if (members[done] === true) this.finish();
  }

  finish(): void {
    if (this.#isOver) return;
    if (this.isStopped) this.#end({ type: "end" });
    else this.#end({ type: "error", error: broken("the stream ended early") });
  }

  #text(text: string): void {
    if (!this.#hasPart) {
      this.#hasPart = true;
      this.#emit({ type: "start" });
      this.#emit({ type: "part-start", candidate: 0, part: 0, head: { type: "text" } });
    }
    this.#emit({ type: "text-delta", candidate: 0, part: 0, text });
  }

  #stop(word: string): void {
    if (this.#hasPart) this.#emit({ type: "part-end", candidate: 0, part: 0 });
    this.isStopped = true;
    this.#emit({ type: "stop", candidate: 0, stop: { reason: "end", raw: word } });
  }

  #usage(value: unknown): void {
    const usage = usageOf(value);
    if (usage !== null) this.#emit({ type: "usage", usage });
  }

  #end(event: StreamEvent): void {
    this.#isOver = true;
    this.#emit(event);
  }
}

class Observer implements StreamObserver {
  usage: Usage | null = null;
  stopWord: string | null = null;
  error: NeutralError | null = null;
  isStopped = false;
  readonly #words: Words;

  constructor(words: Words) {
    this.#words = words;
  }

  observe(row: StreamRecord): number {
    const members = parse(row.bytes, row.dataStart, row.dataEnd);
    if (members === null) {
      this.error = broken("a record is not JSON");
      return RecordFlag.error;
    }
    const { delta, stop, done } = this.#words;
    if (members["boom"] === true) throw new Error(BOOM);
    if (members["error"] !== undefined) {
      this.error = upstreamError(members["error"], []);
      return RecordFlag.error | RecordFlag.forward;
    }
    if (typeof members[delta] === "string") return RecordFlag.forward | RecordFlag.content;
    if (typeof members[stop] === "string") {
      this.isStopped = true;
      this.stopWord = members[stop];
      return RecordFlag.forward | RecordFlag.content;
    }
    this.usage = usageOf(members["usage"]) ?? this.usage;
    return members[done] === true && this.isStopped ? RecordFlag.forward | RecordFlag.end : RecordFlag.forward;
  }

  finish(): NeutralError | null {
    return this.isStopped ? null : broken("the stream ended early");
  }
}

class Encoder implements StreamEncoder {
  readonly #words: Words;
  readonly #write: ByteSink;

  constructor(words: Words, write: ByteSink) {
    this.#words = words;
    this.#write = write;
  }

  encode(event: StreamEvent): NeutralError | null {
    switch (event.type) {
      case "start":
        this.#write(record({ opened: true }));
        return null;
      case "text-delta":
        this.#write(record({ [this.#words.delta]: textToString(event.text) }));
        return null;
      case "stop":
        this.#write(record({ [this.#words.stop]: event.stop.raw }));
        return null;
      case "usage":
        this.#write(record({ usage: { input: event.usage.input, output: event.usage.output } }));
        return null;
      case "end":
        this.#write(record({ [this.#words.done]: true }));
        return null;
      default:
        return null;
    }
  }

  fail(error: NeutralError): void {
    this.#write(record({ error: { class: error.class, message: error.message } }));
  }
}

const decodeAnswer = (words: Words, document: Document, context: DecodeContext): DecodedResponse => {
  const members = document.value(document.root) as Members;
  if (members["boom"] === true) throw new Error(BOOM);
  if (members["error"] !== undefined) return { ok: false, error: upstreamError(members["error"], context.headers) };
  const text = members[words.text];
  const stop = members[words.stop];
  if (typeof text !== "string" || typeof stop !== "string") return { ok: false, error: broken("no text or no stop") };
  const usage = usageOf(members["usage"]);
  const response: NeutralResponse = {
    candidates: [{ index: 0, parts: [{ type: "text", text, at: "" }], stop: { reason: "end", raw: stop } }],
    extensions: [],
    ...(usage === null ? {} : { usage }),
  };
  return { ok: true, response };
};

const encodeAnswer = (words: Words, response: NeutralResponse): EncodedAnswer => {
  const [candidate] = response.candidates;
  const [part] = candidate?.parts ?? [];
  const { usage } = response;
  const text = part?.type === "text" ? textToString(part.text) : "";
  return {
    ok: true,
    body: json({
      [words.text]: text,
      [words.stop]: candidate?.stop.raw,
      ...(usage === undefined ? {} : { usage: { input: usage.input, output: usage.output } }),
    }),
  };
};

const encodeFailure = (error: NeutralError): Uint8Array =>
  json({ error: { class: error.class, code: error.code, message: error.message } });

/** The client half. */
export function makeClient(words: Words): ClientDialect {
  const { id } = words;
  return {
    id,
    routes: [
      { method: "POST", path: `/${id}/generate`, operation: "generate" },
      { method: "POST", path: `/${id}/count`, operation: "count-tokens" },
      { method: "GET", path: `/${id}/models`, operation: "list-models" },
      { method: "GET", path: `/${id}/models/{id}`, operation: "get-model" },
    ],
    claims: (path) => path.startsWith(`/${id}/`),
    readCredential: (headers) => ({ ok: true, secret: findHeader(headers, "authorization") ?? null }),
    checkHeaders: () => null,
    readHead: (document) => {
      const model = memberText(document, "model");
      if (model === "") return { ok: false, error: refused("The member model is missing.") };
      const stream = document.boolean(document.member(document.root, "stream"));
      return { ok: true, head: { model, modelNode: document.member(document.root, "model"), stream, facts: null } };
    },
    decodeRequest: (document, head, route) => {
      const input = document.member(document.root, "input");
      if (!document.isString(input)) return { ok: false, error: refused("The member input must be a string.") };
      return {
        ok: true,
        request: {
          source: id,
          operation: route.operation === "count-tokens" ? "count-tokens" : "generate",
          model: head.model,
          stream: head.stream,
          messages: [
            { role: "user", parts: [{ type: "text", text: document.text(input), at: "/input" }], at: "/input" },
          ],
          tools: [],
          sampling: {},
          output: {},
          cache: {},
          identity: {},
          streamOptions: {},
          extensions: document.boolean(document.member(document.root, "fancy"))
            ? [{ dialect: id, path: "fancy", raw: { value: true }, at: "/fancy" }]
            : [],
        },
      };
    },
    estimateInputTokens: (document) => document.bytes.byteLength >>> 2,
    encodeResponse: (response) => encodeAnswer(words, response),
    createStreamEncoder: (_context: AnswerContext, write) => new Encoder(words, write),
    encodeError: (error) => ({
      status: STATUS[error.class] ?? error.status ?? 400,
      headers: ["x-tiny-error", error.class],
      body: encodeFailure(error),
    }),
    encodeStreamError: (error) => record({ error: { class: error.class, message: error.message } }),
    encodeTokenCount: (count) => json({ count }),
    encodeModelList: (models) => ({ ok: true, body: json({ models: models.map((model) => model.id) }) }),
    encodeModel: (model) => json({ model: model.id }),
    encodeRateLimits: (standings) =>
      standings.flatMap(({ dimension, remaining }) => [`x-left-${dimension}`, `${remaining}`]),
    identify: (requestId) => ["x-request-id", requestId],
    streamContentType: "text/event-stream",
    keepAlive: Buffer.from(": still here\n\n"),
  };
}

/** The provider half. */
export function makeProvider(words: Words): ProviderDialect {
  const { id } = words;
  const path = (operation: string): string => `/${id}/${operation === "count-tokens" ? "count" : "generate"}`;
  return {
    id,
    operations: ["generate", "count-tokens"],
    framing: "sse",
    signatureOrigins: [],
    compileProfile: (_name, overrides) => ({ ok: true, profile: overrides }),
    normalizesAnswers: (profile) => profile["normalize"] === true,
    forwardRequest: (document, _head, operation): EncodeResult => {
      const { bytes } = document;
      return {
        ok: true,
        encoded: {
          body: { parts: [bytes], byteLength: bytes.byteLength },
          path: path(operation),
          headers: ["x-tiny", "forwarded"],
          toolMap: null,
        },
        issues: [],
      };
    },
    encodeRequest: (request, target): EncodeResult => {
      if (request.extensions.length > 0)
        return {
          ok: false,
          issues: [{ code: "unknown_field", path: "/fancy", severity: "reject", detail: "No such member there." }],
        };
      const [part] = request.messages[0]?.parts ?? [];
      if (part?.type !== "text" || typeof part.text === "string") return { ok: false, issues: [] };
      // The text goes out as the client's own bytes, which must therefore outlive the call.
      const parts = [
        Buffer.from(`{"model":${JSON.stringify(target.model)},"stream":${request.stream},"input":"`),
        part.text.bytes.subarray(part.text.start, part.text.end),
        Buffer.from('"}'),
      ];
      const byteLength = parts.reduce((sum, piece) => sum + piece.byteLength, 0);
      return {
        ok: true,
        encoded: {
          body: { parts, byteLength },
          path: path(request.operation),
          headers: ["x-tiny", "encoded"],
          toolMap: null,
        },
        issues: [{ code: "content_reshaped", path: "/input", severity: "adapt", detail: "Other words." }],
      };
    },
    decodeResponse: (document, context) => decodeAnswer(words, document, context),
    observeResponse: (document, context): ObservedResponse => {
      const decoded = decodeAnswer(words, document, context);
      if (!decoded.ok) return decoded;
      return {
        ok: true,
        usage: decoded.response.usage ?? null,
        stopWord: decoded.response.candidates[0]?.stop.raw ?? null,
      };
    },
    readUsage: (document) => usageOf(document.value(document.member(document.root, "usage"))),
    decodeTokenCount: (document) => {
      const node = document.member(document.root, "count");
      return document.isNumber(node)
        ? { ok: true, count: document.number(node) }
        : { ok: false, error: broken("no count") };
    },
    createStreamDecoder: (_context, emit) => new Decoder(words, emit),
    createStreamObserver: () => new Observer(words),
    classifyError: ({ status, headers, body }) => {
      const members = parse(body, 0, body.byteLength);
      return upstreamError(members?.["error"], headers, status);
    },
  };
}

/** A provider kind that speaks the given dialects. */
export const makeKind = (
  id: string,
  dialects: readonly string[],
  disconnect: ProviderKind["disconnect"],
): ProviderKind => ({
  id,
  baseUrl: "https://upstream.example",
  basePathSuffix: "",
  dialects,
  profiles: Object.fromEntries(dialects.map((dialect) => [dialect, "plain"])),
  credentialHeader: { name: "authorization", prefix: "Bearer " },
  isCredentialOptional: true,
  disconnect,
  capabilitiesOf: () => ({}),
});

/** The text of a request's `input`, out of its bytes. */
export const inputOf = (body: Uint8Array): string => {
  const at = Buffer.from(body.buffer, body.byteOffset, body.byteLength).indexOf('"input":"');
  const start = at + 9;
  const end = body.indexOf(0x22, start);
  return at < 0 ? "" : decodeText({ bytes: body, start, end });
};
