// Reads one request body into one pooled buffer, bounded in bytes and time. Ends exactly once: with the body, or with the reason why
// there is none and an input that is not read any further.

import type { Readable } from "node:stream";

import type { BodyBuffer, BodyReading, Timer } from "@dragoman/core";

import type { Schedule } from "./connection.ts";
import type { HttpLimits } from "./http-limits.ts";

/** Gathers the chunks of one body. `finish` or `discard` ends it, once. */
export interface BodyCollector {
  /** Takes a copy of the chunk; false = the body is over its bound. */
  push(chunk: Uint8Array): boolean;
  finish(): BodyBuffer;
  discard(): void;
}

/** Where collectors come from; core's pool of body buffers. */
export interface BodySource {
  collect(sizeHint: number | null, maxBytes: number): BodyCollector;
}

/** Why a body could not be read. */
export type BodyFailure = Extract<BodyReading, { readonly ok: false }>["reason"];

/** What a reader needs. */
export interface BodyReaderOptions {
  readonly req: Readable;
  readonly pool: BodySource;
  readonly limits: HttpLimits;
  readonly schedule: Schedule;
  readonly maxBytes: number;
  readonly contentLength: number | null;
}

/** One running read. */
export class BodyReader {
  readonly result: Promise<BodyReading>;
  readonly #req: Readable;
  readonly #limits: HttpLimits;
  readonly #schedule: Schedule;
  readonly #collector: BodyCollector;
  readonly #onData: (chunk: Uint8Array) => void;
  readonly #onEnd: () => void;
  #resolve: (reading: BodyReading) => void = ignore;
  #timer: Timer | null = null;
  #elapsedMs = 0;
  #windowBytes = 0;
  #isSettled = false;

  constructor(options: BodyReaderOptions) {
    this.#req = options.req;
    this.#limits = options.limits;
    this.#schedule = options.schedule;
    this.#collector = options.pool.collect(options.contentLength, options.maxBytes);
    this.result = new Promise((resolve) => (this.#resolve = resolve));
    this.#onData = (chunk) => {
      this.#windowBytes += chunk.byteLength;
      if (!this.#collector.push(chunk)) this.fail("too-large");
    };
    this.#onEnd = () => this.#finish();
    this.#req.on("data", this.#onData);
    this.#req.on("end", this.#onEnd);
    this.#awaitWindow();
  }

  /** Ends the read without a body; does nothing when it has ended. */
  fail(reason: BodyFailure): void {
    if (!this.#settle()) return;
    this.#req.off("data", this.#onData);
    this.#req.off("end", this.#onEnd);
    this.#req.pause();
    this.#collector.discard();
    this.#resolve({ ok: false, reason });
  }

  #finish(): void {
    // The listeners stay: nothing is emitted behind an end, and taking them off makes the stream look at its state again in a tick of its own.
    if (this.#settle()) this.#resolve({ ok: true, body: this.#collector.finish() });
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#timer?.cancel();
    return true;
  }

  #awaitWindow(): void {
    const windowMs = Math.min(this.#limits.bodyWindowMs, this.#limits.bodyTimeoutMs - this.#elapsedMs);
    this.#windowBytes = 0;
    this.#timer = this.#schedule(windowMs, () => {
      this.#elapsedMs += windowMs;
      const isSlow = this.#windowBytes < this.#limits.minBodyBytesPerWindow;
      if (isSlow || this.#elapsedMs >= this.#limits.bodyTimeoutMs) this.fail("timeout");
      else this.#awaitWindow();
    });
  }
}

/** A body that is already in memory, as one of the pool's buffers. */
export function readBufferedBody(bytes: Uint8Array, pool: BodySource, maxBytes: number): BodyReading {
  if (bytes.byteLength > maxBytes) return { ok: false, reason: "too-large" };
  const collector = pool.collect(bytes.byteLength, maxBytes);
  if (bytes.byteLength > 0 && !collector.push(bytes)) {
    collector.discard();
    return { ok: false, reason: "too-large" };
  }
  return { ok: true, body: collector.finish() };
}

function ignore(): void {
  // Replaced in the constructor: a promise's executor runs at once.
}
