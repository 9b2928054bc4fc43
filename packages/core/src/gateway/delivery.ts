/**
 * The client's side of one exchange. States: `idle` (nothing written) → `open` (status and headers written) → `ended`;
 * `gone` from any of them when the connection is lost. What is written after `gone` is discarded; exactly one end.
 */
import type { HeaderList } from "../dialect/index.ts";
import { Relay } from "../stream/index.ts";
import type { Responder } from "./ports.ts";

/** What a delivery tells its exchange. */
export interface DeliveryHost {
  /** The client reads too slowly (true), or has caught up (false). */
  onPressure(isHigh: boolean): void;
  /** The client's connection took bytes after it had been full. */
  onProgress(): void;
  /** The client's connection is lost before the answer ended. */
  onGone(): void;
  /** The last byte was handed to the client's connection. */
  onDelivered(): void;
  /** What the last byte has to wait for; null = nothing. Resolves with false when the answer must not end as a whole one. */
  sealing(): Promise<boolean> | null;
}

export class Delivery {
  readonly #responder: Responder;
  readonly #host: DeliveryHost;
  readonly #relay: Relay;
  #state: "idle" | "open" | "ended" | "gone" = "idle";
  #isEnding = false;
  #deliveredBytes = 0;

  constructor(responder: Responder, maxQueuedBytes: number, host: DeliveryHost) {
    this.#responder = responder;
    this.#host = host;
    this.#relay = new Relay({
      write: (bytes) => this.#responder.write(bytes),
      highWaterBytes: maxQueuedBytes,
      lowWaterBytes: maxQueuedBytes >>> 1,
      onPressure: (isHigh) => this.#host.onPressure(isHigh),
    });
    responder.onDrain = () => this.#drained();
    responder.onGone = () => this.#lose();
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }
  /** The end was asked for: only what waits in the queue still has to go. */
  get isEnding(): boolean {
    return this.#isEnding;
  }
  get isGone(): boolean {
    return this.#state === "gone";
  }
  /** Nothing was written yet, so a plain error can still be the answer. */
  get isIdle(): boolean {
    return this.#state === "idle";
  }
  /** Body bytes given to the client so far. */
  get deliveredBytes(): number {
    return this.#deliveredBytes;
  }

  /** Writes status and headers of an answer that comes in pieces. */
  open(status: number, headers: HeaderList): void {
    if (this.#state !== "idle") return;
    this.#state = "open";
    this.#responder.head(status, headers);
  }

  /** Writes a piece; the bytes are the delivery's from now on. */
  push(bytes: Uint8Array): void {
    if (this.#state !== "open" || this.#isEnding) return;
    this.#deliveredBytes += bytes.byteLength;
    this.#relay.push(bytes);
  }

  /** Ends an opened answer once everything before was handed over. */
  end(): void {
    if (this.#state !== "open" || this.#isEnding) return;
    this.#isEnding = true;
    const sealing = this.#host.sealing();
    this.#relay.whenEmpty(() => {
      if (!this.isOpen) return;
      if (sealing === null) this.#finish(null, false);
      else this.#whenSealed(sealing, () => this.#finish(null, false));
    });
  }

  /** A whole answer in one call; the connection is closed after it when `closeConnection`. */
  whole(status: number, headers: HeaderList, body: Uint8Array, closeConnection: boolean): void {
    if (!this.isIdle) return;
    this.#deliveredBytes += body.byteLength;
    const sealing = this.#host.sealing();
    // From here on nothing else can become the answer, though its head may have to wait as well.
    this.#state = "open";
    this.#isEnding = true;
    if (sealing === null) this.#writeWhole(status, headers, body, closeConnection);
    else this.#whenSealed(sealing, () => this.#writeWhole(status, headers, body, closeConnection));
  }

  /** Breaks the transfer: the client must not take what it has for a whole answer. */
  abort(): void {
    if (this.#state === "ended" || this.#state === "gone") return;
    this.#state = "ended";
    this.#relay.discard();
    this.#responder.abort();
    this.#host.onDelivered();
  }

  /** Gives up on a client that does not read: the connection is destroyed and counts as lost. */
  cutOff(): void {
    if (this.#state === "ended" || this.#state === "gone") return;
    this.#responder.abort();
    this.#lose();
  }

  #writeWhole(status: number, headers: HeaderList, body: Uint8Array, closeConnection: boolean): void {
    this.#responder.head(status, headers);
    // The connection may be found lost while the head is written.
    if (this.isOpen) this.#finish(body, closeConnection);
  }

  #finish(body: Uint8Array | null, closeConnection: boolean): void {
    this.#state = "ended";
    this.#responder.end(body, closeConnection);
    this.#host.onDelivered();
  }

  /** Goes on when what the end waits for is there, unless the client has left or the answer was broken off meanwhile. */
  #whenSealed(sealing: Promise<boolean>, goOn: () => void): void {
    void sealing.then((isKept) => {
      if (!this.isOpen) return;
      if (isKept) goOn();
      else this.abort();
    });
  }

  #drained(): void {
    if (this.#state !== "open") return;
    this.#host.onProgress();
    this.#relay.drained();
  }

  #lose(): void {
    if (this.#state === "ended" || this.#state === "gone") return;
    this.#state = "gone";
    this.#relay.discard();
    this.#host.onGone();
  }
}
