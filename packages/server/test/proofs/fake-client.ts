// A client without a socket: hands the engine a request and keeps what it answers. It holds the engine to the responder's contract:
// one head, bytes only between head and end, nothing after the end.
import type { BodyBuffer, ClientRequest, HeaderList, Responder } from "@dragoman/core";

/** How an answer is over. */
export type AnswerEnd = "end" | "abort" | "gone";

/** One exchange from the client's side. */
export class FakeClient implements Responder {
  readonly request: ClientRequest;
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  status = 0;
  headers: HeaderList = [];
  /** What the answer ended with; null while it runs. */
  ending: AnswerEnd | null = null;
  /** While true every write says that there is no room for more. */
  isFull = false;
  /** Resolves when the answer is over, however. */
  readonly over: Promise<void>;
  readonly #chunks: Uint8Array[] = [];
  #finish: () => void = () => undefined;

  constructor(path: string, body: BodyBuffer) {
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.request = {
      method: "POST",
      path,
      query: "",
      headers: ["content-type", "application/json", "anthropic-version", "2023-06-01"],
      contentLength: body.bytes.byteLength,
      remoteAddress: null,
      readBody: () => Promise.resolve({ ok: true, body }),
    };
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  get json(): unknown {
    return JSON.parse(this.text) as unknown;
  }

  head(status: number, headers: HeaderList): void {
    if (this.status !== 0 || this.ending !== null) throw new Error("a second head, or one after the end");
    this.status = status;
    this.headers = headers;
  }

  write(bytes: Uint8Array): boolean {
    this.#take(bytes);
    return !this.isFull;
  }

  end(bytes: Uint8Array | null): void {
    if (bytes !== null) this.#take(bytes);
    if (this.status === 0 || this.ending !== null) throw new Error("an end without a head, or a second one");
    this.#over("end");
  }

  abort(): void {
    if (this.ending !== null) throw new Error("an abort after the end");
    this.#over("abort");
  }

  /** The client goes away. */
  leave(): void {
    const { onGone } = this;
    this.#over("gone");
    onGone?.();
  }

  /** The client's connection has room again. */
  drain(): void {
    this.isFull = false;
    this.onDrain?.();
  }

  #take(bytes: Uint8Array): void {
    if (this.ending === "gone") return;
    if (this.status === 0 || this.ending !== null) throw new Error("bytes before the head or after the end");
    this.#chunks.push(bytes);
  }

  #over(ending: AnswerEnd): void {
    this.ending = ending;
    this.#finish();
  }
}
