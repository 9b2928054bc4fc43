// One request and the way back to its client. States of the answer: idle → held (the head waits for the first body byte, so that both
// leave in one write) → streaming → ended, or gone from anywhere before ended. `onGone` is called at most once, and never after `end`
// or `abort`; bytes handed over are not touched again.

import type { BodyReading, ClientRequest, HeaderList, Responder } from "@dragoman/core";
import { findHeader, GatewayError } from "@dragoman/core";

import { checkAnswerFields } from "../http/answer-fields.ts";
import { readBufferedBody } from "../http/body-reader.ts";
import type { BodySource } from "../http/body-reader.ts";
import type { HeadCheck, RequestHead } from "../http/strict-request.ts";
import { serializeAnswerHead } from "./answer-bytes.ts";
import type { AnswerFraming, AnswerWriter } from "./answer-bytes.ts";
import type { BodyIntake } from "./body-intake.ts";
import { readContinuation } from "./request-head.ts";
import type { Continuation } from "./request-head.ts";

/** The connection as its exchange sees it. */
export interface ExchangeHost {
  /** What this turn writes; leaves at the end of the turn or with `flush`. */
  readonly writer: AnswerWriter;
  readonly pool: BodySource;
  readonly date: string;
  readonly keepAliveSeconds: number;
  /** Whether every answer is its connection's last from now on. */
  readonly isLastAnswer: boolean;
  /** Bytes that wait on this side of the kernel. */
  readonly bufferedBytes: number;
  /** Null once the connection is gone. */
  readonly remoteAddress: string | null;
  /** Whether bytes behind the request have arrived. */
  readonly hasWaitingInput: boolean;
  /** Why the input ended before the body was complete, or null. */
  readonly inputFailure: "malformed" | "timeout" | "incomplete" | null;
  /** Sends what was gathered at the end of this turn; false when the connection's buffers are full. */
  scheduleFlush(): boolean;
  /** Sends what was gathered. */
  flush(): void;
  sendContinue(): void;
  /** Reads on after a body's read has begun. */
  resumeBody(): void;
  /** The answer is complete. */
  finish(exchange: WireExchange, closes: boolean): void;
  destroy(options: { readonly withReset: boolean }): void;
}

const NOTHING: Uint8Array = new Uint8Array(0);

/** One exchange; made by its connection. */
export class WireExchange implements ClientRequest, Responder {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderList;
  readonly contentLength: number | null;
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  /** Null when the request has no body. */
  readonly intake: BodyIntake | null;
  readonly #host: ExchangeHost;
  readonly #isOld: boolean;
  readonly #continuation: Continuation;
  readonly #owesContinue: boolean;
  #isRead = false;
  #state: "idle" | "held" | "streaming" | "ended" | "gone" = "idle";
  #status = 0;
  #answerHeaders: HeaderList = [];
  #framing: AnswerFraming = "none";

  constructor(
    host: ExchangeHost,
    {
      head,
      check,
      intake,
    }: {
      readonly head: RequestHead;
      readonly check: Extract<HeadCheck, { readonly ok: true }>;
      readonly intake: BodyIntake | null;
    },
  ) {
    this.method = head.method;
    this.path = check.path;
    this.query = check.query;
    this.headers = head.headers;
    this.contentLength = check.contentLength;
    this.intake = intake;
    this.#host = host;
    this.#isOld = head.versionMinor === 0;
    this.#continuation = this.#isOld ? "closed" : readContinuation(head.headers, check.hasBody);
    this.#owesContinue = check.expectsContinue;
  }

  /** Bytes that wait for the client on this side of the kernel. */
  get bufferedBytes(): number {
    return this.#host.bufferedBytes;
  }

  get remoteAddress(): string | null {
    return this.#host.remoteAddress;
  }

  /** Whether the answer has not begun, so that another one can still take its place. */
  get isUnanswered(): boolean {
    return this.#state === "idle" || this.#state === "held";
  }

  /** Whether nothing more is written. */
  get isOver(): boolean {
    return this.#state === "ended" || this.#state === "gone";
  }

  async readBody(maxBytes: number): Promise<BodyReading> {
    const { intake } = this;
    const host = this.#host;
    if (this.#isRead) return { ok: false, reason: "consumed" };
    this.#isRead = true;
    if (intake === null) return readBufferedBody(NOTHING, host.pool, maxBytes);
    if (this.isOver) return { ok: false, reason: "incomplete" };
    if (host.inputFailure !== null) return { ok: false, reason: host.inputFailure };
    intake.begin(maxBytes);
    if (intake.isReading) {
      if (this.#owesContinue) host.sendContinue();
      host.resumeBody();
    }
    return intake.outcome();
  }

  head(status: number, headers: HeaderList): void {
    if (this.#state === "gone") return;
    if (this.#state !== "idle") throw new GatewayError("state_violation", "An answer's head is written once.");
    checkAnswerFields(headers);
    this.#state = "held";
    this.#status = status;
    this.#answerHeaders = headers;
    this.#host.scheduleFlush();
  }

  /** Sets the head in place of one that was not sent; for the front end's own answers. */
  replaceHead(status: number, headers: HeaderList): void {
    if (this.#state === "held") this.#state = "idle";
    this.head(status, headers);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#state === "gone") return true;
    if (this.#state === "held") this.#beginStream();
    if (this.#state !== "streaming") throw new GatewayError("state_violation", "Body bytes come between head and end.");
    if (bytes.byteLength === 0 || this.#framing === "none") return true;
    this.#addBody(bytes);
    return this.#host.scheduleFlush();
  }

  end(bytes: Uint8Array | null, closeConnection: boolean): void {
    if (this.#state === "gone") return;
    if (this.#state !== "held" && this.#state !== "streaming")
      throw new GatewayError("state_violation", "An answer ends once, after its head.");
    const closes = closeConnection || this.#mustClose();
    if (this.#state === "held") this.#beginWhole(bytes?.byteLength ?? 0, closes);
    this.#state = "ended";
    this.onDrain = null;
    this.onGone = null;
    if (bytes !== null && bytes.byteLength > 0 && this.#framing !== "none") this.#addBody(bytes);
    if (this.#framing === "chunked") this.#host.writer.addLastChunk();
    this.#host.finish(this, closes || this.#framing === "close");
  }

  abort(): void {
    if (this.#state === "gone") return;
    // Only a missing last chunk shows a client that an ended answer is broken; all others need a reset.
    const withReset = !this.isUnanswered && this.#framing !== "chunked";
    this.#leave();
    // Hands over what was written in this turn, such as an error event.
    if (!withReset) this.#host.flush();
    this.#host.destroy({ withReset });
  }

  /** Writes a head that no body byte has followed in its turn. */
  flushHead(): void {
    if (this.#state === "held") this.#beginStream();
  }

  /** The client closed, or the connection broke. */
  onConnectionGone(): void {
    if (this.isOver) return;
    const { onGone } = this;
    this.#leave();
    this.#host.destroy({ withReset: false });
    onGone?.();
  }

  #leave(): void {
    this.#state = "gone";
    this.onDrain = null;
    this.onGone = null;
    this.intake?.fail("incomplete");
  }

  get #isLast(): boolean {
    if (this.#host.isLastAnswer || this.#continuation === "closed") return true;
    return this.#continuation === "closed-if-followed" && this.#host.hasWaitingInput;
  }

  #mustClose(): boolean {
    // The rest of an unread body would have to be read to find the next request.
    return this.#isLast || (this.intake !== null && !this.intake.isComplete);
  }

  #addBody(bytes: Uint8Array): void {
    if (this.#framing === "chunked") this.#host.writer.addChunk(bytes);
    else this.#host.writer.add(bytes);
  }

  /** RFC 9110 §6.4.1: no content behind HEAD, 204 and 304, whatever the engine writes. */
  #isBodiless(): boolean {
    return this.#status === 204 || this.#status === 304 || this.method === "HEAD";
  }

  #beginStream(): void {
    this.#state = "streaming";
    const hasLength = findHeader(this.#answerHeaders, "content-length") !== undefined;
    if (this.#isBodiless()) this.#framing = "none";
    else if (hasLength) this.#framing = "length";
    else this.#framing = this.#isOld ? "close" : "chunked";
    this.#addHead(null, this.#isLast);
  }

  #beginWhole(byteLength: number, closes: boolean): void {
    const hasLength = findHeader(this.#answerHeaders, "content-length") !== undefined;
    this.#framing = this.#isBodiless() ? "none" : "length";
    // RFC 9110 §8.6: no Content-Length in a 204; for 304 and an empty answer to HEAD only the engine knows the length.
    const isCounted = !hasLength && (this.#framing === "length" || (this.method === "HEAD" && byteLength > 0));
    this.#addHead(isCounted ? byteLength : null, closes);
  }

  #addHead(contentLength: number | null, closes: boolean): void {
    const { writer, date, keepAliveSeconds } = this.#host;
    const framing = this.#framing;
    writer.addText(
      serializeAnswerHead(this.#status, this.#answerHeaders, {
        date,
        framing,
        contentLength,
        closes,
        keepAliveSeconds,
      }),
    );
  }
}
