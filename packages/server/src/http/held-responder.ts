// What an answer over HTTP/1.1 and one over a stream of HTTP/2 have in common. States: idle → held → streaming → ended, or gone from
// anywhere before ended. `onGone` is called at most once, and never after `end` or `abort`; bytes handed over are not copied.

import type { HeaderList, Responder } from "@dragoman/core";
import { findHeader, GatewayError } from "@dragoman/core";

import { checkAnswerFields } from "./answer-fields.ts";
import type { BodyReader } from "./body-reader.ts";

/** What both of Node's responses offer. */
interface NodeResponse {
  readonly req: { readonly method?: string | undefined };
  write(bytes: Uint8Array): boolean;
  on(event: "drain", listener: () => void): unknown;
}

/** One answer. `held` = the head is known and waits for the first body byte or the end of the turn, so that both go out in one write. */
export abstract class HeldResponder<Response extends NodeResponse> implements Responder {
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  /** The read of the request's body, which a lost client ends too. */
  bodyReader: BodyReader | null = null;
  protected readonly res: Response;
  protected state: "idle" | "held" | "streaming" | "ended" | "gone" = "idle";
  protected status = 0;
  protected headers: HeaderList = [];
  #listensToDrain = false;

  constructor(res: Response) {
    this.res = res;
  }

  /** Whether the answer has not begun, so that another one can still take its place. */
  get isUnanswered(): boolean {
    return this.state === "idle" || this.state === "held";
  }

  /** Whether the client is lost, or was told that the answer is broken. */
  get isGone(): boolean {
    return this.state === "gone";
  }

  /** Whether nothing more is written. */
  get isOver(): boolean {
    return this.state === "ended" || this.state === "gone";
  }

  head(status: number, headers: HeaderList): void {
    if (this.state === "gone") return;
    if (this.state !== "idle") throw new GatewayError("state_violation", "An answer's head is written once.");
    checkAnswerFields(headers);
    this.state = "held";
    this.status = status;
    this.headers = headers;
    // The first bytes usually follow in the same turn and share the head's write.
    process.nextTick(sendHeldHead, this);
  }

  /** Sets the head in place of one that was not sent; for the front end's own answers. */
  replaceHead(status: number, headers: HeaderList): void {
    if (this.state === "held") this.state = "idle";
    this.head(status, headers);
  }

  write(bytes: Uint8Array): boolean {
    if (this.state === "gone") return true;
    if (this.state === "held") this.sendHead(this.headers, "streaming");
    if (this.state !== "streaming") throw new GatewayError("state_violation", "Body bytes come between head and end.");
    if (bytes.byteLength === 0 || this.res.write(bytes)) return true;
    if (!this.#listensToDrain) {
      this.#listensToDrain = true;
      this.res.on("drain", () => this.onDrain?.());
    }
    return false;
  }

  abstract end(bytes: Uint8Array | null, closeConnection: boolean): void;

  abstract abort(): void;

  /** Sends a head that no body byte has followed. */
  abstract flushHead(): void;

  /** Writes the head and enters the state. */
  protected abstract sendHead(headers: HeaderList, state: "streaming" | "ended"): void;

  /** Whether a whole body's length is still missing from the head (RFC 9110 §8.6: none in a 204; for 304 and HEAD only the engine knows it). */
  protected lacksLength(byteLength: number): boolean {
    const isBodiless =
      this.status === 204 || this.status === 304 || (this.res.req.method === "HEAD" && byteLength === 0);
    return !isBodiless && findHeader(this.headers, "content-length") === undefined;
  }

  protected finish(): void {
    this.state = "ended";
    this.onDrain = null;
    this.onGone = null;
  }

  protected leave(): void {
    this.state = "gone";
    this.onDrain = null;
    this.onGone = null;
    this.bodyReader?.fail("incomplete");
  }
}

function sendHeldHead(responder: { flushHead(): void }): void {
  responder.flushHead();
}
