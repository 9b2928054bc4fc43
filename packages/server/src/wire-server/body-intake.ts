// The body of one request: its framing, and its one read into a pooled buffer, bounded in bytes and time. States: waiting (nobody has
// asked, no byte is consumed) → reading → ended. Ends exactly once, with the body or with the reason why there is none.

import type { BodyReading, Timer } from "@dragoman/core";

import type { BodyCollector, BodyFailure, BodySource } from "../http/body-reader.ts";
import type { Schedule } from "../http/connection.ts";
import type { HttpLimits } from "../http/http-limits.ts";
import { ChunkFraming } from "../wire/chunk-framing.ts";
import { ResponseHeadReader } from "../wire/response-head.ts";

/** What a read needs beside its input. */
export interface IntakeHost {
  readonly pool: BodySource;
  readonly limits: HttpLimits;
  readonly schedule: Schedule;
}

/** Takes a body off a connection's input. */
export class BodyIntake {
  /** Whether the last byte of the body was consumed; what follows belongs to the next request. */
  isComplete: boolean;
  readonly #host: IntakeHost;
  readonly #contentLength: number | null;
  readonly #chunks: ChunkFraming | null;
  readonly #trailer: ResponseHeadReader | null;
  #remaining: number;
  #isTrailer = false;
  #collector: BodyCollector | null = null;
  #failure: BodyFailure | null = null;
  #resolve: ((reading: BodyReading) => void) | null = null;
  #timer: Timer | null = null;
  #elapsedMs = 0;
  #windowBytes = 0;

  /** A body of `contentLength` bytes, or a chunked one where that is null. */
  constructor(host: IntakeHost, contentLength: number | null) {
    this.#host = host;
    this.#contentLength = contentLength;
    this.#remaining = contentLength ?? 0;
    this.isComplete = contentLength === 0;
    this.#chunks = contentLength === null ? new ChunkFraming() : null;
    this.#trailer =
      contentLength === null
        ? new ResponseHeadReader({ maxHeadBytes: host.limits.maxHeadBytes, maxHeaderCount: host.limits.maxHeaderCount })
        : null;
    this.#chunks?.begin();
  }

  /** Whether input is to be fed: a read has begun and not ended. */
  get isReading(): boolean {
    return this.#collector !== null;
  }

  /** Starts the one read; the caller then feeds what has arrived and asks for the `outcome`. */
  begin(maxBytes: number): void {
    this.#collector = this.#host.pool.collect(this.#contentLength, maxBytes);
    if (this.isComplete) return;
    if (this.#contentLength !== null && this.#contentLength > maxBytes) this.fail("too-large");
  }

  /** How the read ended, or will: at once when everything had already arrived, which spares most bodies promise and timer. */
  outcome(): BodyReading | Promise<BodyReading> {
    const collector = this.#collector;
    if (this.#failure !== null || collector === null) return { ok: false, reason: this.#failure ?? "consumed" };
    if (this.isComplete) {
      this.#collector = null;
      return { ok: true, body: collector.finish() };
    }
    this.#awaitWindow();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Takes body bytes; returns the offset behind the last one that was consumed. */
  feed(bytes: Buffer, start: number): number {
    let at = start;
    while (at < bytes.length && !this.isComplete && this.#collector !== null)
      at =
        this.#chunks === null || this.#chunks.remaining > 0
          ? this.#takeData(bytes, at)
          : this.#takeFraming(bytes, at, this.#chunks);
    if (this.isComplete && this.#resolve !== null) this.#finish();
    return at;
  }

  /** Ends the read without a body; does nothing when none is running. */
  fail(reason: BodyFailure): void {
    const collector = this.#collector;
    if (collector === null) return;
    collector.discard();
    this.#failure = reason;
    this.#settle({ ok: false, reason });
  }

  #takeData(bytes: Buffer, start: number): number {
    const wanted = this.#chunks === null ? this.#remaining : this.#chunks.remaining;
    const end = Math.min(bytes.length, start + wanted);
    if (this.#chunks === null) {
      this.#remaining -= end - start;
      this.isComplete = this.#remaining === 0;
    } else this.#chunks.remaining -= end - start;
    this.#windowBytes += end - start;
    if (this.#collector?.push(bytes.subarray(start, end)) === false) this.fail("too-large");
    return end;
  }

  #takeFraming(bytes: Buffer, start: number, chunks: ChunkFraming): number {
    let at = start;
    if (!this.#isTrailer) {
      at = chunks.feed(bytes, at, bytes.length);
      if (chunks.failure !== null) this.fail("malformed");
      if (!chunks.isLast) return at;
      this.#isTrailer = true;
      this.#trailer?.begin("trailer");
      return at;
    }
    const trailer = this.#trailer;
    if (trailer === null) return at;
    at = trailer.feed(bytes, at, bytes.length);
    if (trailer.failure !== null) this.fail("malformed");
    else this.isComplete = trailer.isComplete;
    return at;
  }

  #finish(): void {
    const collector = this.#collector;
    if (collector !== null) this.#settle({ ok: true, body: collector.finish() });
  }

  #settle(reading: BodyReading): void {
    this.#collector = null;
    this.#timer?.cancel();
    this.#resolve?.(reading);
    this.#resolve = null;
  }

  #awaitWindow(): void {
    const { limits, schedule } = this.#host;
    const windowMs = Math.min(limits.bodyWindowMs, limits.bodyTimeoutMs - this.#elapsedMs);
    this.#windowBytes = 0;
    this.#timer = schedule(windowMs, () => {
      this.#elapsedMs += windowMs;
      const isSlow = this.#windowBytes < limits.minBodyBytesPerWindow;
      if (isSlow || this.#elapsedMs >= limits.bodyTimeoutMs) this.fail("timeout");
      else this.#awaitWindow();
    });
  }
}
