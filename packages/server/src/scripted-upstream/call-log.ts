// The record of one call. The connection that serves the call owns it and is the only one that writes; tests read.
import type { RequestHead } from "./http-reader.ts";

/** How a call ended: the answer was written, the upstream broke it off on purpose, or the client left before. */
export type CallEnd = "complete" | "cut" | "client-closed";

/** What the upstream saw of one call and what it sent. Members change until `ended` is set. */
export interface UpstreamCallLog {
  /** 1 for the first call since the start of the upstream. */
  readonly serial: number;
  /** Serial number of the connection: equal for calls that shared one. */
  readonly connection: number;
  readonly method: string;
  /** The target without its query. */
  readonly path: string;
  readonly target: string;
  /** Names in lower case; of a repeated header the values are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Header lines as they came. */
  readonly rawHeaders: readonly (readonly [string, string])[];
  /** The body as far as it was read. */
  readonly body: Buffer;
  /** The body as JSON; undefined while it is incomplete or when it is not JSON. */
  readonly json: unknown;
  readonly bodyComplete: boolean;
  /** The requested model, also from a body that is not complete yet; null when there is none. */
  readonly model: string | null;
  /** Milliseconds of the upstream's clock. */
  readonly startedMs: number;
  /** Bytes handed to the socket for this call, head included. */
  readonly bytesSent: number;
  readonly ended: CallEnd | null;
}

const SNIFFED_BYTES = 64 * 1024;

/** The writable side of a call's record. */
export class UpstreamCall implements UpstreamCallLog {
  readonly serial: number;
  readonly connection: number;
  readonly method: string;
  readonly path: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly (readonly [string, string])[];
  readonly startedMs: number;
  bytesSent = 0;
  bodyBytes = 0;
  bodyComplete = false;
  json: unknown = undefined;
  ended: CallEnd | null = null;
  #pieces: Buffer[] = [];
  #sniffed: string | null = null;

  constructor(serial: number, connection: number, head: RequestHead, startedMs: number) {
    this.serial = serial;
    this.connection = connection;
    this.method = head.method;
    this.path = head.path;
    this.target = head.target;
    this.rawHeaders = head.headers;
    this.headers = joinHeaders(head.headers);
    this.startedMs = startedMs;
  }

  get body(): Buffer {
    const [first = Buffer.alloc(0)] = this.#pieces;
    if (this.#pieces.length < 2) return first;
    const joined = Buffer.concat(this.#pieces);
    this.#pieces = [joined];
    return joined;
  }

  get model(): string | null {
    if (typeof this.json === "object" && this.json !== null && "model" in this.json) {
      return typeof this.json.model === "string" ? this.json.model : null;
    }
    return this.bodyComplete ? null : this.#sniffed;
  }

  addBody(bytes: Buffer): void {
    const wasShort = this.bodyBytes < SNIFFED_BYTES;
    this.#pieces.push(bytes);
    this.bodyBytes += bytes.length;
    if (wasShort) this.#sniffed ??= sniffModel(this.body);
  }

  completeBody(): void {
    this.bodyComplete = true;
    try {
      this.json = JSON.parse(this.body.toString("utf8")) as unknown;
    } catch {
      // Not JSON: the record says so by `json` staying undefined; the upstream answers all the same.
    }
  }
}

function joinHeaders(headers: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  const joined = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const before = joined.get(key);
    joined.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(joined);
}

/** Finds the model in a body that is still arriving, so that early answers can depend on it. */
function sniffModel(body: Buffer): string | null {
  const start = body.subarray(0, SNIFFED_BYTES).toString("latin1");
  return /"model"\s*:\s*"([A-Za-z0-9._:@/-]+)"/u.exec(start)?.[1] ?? null;
}
