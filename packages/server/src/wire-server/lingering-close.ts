// The end of a connection whose client may still be sending: our side ends, then input is read and dropped within bounds until the
// client closes, so that no reset can discard the answer before it was read (RFC 9112 §9.6).

import type { Socket } from "node:net";

import type { Timer } from "@dragoman/core";

import type { Schedule } from "../http/connection.ts";
import type { HttpLimits } from "../http/http-limits.ts";

/** One lingering close; begins with its making. */
export class LingeringClose {
  readonly #socket: Socket;
  readonly #maxBytes: number;
  #bytes = 0;
  #timer: Timer | null = null;

  constructor(socket: Socket, host: { readonly limits: HttpLimits; readonly schedule: Schedule }) {
    const { lingerMs, lingerBytes, flushTimeoutMs } = host.limits;
    this.#socket = socket;
    this.#maxBytes = lingerBytes;
    if (socket.writableLength > 0) socket.setTimeout(flushTimeoutMs);
    socket.end();
    socket.resume();
    // The time to linger starts when the kernel has the answer: a slow reader is no reason to cut it.
    socket.once("finish", () => {
      this.#timer = host.schedule(lingerMs, () => socket.destroy());
    });
  }

  /** Input that nobody reads any more. */
  drop(byteLength: number): void {
    this.#bytes += byteLength;
    // Not destroyed yet: the client gets the rest of the time to read its answer before the reset can discard it.
    if (this.#bytes >= this.#maxBytes) this.#socket.pause();
  }

  /** The client closed its side: all that is left is what was not flushed. */
  onEnd(): void {
    const socket = this.#socket;
    if (socket.writableFinished) socket.destroy();
    else socket.once("finish", () => socket.destroy());
  }

  /** The connection is closed. */
  cancel(): void {
    this.#timer?.cancel();
  }
}
