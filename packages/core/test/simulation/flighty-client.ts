/**
 * A client that may stop reading or leave at any moment, and that holds the engine to the responder's contract: one head first,
 * nothing after an end, an abort or its own leaving.
 */
import type { BodyBuffer, BodyReading, ClientRequest, HeaderList, Responder } from "../../src/index.ts";
import type { SeededRandom } from "../../../../tests/random/seeded-random.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface FlightyClientOptions {
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  readonly method: "POST" | "GET";
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: BodyBuffer;
  readonly onViolation: (message: string) => void;
}

export class FlightyClient implements Responder, ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly query = "";
  readonly headers: HeaderList;
  readonly contentLength: number | null;
  readonly remoteAddress = null;
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  state: "waiting" | "open" | "ended" | "aborted" | "gone" = "waiting";
  status = 0;
  answerHeaders: HeaderList = [];
  /** Body bytes that came before the end, the abort or the leaving. */
  received = "";
  /** Who reads a body has to give it back. */
  hasGivenBody = false;
  readonly #options: FlightyClientOptions;
  readonly #patience: "reads" | "slow" | "stalls";
  readonly #leavesWhenWritten: number;
  #writes = 0;
  #isFull = false;

  constructor(options: FlightyClientOptions) {
    const { random, clock, method, path, headers, body } = options;
    this.#options = options;
    this.method = method;
    this.path = path;
    this.headers = headers;
    this.contentLength = method === "GET" ? 0 : body.bytes.byteLength;
    this.#patience = random.pick([
      [6, "reads"],
      [3, "slow"],
      [1, "stalls"],
    ]);
    this.#leavesWhenWritten = random.chance(0.05) ? 1 + random.integer(4) : 0;
    if (random.chance(0.2))
      clock.schedule(
        random.pick([
          [1, 0],
          [4, random.integer(300)],
          [3, random.integer(8_000)],
        ]),
        () => this.leave(),
      );
  }

  readBody(maxBytes: number): Promise<BodyReading> {
    const { clock, random, body } = this.#options;
    const reading = random.pick<BodyReading | null>([
      [60, null],
      [1, { ok: false, reason: "incomplete" }],
      [1, { ok: false, reason: "timeout" }],
      [1, { ok: false, reason: "too-large" }],
    ]);
    return new Promise((resolve) => {
      clock.schedule(random.integer(30), () => {
        if (reading !== null || this.state === "gone" || body.bytes.byteLength > maxBytes)
          resolve(reading ?? { ok: false, reason: "incomplete" });
        else {
          this.hasGivenBody = true;
          resolve({ ok: true, body });
        }
      });
    });
  }

  head(status: number, headers: HeaderList): void {
    if (this.state !== "waiting") this.#violate(`head in state ${this.state}`);
    if (headers.length % 2 !== 0 || headers.some((item) => typeof item !== "string"))
      this.#violate("a header list with holes");
    this.state = "open";
    this.status = status;
    this.answerHeaders = headers;
    this.#maybeLeave();
  }

  write(bytes: Uint8Array): boolean {
    if (this.state !== "open") this.#violate(`write in state ${this.state}`);
    if (this.#isFull) this.#violate("write although the connection was full");
    this.received += Buffer.from(bytes).toString("utf8");
    this.#maybeLeave();
    const { random, clock } = this.#options;
    if (this.#patience === "reads" || random.chance(0.5)) return true;
    this.#isFull = true;
    if (this.#patience === "slow") {
      clock.schedule(
        random.pick([
          [3, random.integer(20)],
          [2, random.integer(2_000)],
        ]),
        () => {
          this.#isFull = false;
          if (this.state === "open") this.onDrain?.();
        },
      );
    }
    return false;
  }

  end(bytes: Uint8Array | null): void {
    if (this.state === "gone" || (this.state !== "open" && this.state !== "waiting"))
      this.#violate(`end in state ${this.state}`);
    if (this.status === 0) this.#violate("end without a head");
    if (bytes !== null) this.received += Buffer.from(bytes).toString("utf8");
    this.state = "ended";
  }

  abort(): void {
    if (this.state !== "open" && this.state !== "waiting") this.#violate(`abort in state ${this.state}`);
    this.state = "aborted";
  }

  /** The connection is lost. */
  leave(): void {
    if (this.state !== "open" && this.state !== "waiting") return;
    this.state = "gone";
    this.onGone?.();
  }

  #maybeLeave(): void {
    this.#writes += 1;
    if (this.#writes === this.#leavesWhenWritten) this.leave();
  }

  #violate(what: string): void {
    this.#options.onViolation(`${this.path}: ${what}`);
  }
}
