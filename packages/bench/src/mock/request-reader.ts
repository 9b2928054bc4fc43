// Incremental reader of HTTP/1.1 requests on one connection (RFC 9112 §6, §7.1), for the mock and the control relay. Keeps the body
// as the chunks it came in; `Expect: 100-continue` is answered by the owner.

/** One request, complete. */
export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  /** The head without its final empty line, latin1. */
  readonly head: string;
  readonly body: readonly Buffer[];
}

/** What the reader reports. */
export interface RequestEvents {
  onRequest(request: ReadRequest): void;
  onContinue(): void;
  onBroken(): void;
}

type State = "head" | "length" | "chunk-size" | "chunk-data" | "trailer" | "broken";

const HEAD_END = Buffer.from("\r\n\r\n");
const CRLF = Buffer.from("\r\n");
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** Reader of the requests of one connection, in sequence; pipelined requests are reported one after the other. */
export class RequestReader {
  readonly #events: RequestEvents;
  #state: State = "head";
  #carry: Buffer = EMPTY;
  #remaining = 0;
  #bodyBytes = 0;
  #head = "";
  #body: Buffer[] = [];

  constructor(events: RequestEvents) {
    this.#events = events;
  }

  /** Takes the next bytes. They are kept: the caller must not overwrite them. */
  feed(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && this.#state !== "broken") rest = this.#step(rest);
  }

  #step(bytes: Buffer): Buffer {
    switch (this.#state) {
      case "head":
        return this.#readUntil(bytes, HEAD_END, (head) => this.#startBody(head));
      case "length":
      case "chunk-data":
        return this.#readCounted(bytes);
      case "chunk-size":
        return this.#readUntil(bytes, CRLF, (line) => this.#startChunk(line));
      case "trailer":
        return this.#readUntil(bytes, CRLF, (line) => {
          if (line === "") this.#finish();
        });
      case "broken":
        return EMPTY;
    }
  }

  #readUntil(bytes: Buffer, end: Buffer, onText: (text: string) => void): Buffer {
    const all = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    const at = all.indexOf(end);
    if (at < 0) {
      if (all.length > MAX_HEAD_BYTES) this.#break();
      else this.#carry = all;
      return EMPTY;
    }
    this.#carry = EMPTY;
    onText(all.toString("latin1", 0, at));
    return all.subarray(at + end.length);
  }

  #startBody(head: string): void {
    this.#head = head;
    this.#body = [];
    this.#bodyBytes = 0;
    if (/\r\nexpect:[ \t]*100-continue/i.test(head)) this.#events.onContinue();
    if (/\r\ntransfer-encoding:[^\r]*\bchunked\b/i.test(head)) {
      this.#state = "chunk-size";
      return;
    }
    this.#remaining = Number(/\r\ncontent-length:[ \t]*(\d+)/i.exec(head)?.[1] ?? 0);
    this.#state = "length";
    if (this.#remaining > MAX_BODY_BYTES) this.#break();
    else if (this.#remaining === 0) this.#finish();
  }

  #startChunk(line: string): void {
    const size = Number.parseInt(/^[0-9a-f]{1,8}/i.exec(line)?.[0] ?? "", 16);
    if (Number.isNaN(size) || this.#bodyBytes + size > MAX_BODY_BYTES) return this.#break();
    this.#remaining = size + CRLF.length;
    this.#state = size === 0 ? "trailer" : "chunk-data";
    return undefined;
  }

  #readCounted(bytes: Buffer): Buffer {
    const take = Math.min(this.#remaining, bytes.length);
    const lineEnd = this.#state === "chunk-data" ? CRLF.length : 0;
    const content = Math.min(take, Math.max(0, this.#remaining - lineEnd));
    if (content > 0) this.#body.push(bytes.subarray(0, content));
    this.#bodyBytes += content;
    this.#remaining -= take;
    if (this.#remaining === 0) {
      if (this.#state === "chunk-data") this.#state = "chunk-size";
      else this.#finish();
    }
    return bytes.subarray(take);
  }

  #finish(): void {
    this.#state = "head";
    const [method = "", target = ""] = this.#head.slice(0, this.#head.indexOf("\r\n")).split(" ");
    this.#events.onRequest({ method, target, head: this.#head, body: this.#body });
  }

  #break(): void {
    this.#state = "broken";
    this.#carry = EMPTY;
    this.#events.onBroken();
  }
}
