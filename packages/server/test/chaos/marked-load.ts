// Clients that ask without a pause while the gateway comes and goes. Every request carries a marker of its own, in its text for the
// upstream's log and as its end user for the ledger.
import { request as httpRequest } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

import type { SeededRandom } from "../../../../tests/random/seeded-random.ts";

/** How one request ended for its client. */
export type ClientEnd = "whole" | "broken" | "left" | "refused";

/** One request as its client saw it. */
export interface MarkedRequest {
  readonly marker: string;
  readonly end: ClientEnd;
  readonly status: number;
}

/** Which models are asked for, by the weight with which they are chosen. */
const LOAD_MODELS: readonly (readonly [weight: number, model: string])[] = [
  [6, "chat/scripted-text"],
  [6, "messages/scripted-text"],
  [3, "chat/scripted-text:slow-5"],
  [3, "messages/scripted-text:slow-5"],
  [1, "chat/scripted-text:cut-after-3"],
  [1, "messages/scripted-text:no-usage"],
  [1, "chat/scripted-text:no-usage"],
  [1, "chat/scripted-error-500"],
  [2, "fallback"],
];

const GIVE_UP_MS = 5_000;
const BETWEEN_TRIES_MS = 5;

/** Asks from several clients at once until it is stopped. */
export class MarkedLoad {
  readonly requests: MarkedRequest[] = [];
  readonly #port: number;
  readonly #key: string;
  readonly #rng: SeededRandom;
  #isStopped = false;
  #serial = 0;
  readonly #clients: Promise<void>[];

  constructor({
    port,
    key,
    clients,
    rng,
  }: {
    readonly port: number;
    readonly key: string;
    readonly clients: number;
    readonly rng: SeededRandom;
  }) {
    this.#port = port;
    this.#key = key;
    this.#rng = rng;
    this.#clients = Array.from({ length: clients }, () => this.#runClient());
  }

  /** No request begins any more; resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
  }

  async #runClient(): Promise<void> {
    while (!this.#isStopped) {
      const marker = `marker-${(this.#serial += 1)}-end`;
      const { end, status } = await this.#ask(marker);
      this.requests.push({ marker, end, status });
      // Nobody listens while the gateway is dead.
      if (end === "refused") await pause(BETWEEN_TRIES_MS);
    }
  }

  #ask(marker: string): Promise<Pick<MarkedRequest, "end" | "status">> {
    const isChat = this.#rng.chance(0.5);
    const isStream = this.#rng.chance(0.6);
    const leavesAfterBytes = this.#rng.chance(0.2) ? this.#rng.integer(1_500) : Number.POSITIVE_INFINITY;
    const body = JSON.stringify({
      model: this.#rng.pick(LOAD_MODELS),
      stream: isStream,
      max_tokens: 64,
      messages: [{ role: "user", content: `Say something about ${marker}.` }],
      ...(isChat ? { user: marker } : { metadata: { user_id: marker } }),
    });
    return new Promise((resolve) => {
      let status = 0;
      let bytes = 0;
      let end: ClientEnd = "refused";
      const request = httpRequest({
        host: "127.0.0.1",
        port: this.#port,
        agent: false,
        method: "POST",
        path: isChat ? "/v1/chat/completions" : "/v1/messages",
        timeout: GIVE_UP_MS,
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          ...(isChat
            ? { authorization: `Bearer ${this.#key}` }
            : { "x-api-key": this.#key, "anthropic-version": "2023-06-01" }),
        },
      });
      request.on("socket", (socket) => socket.on("connect", () => (end = "broken")));
      request.on("response", (response) => {
        status = response.statusCode ?? 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
          if (bytes < leavesAfterBytes) return;
          end = "left";
          request.destroy();
        });
        response.on("end", () => {
          if (response.complete && end !== "left") end = "whole";
        });
        // How it broke is of no interest here; that it did is `end`.
        response.on("error", () => undefined);
      });
      request.on("timeout", () => request.destroy());
      request.on("error", () => undefined);
      request.on("close", () => resolve({ end, status }));
      request.end(body);
    });
  }
}
