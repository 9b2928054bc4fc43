// A client that writes any bytes and reads the answers strictly as they are on the wire. Waiting is for conditions, never for time.
import { connect } from "node:net";
import type { Socket } from "node:net";

import { until } from "./until.ts";

/** One final answer of a server. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; values of repeated fields are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body without its framing, as Latin-1 text: one character a byte. */
  readonly body: string;
  /** Whether the body ended as its framing says. */
  readonly isWhole: boolean;
}

/** Splits what arrived into answers; 1xx answers are left out. `isClosed` ends a body that only the connection's end delimits. */
function readAnswers(received: string, isClosed: boolean): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  let at = 0;
  while (at < received.length) {
    const headEnd = received.indexOf("\r\n\r\n", at);
    if (headEnd < 0) break;
    const [statusLine = "", ...fields] = received.slice(at, headEnd).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1] ?? Number.NaN);
    if (Number.isNaN(status))
      throw new Error(`no status line of HTTP/1.1: ${JSON.stringify(statusLine.slice(0, 100))}`);
    at = headEnd + 4;
    if (status < 200) continue;
    const headers = joinFields(fields);
    const framed = readBody(received, at, status, headers, isClosed);
    answers.push({ status, headers, body: framed.body, isWhole: framed.isWhole });
    if (!framed.isWhole) break;
    at = framed.end;
  }
  return answers;
}

interface FramedBody {
  readonly body: string;
  readonly end: number;
  readonly isWhole: boolean;
}

function joinFields(fields: readonly string[]): Readonly<Record<string, string>> {
  const joined: Record<string, string> = {};
  for (const field of fields) {
    const colon = field.indexOf(":");
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    joined[name] = joined[name] === undefined ? value : `${joined[name]}, ${value}`;
  }
  return joined;
}

function readBody(
  received: string,
  start: number,
  status: number,
  headers: Readonly<Record<string, string>>,
  isClosed: boolean,
): FramedBody {
  if (status === 204 || status === 304) return { body: "", end: start, isWhole: true };
  if (headers["transfer-encoding"] === "chunked") return readChunks(received, start);
  const length = headers["content-length"];
  if (length === undefined) return { body: received.slice(start), end: received.length, isWhole: isClosed };
  const end = start + Number(length);
  return { body: received.slice(start, end), end, isWhole: received.length >= end };
}

function readChunks(received: string, start: number): FramedBody {
  const pieces: string[] = [];
  let at = start;
  for (;;) {
    const lineEnd = received.indexOf("\r\n", at);
    if (lineEnd < 0) return { body: pieces.join(""), end: at, isWhole: false };
    const size = Number.parseInt(received.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size;
    pieces.push(received.slice(lineEnd + 2, end));
    if (received.length < end + 2) return { body: pieces.join(""), end: at, isWhole: false };
    at = end + 2;
    if (size === 0) return { body: pieces.join(""), end: at, isWhole: true };
  }
}

/** One connection of which every byte is seen. */
export class RawClient {
  readonly socket: Socket;
  /** The connection is over. */
  isClosed = false;
  /** `code` of the socket's error, such as ECONNRESET; null without one. */
  failure: string | null = null;
  #pieces: string[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => this.#pieces.push(chunk.toString("latin1")));
    socket.on("error", (error: NodeJS.ErrnoException) => (this.failure = error.code ?? error.message));
    socket.on("close", () => (this.isClosed = true));
  }

  /** Opens a connection to the origin of a URL. */
  static open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new RawClient(socket));
      });
    });
  }

  /** All bytes that arrived, as Latin-1 text. */
  get received(): string {
    if (this.#pieces.length > 1) this.#pieces = [this.#pieces.join("")];
    return this.#pieces[0] ?? "";
  }

  /** The answers so far; the last one may be incomplete. */
  get answers(): readonly RawAnswer[] {
    return readAnswers(this.received, this.isClosed);
  }

  /** Text is sent as Latin-1, so that every byte can be spelled. */
  send(bytes: string | Uint8Array): void {
    // A server may hang up while we write; what it said before is what a test looks at.
    if (this.socket.writable) this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Sends one byte at a time, each in a turn of its own. */
  async trickle(bytes: string): Promise<void> {
    for (let index = 0; index < bytes.length; index += 1) {
      this.send(bytes.charAt(index));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Waits for the n-th whole answer. */
  async answer(nth: number = 1): Promise<RawAnswer> {
    const find = (): RawAnswer | undefined => this.answers.filter((answer) => answer.isWhole)[nth - 1];
    await this.#until(() => find() !== undefined || this.isClosed, `answer ${nth}`);
    const answer = find();
    if (answer === undefined) throw new Error(`the connection closed before answer ${nth}: ${this.#shown()}`);
    return answer;
  }

  /** Waits for the first answer, whole or broken off. */
  untilAnswerOrEnd(): Promise<void> {
    return this.#until(() => this.isClosed || this.answers[0]?.isWhole === true, "an answer or the connection's end");
  }

  /** Waits until the received text contains or matches. */
  untilReceived(wanted: string | RegExp): Promise<void> {
    const holds = (): boolean =>
      typeof wanted === "string" ? this.received.includes(wanted) : wanted.test(this.received);
    return this.#until(holds, String(wanted));
  }

  /** Waits until the connection is over. */
  untilClosed(): Promise<void> {
    return this.#until(() => this.isClosed, "the end of the connection");
  }

  /** Stops reading, so that the server's writes fill the kernel's buffers. */
  stall(): void {
    this.socket.pause();
  }

  /** Leaves at once. */
  destroy(): void {
    this.socket.destroy();
  }

  #until(condition: () => boolean, what: string): Promise<void> {
    return until(condition, () => `${what}; received: ${this.#shown()}`);
  }

  #shown(): string {
    return JSON.stringify(this.received.slice(0, 2000));
  }
}
