// A request as the engine sees it, over what WHATWG fetch knows of one: a URL, `Headers`, and a body in memory or as a stream.

import type { BodyPool, BodyReading, ClientRequest, HeaderList } from "@dragoman/core";

import { pathOf, queryOf } from "../http/request-target.ts";
import type { StreamReading } from "./stream-reading.ts";
import { readBuffered, readStream } from "./stream-reading.ts";

/** What a request is made of. */
export interface FetchRequestParts {
  readonly method: string;
  /** Path and query below the mount. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null;
  /** Something read the body before. */
  readonly isConsumed: boolean;
  /** Who sent it, where the host knows. */
  readonly remoteAddress: string | null;
  /**
   * The request these parts are of, held for as long as the exchange runs: its signal hears of an abort only while the request itself is
   * alive, for undici holds the controller behind it weakly.
   */
  readonly source: Request | null;
}

const LENGTH = /^\d{1,15}$/;

/** One request. */
export class FetchRequest implements ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderList;
  readonly contentLength: number | null;
  readonly remoteAddress: string | null;
  readonly #parts: FetchRequestParts;
  readonly #pool: BodyPool;
  #reading: StreamReading | null = null;
  #isRead = false;

  constructor(parts: FetchRequestParts, pool: BodyPool) {
    const { target, headers, body } = parts;
    this.method = parts.method;
    this.path = pathOf(target);
    this.query = queryOf(target);
    this.headers = listOf(headers);
    this.contentLength = isInMemory(body) ? body.byteLength : readLength(headers);
    this.remoteAddress = parts.remoteAddress;
    this.#parts = parts;
    this.#pool = pool;
  }

  readBody(maxBytes: number): Promise<BodyReading> {
    const { body, isConsumed } = this.#parts;
    if (this.#isRead || isConsumed) return Promise.resolve({ ok: false, reason: "consumed" });
    this.#isRead = true;
    if (body === null || isInMemory(body)) return Promise.resolve(readBuffered(body, this.#pool, maxBytes));
    if (body.locked) return Promise.resolve({ ok: false, reason: "consumed" });
    if ((this.contentLength ?? 0) > maxBytes) return Promise.resolve({ ok: false, reason: "too-large" });
    this.#reading = readStream(body, { pool: this.#pool, maxBytes, sizeHint: this.contentLength });
    return this.#reading.result;
  }

  /** The client left: a body that is still being read will not be whole. */
  stopReading(): void {
    this.#reading?.fail("incomplete");
  }
}

/** Not by `instanceof`: hosts may run us in a realm of its own, such as a test runner's. */
function isInMemory(body: FetchRequestParts["body"]): body is Uint8Array {
  return ArrayBuffer.isView(body);
}

function listOf(headers: Headers): HeaderList {
  const list: string[] = [];
  for (const [name, value] of headers) list.push(name, value);
  return list;
}

function readLength(headers: Headers): number | null {
  const value = headers.get("content-length");
  return value !== null && LENGTH.test(value) ? Number(value) : null;
}
