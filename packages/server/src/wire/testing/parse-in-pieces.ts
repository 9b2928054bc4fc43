// Runs the response parser over bytes cut at given offsets, each piece in memory of its own that is overwritten afterwards, so that
// a kept reference shows.

import { ResponseParser } from "../response-parser.ts";
import type { ParserLimits, ResponseReceiver } from "../response-parser.ts";

/** What became of the bytes. */
export interface ParsedAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  readonly failure: string | null;
  readonly isDone: boolean;
  /** Bytes behind a complete answer. */
  readonly rest: number;
  readonly isPersistent: boolean;
  readonly keepAliveMs: number;
}

class Collector implements ResponseReceiver {
  readonly #mustHalt: boolean;
  isHalted = false;
  status = 0;
  headers: readonly string[] = [];
  body = "";

  constructor(mustHalt: boolean) {
    this.#mustHalt = mustHalt;
  }

  receiveHead(status: number, headers: readonly string[]): void {
    if (this.isHalted || this.status !== 0) throw new Error("a head out of turn");
    this.status = status;
    this.headers = headers;
    this.isHalted = this.#mustHalt;
  }

  receiveData(chunk: Uint8Array): void {
    if (this.isHalted || this.status === 0 || chunk.length === 0) throw new Error("data out of turn");
    this.body += Buffer.from(chunk).toString("latin1");
    this.isHalted = this.#mustHalt;
  }
}

/** Parses; with `atEnd` the input ends behind the bytes; with `mustHalt` the receiver halts after everything it gets. */
export function parseInPieces(
  bytes: Buffer,
  cuts: readonly number[],
  limits: ParserLimits,
  atEnd: boolean,
  mustHalt: boolean = false,
): ParsedAnswer {
  const receiver = new Collector(mustHalt);
  const parser = new ResponseParser(limits, receiver);
  let rest = 0;
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    const end = Math.min(cut, bytes.length);
    if (end <= start && cut !== bytes.length) continue;
    const piece = Buffer.from(bytes.subarray(start, end));
    let at = 0;
    for (;;) {
      at = parser.feed(piece, at, piece.length);
      if (!receiver.isHalted) break;
      receiver.isHalted = false;
    }
    if (parser.isDone) rest += piece.length - at;
    else if (parser.failure === null && at !== piece.length) throw new Error("input left over without a reason");
    piece.fill(0xdb);
    start = Math.max(start, end);
  }
  if (atEnd && parser.failure === null) parser.finish();
  return {
    status: receiver.status,
    headers: receiver.headers,
    body: receiver.body,
    failure: parser.failure,
    isDone: parser.isDone,
    rest,
    isPersistent: parser.isPersistent,
    keepAliveMs: parser.keepAliveMs,
  };
}
