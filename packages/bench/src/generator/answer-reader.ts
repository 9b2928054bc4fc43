// Incremental reader of HTTP/1.1 answers on one connection (RFC 9112 §6, §7.1). States: head → body by length, by chunks, or until
// close → done. It hands on body bytes and never keeps them.

/** Receives the parts of an answer. */
export interface AnswerEvents {
  onStatus(status: number): void;
  /** The bytes may be overwritten once the call has returned. */
  onBody(bytes: Buffer): void;
  onEnd(isReusable: boolean): void;
  /** The answer breaks the framing rules; nothing follows. */
  onBroken(): void;
}

type ReaderState = "head" | "length" | "chunk-size" | "chunk-data" | "trailer" | "until-close" | "broken";

const HEAD_END = Buffer.from("\r\n\r\n");
const CRLF = Buffer.from("\r\n");
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_CHUNK_LINE_BYTES = 1024;
const EMPTY = Buffer.alloc(0);

/** Reader of the answers of one connection, in sequence. */
export class AnswerReader {
  readonly #events: AnswerEvents;
  #state: ReaderState = "head";
  /** Bytes of an incomplete head, chunk line or trailer. */
  #carry: Buffer = EMPTY;
  #remaining = 0;
  #isReusable = true;

  constructor(events: AnswerEvents) {
    this.#events = events;
  }

  /** Takes the next bytes from the socket. */
  feed(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && this.#state !== "broken") {
      rest = this.#step(rest);
    }
  }

  /** The peer closed: the end of an answer that lasts until then, a broken one otherwise. */
  close(): void {
    if (this.#state === "until-close") this.#finish(false);
    else if (this.#state !== "head" || this.#carry.length > 0) this.#break();
  }

  #step(bytes: Buffer): Buffer {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes);
      case "length":
      case "chunk-data":
        return this.#readCounted(bytes);
      case "chunk-size":
        return this.#readLine(bytes, MAX_CHUNK_LINE_BYTES, (line) => this.#startChunk(line));
      case "trailer":
        return this.#readLine(bytes, MAX_HEAD_BYTES, (line) => {
          if (line === "") this.#finish(this.#isReusable);
        });
      case "until-close":
        this.#events.onBody(bytes);
        return EMPTY;
      case "broken":
        return EMPTY;
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const all = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    const end = all.indexOf(HEAD_END);
    if (end < 0) {
      if (all.length > MAX_HEAD_BYTES) this.#break();
      else this.#carry = Buffer.from(all);
      return EMPTY;
    }
    this.#carry = EMPTY;
    const rest = all.subarray(end + HEAD_END.length);
    this.#startBody(all.toString("latin1", 0, end));
    return rest;
  }

  #startBody(head: string): void {
    const status = Number(head.slice(9, 12));
    if (!head.startsWith("HTTP/1.") || !(status >= 100 && status <= 599)) return this.#break();
    // An interim answer is not the answer (RFC 9110 §15.2).
    if (status < 200) return;
    this.#isReusable = head[7] === "1" && !/\r\nconnection:[^\r]*\bclose\b/i.test(head);
    this.#events.onStatus(status);
    if (/\r\ntransfer-encoding:[^\r]*\bchunked\b/i.test(head)) {
      this.#state = "chunk-size";
      return undefined;
    }
    const length = /\r\ncontent-length:[ \t]*(\d+)/i.exec(head)?.[1];
    if (length === undefined && status !== 204 && status !== 304) {
      this.#state = "until-close";
      return undefined;
    }
    this.#remaining = Number(length ?? 0);
    this.#state = "length";
    if (this.#remaining === 0) this.#finish(this.#isReusable);
    return undefined;
  }

  #readCounted(bytes: Buffer): Buffer {
    const take = Math.min(this.#remaining, bytes.length);
    this.#remaining -= take;
    if (this.#state === "length") {
      this.#events.onBody(bytes.subarray(0, take));
      if (this.#remaining === 0) this.#finish(this.#isReusable);
      return bytes.subarray(take);
    }
    // The last two bytes of a chunk are its line end, not content.
    const content = Math.min(take, Math.max(0, this.#remaining + take - CRLF.length));
    if (content > 0) this.#events.onBody(bytes.subarray(0, content));
    if (this.#remaining === 0) this.#state = "chunk-size";
    return bytes.subarray(take);
  }

  #readLine(bytes: Buffer, maxBytes: number, onLine: (line: string) => void): Buffer {
    const all = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    const end = all.indexOf(CRLF);
    if (end < 0) {
      if (all.length > maxBytes) this.#break();
      else this.#carry = Buffer.from(all);
      return EMPTY;
    }
    this.#carry = EMPTY;
    onLine(all.toString("latin1", 0, end));
    return all.subarray(end + CRLF.length);
  }

  #startChunk(line: string): void {
    const size = /^([0-9a-f]{1,8})[ \t]*(;|$)/i.exec(line)?.[1];
    if (size === undefined) return this.#break();
    const bytes = Number.parseInt(size, 16);
    if (bytes === 0) {
      this.#state = "trailer";
      return undefined;
    }
    this.#remaining = bytes + CRLF.length;
    this.#state = "chunk-data";
    return undefined;
  }

  #finish(isReusable: boolean): void {
    this.#state = "head";
    this.#events.onEnd(isReusable);
  }

  #break(): void {
    this.#state = "broken";
    this.#carry = EMPTY;
    this.#events.onBroken();
  }
}
