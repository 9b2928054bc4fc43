// Reads HTTP/1.1 requests from the bytes of one connection. Lenient on purpose: it is a test double, and what the gateway
// sends is judged by the tests, not by this reader. States: head → body by length or by chunks → done, until `next()`.

/** A request's head as it came: header names keep their spelling and order. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** The target without its query. */
  readonly path: string;
  readonly version: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly raw: Buffer;
}

/** What the reader reports, in this order for each request: one head, any number of body pieces, one end. */
export interface RequestHandler {
  onHead(head: RequestHead): void;
  onBody(bytes: Buffer): void;
  onEnd(): void;
  /** The bytes are no request; nothing further is reported. */
  onBroken(reason: string): void;
}

const MAX_HEAD_BYTES = 256 * 1024;
const HEAD_END = Buffer.from("\r\n\r\n", "latin1");
const LINE_END = Buffer.from("\r\n", "latin1");

/** Returns the first value of a header, or null. */
export function headerOf(head: RequestHead, name: string): string | null {
  const wanted = name.toLowerCase();
  for (const [each, value] of head.headers) if (each.toLowerCase() === wanted) return value;
  return null;
}

function parseHead(raw: Buffer): RequestHead | null {
  const lines = raw.toString("latin1").split("\r\n");
  const match = /^(\S+) (\S+) (HTTP\/\d\.\d)$/u.exec(lines[0] ?? "");
  if (match === null) return null;
  const headers: (readonly [string, string])[] = [];
  for (const line of lines.slice(1)) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    if (colon < 1) return null;
    headers.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
  }
  const target = match[2] ?? "";
  return {
    method: match[1] ?? "",
    target,
    path: target.split("?", 1)[0] ?? "",
    version: match[3] ?? "",
    headers,
    raw,
  };
}

type State = "head" | "length" | "chunk-size" | "chunk-data" | "trailers" | "done" | "broken";

/** Incremental reader of the requests of one connection. */
export class RequestReader {
  #state: State = "head";
  #pending: Buffer = Buffer.alloc(0);
  #remaining = 0;
  readonly #handler: RequestHandler;

  constructor(handler: RequestHandler) {
    this.#handler = handler;
  }

  /** True between the end of a request and `next()`. */
  get isDone(): boolean {
    return this.#state === "done";
  }

  /** Takes bytes from the connection. Bytes behind a finished request wait for `next()`. */
  push(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    this.#advance();
  }

  /** Starts with the next request of the connection. */
  next(): void {
    if (this.#state !== "done") return;
    this.#state = "head";
    this.#advance();
  }

  #advance(): void {
    while (this.#step()) {
      // Each step consumes input or changes the state; it returns false when it needs more bytes.
    }
  }

  #step(): boolean {
    switch (this.#state) {
      case "head":
        return this.#readHead();
      case "length":
        return this.#readLength();
      case "chunk-size":
        return this.#readChunkSize();
      case "chunk-data":
        return this.#readChunkData();
      case "trailers":
        return this.#readTrailer();
      case "done":
      case "broken":
        return false;
    }
  }

  #take(count: number): Buffer {
    const taken = this.#pending.subarray(0, count);
    this.#pending = this.#pending.subarray(count);
    return taken;
  }

  #takeLine(): string | null {
    const end = this.#pending.indexOf(LINE_END);
    if (end === -1) return null;
    const line = this.#take(end).toString("latin1");
    this.#take(LINE_END.length);
    return line;
  }

  #break(reason: string): boolean {
    this.#state = "broken";
    this.#handler.onBroken(reason);
    return false;
  }

  #finish(): boolean {
    this.#state = "done";
    this.#handler.onEnd();
    return false;
  }

  #readHead(): boolean {
    const end = this.#pending.indexOf(HEAD_END);
    if (end === -1) return this.#pending.length > MAX_HEAD_BYTES ? this.#break("head too large") : false;
    const head = parseHead(this.#take(end + HEAD_END.length));
    if (head === null) return this.#break("malformed head");
    const length = headerOf(head, "content-length");
    const isChunked = headerOf(head, "transfer-encoding")?.toLowerCase() === "chunked";
    this.#remaining = length === null ? 0 : Number(length);
    if (!Number.isSafeInteger(this.#remaining) || this.#remaining < 0) return this.#break("malformed content-length");
    this.#state = isChunked ? "chunk-size" : "length";
    this.#handler.onHead(head);
    return true;
  }

  #readLength(): boolean {
    if (this.#remaining === 0) return this.#finish();
    if (this.#pending.length === 0) return false;
    const bytes = this.#take(Math.min(this.#remaining, this.#pending.length));
    this.#remaining -= bytes.length;
    this.#handler.onBody(bytes);
    return true;
  }

  #readChunkSize(): boolean {
    const line = this.#takeLine();
    if (line === null) return false;
    if (!/^[0-9a-f]+$/iu.test(line)) return this.#break("malformed chunk size");
    this.#remaining = Number.parseInt(line, 16);
    this.#state = this.#remaining === 0 ? "trailers" : "chunk-data";
    return true;
  }

  #readChunkData(): boolean {
    if (this.#remaining > 0) {
      if (this.#pending.length === 0) return false;
      const bytes = this.#take(Math.min(this.#remaining, this.#pending.length));
      this.#remaining -= bytes.length;
      this.#handler.onBody(bytes);
      return true;
    }
    if (this.#pending.length < LINE_END.length) return false;
    if (!this.#take(LINE_END.length).equals(LINE_END)) return this.#break("malformed chunk end");
    this.#state = "chunk-size";
    return true;
  }

  #readTrailer(): boolean {
    const line = this.#takeLine();
    if (line === null) return false;
    return line === "" ? this.#finish() : true;
  }
}
