/**
 * An attempt's hold on its upstream call: paused or not, over or not. A settled answer whose connection has not ended may trail
 * for a moment, so that it can be kept; then it is cut.
 */
import type { Clock, Timer, UpstreamCall } from "./ports.ts";

export class TransportHandle {
  readonly #clock: Clock;
  #call: UpstreamCall | null = null;
  #isPaused = false;
  #isOver = false;
  #trailingTimer: Timer | null = null;
  #onTrailingOver: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** The call was sent and its connection has not ended. */
  get isOpen(): boolean {
    return this.#call !== null && !this.#isOver;
  }

  /** Takes over the call. A transport may have reported from inside `send`, when there was no call yet to pause or cancel. */
  begin(call: UpstreamCall, isUnwanted: boolean): void {
    this.#call = call;
    if (isUnwanted) call.cancel();
    else if (this.#isPaused) call.pause();
  }

  /** The client cannot take more. */
  pause(): void {
    this.#isPaused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#call?.resume();
  }

  /** Stops reading for a decision of ours, which is no pressure of the client. */
  holdBack(): void {
    this.#call?.pause();
  }

  /** Reads on after a decision, unless the client cannot take more. */
  goOn(): void {
    if (!this.#isPaused) this.#call?.resume();
  }

  /** Destroys the connection. */
  cancel(): void {
    this.end();
    this.#call?.cancel();
  }

  /** The connection has ended by itself. */
  end(): void {
    this.#isOver = true;
    this.#trailingTimer?.cancel();
    this.#trailingTimer = null;
    this.#onTrailingOver?.();
    this.#onTrailingOver = null;
  }

  /** Gives the connection of a settled answer `delayMs` to end. */
  trail(delayMs: number, onOver: () => void): void {
    this.#onTrailingOver = onOver;
    this.#trailingTimer = this.#clock.schedule(delayMs, () => this.cancel());
    if (this.#isPaused) this.#call?.resume();
  }
}
