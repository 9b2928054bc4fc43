// What a client has sent and nobody has consumed yet: the rest of a body, the next head, pipelined requests behind it. Bytes are copied
// only when a message is cut by a read.

import type { Refusal } from "../http/refusal.ts";
import type { RequestHead } from "../http/strict-request.ts";
import type { BodyIntake } from "./body-intake.ts";
import { HeadScan, parseRequestHead, skipEmptyLines } from "./request-head.ts";

/** Why there is no head: more input is needed, or none will help. */
export type MissingHead = "incomplete" | "malformed" | "too-large";

/** What a client is told of input that never became a request. */
export const HEAD_REFUSALS: Readonly<Record<Exclude<MissingHead, "incomplete"> | "too-slow", Refusal>> = {
  malformed: refusal(400, "invalid_request", "The request is not valid HTTP/1.1."),
  "too-large": refusal(431, "invalid_request", "The request's head is too large."),
  "too-slow": refusal(408, "body_timeout", "The request did not arrive in time."),
};

const NOTHING: Buffer = Buffer.alloc(0);

/** The input of one connection. */
export class ConnectionInput {
  readonly #scan: HeadScan = new HeadScan();
  #bytes: Buffer = NOTHING;
  #at = 0;

  /** Bytes that wait. */
  get byteLength(): number {
    return this.#bytes.length - this.#at;
  }

  /** Adds what was read; the chunk is this input's from now on. */
  push(chunk: Buffer): void {
    this.#bytes = this.byteLength === 0 ? chunk : Buffer.concat([this.#bytes.subarray(this.#at), chunk]);
    this.#at = 0;
  }

  /** Drops everything. */
  clear(): void {
    this.#bytes = NOTHING;
    this.#at = 0;
  }

  /** Gives a body what belongs to it. */
  feed(intake: BodyIntake): void {
    this.#at = intake.feed(this.#bytes, this.#at);
  }

  /** Takes the next head off the input, when it is complete and within its bound. */
  takeHead(maxBytes: number): RequestHead | MissingHead {
    if (this.#scan.length === 0) this.#at = skipEmptyLines(this.#bytes, this.#at);
    const start = this.#at;
    const verdict = this.#scan.scan(this.#bytes, start);
    const { length } = this.#scan;
    if (length > maxBytes) return "too-large";
    if (verdict !== "complete") return verdict;
    this.#scan.begin();
    this.#at = start + length;
    return parseRequestHead(this.#bytes.toString("latin1", start, start + length - 4)) ?? "malformed";
  }
}

function refusal(status: number, code: Refusal["code"], message: string): Refusal {
  return { status, code, message, path: "", headers: [] };
}
