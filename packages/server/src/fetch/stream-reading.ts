// Reads one request body into one pooled buffer, bounded in bytes and time. Ends exactly once; a stream that is not read to its
// end is cancelled.

import type { BodyPool, BodyReading } from "@dragoman/core";

import { readBufferedBody } from "../http/body-reader.ts";
import { DEFAULT_HTTP_LIMITS } from "../http/http-limits.ts";
import { scheduleWithNode } from "../http/node-handler.ts";

type BodyFailure = Extract<BodyReading, { readonly ok: false }>["reason"];

/** A running read. */
export interface StreamReading {
  readonly result: Promise<BodyReading>;
  /** Ends the read without a body; does nothing when it has ended. */
  fail(reason: BodyFailure): void;
}

/** Where a body goes. */
export interface ReadingOptions {
  readonly pool: BodyPool;
  readonly maxBytes: number;
  readonly sizeHint: number | null;
}

/** A body that is in memory already. */
export function readBuffered(body: Uint8Array | null, pool: BodyPool, maxBytes: number): BodyReading {
  return readBufferedBody(body ?? new Uint8Array(0), pool, maxBytes);
}

/** Starts to read a stream. */
export function readStream(stream: ReadableStream<Uint8Array>, options: ReadingOptions): StreamReading {
  const { pool, maxBytes, sizeHint } = options;
  const reader = stream.getReader();
  const collector = pool.collect(sizeHint, maxBytes);
  let failure: BodyFailure | null = null;
  const fail = (reason: BodyFailure): void => {
    if (failure !== null) return;
    failure = reason;
    // Ends a read that waits. That the source cannot be cancelled any more changes nothing: it is not read on.
    reader.cancel().catch(() => undefined);
  };
  const timer = scheduleWithNode(DEFAULT_HTTP_LIMITS.bodyTimeoutMs, () => fail("timeout"));

  const gather = async (): Promise<BodyReading> => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (failure !== null || done) break;
        // A stream that a host made may hold anything.
        if (!ArrayBuffer.isView(value) || value.BYTES_PER_ELEMENT !== 1) fail("malformed");
        else if (!collector.push(value)) fail("too-large");
      }
    } catch {
      // The source broke; why is the host's to know, the engine only has to know that the body is not whole.
      failure ??= "incomplete";
    } finally {
      timer.cancel();
    }
    if (failure === null) return { ok: true, body: collector.finish() };
    collector.discard();
    return { ok: false, reason: failure };
  };
  return { result: gather(), fail };
}
