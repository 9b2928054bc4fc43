// Writes the records of one chat stream. What all chunks of a stream share is built once; a text delta costs one allocation and one
// copy of its bytes.
import { encodeString, escapeBytes, isSlice } from "@dragoman/core";
import type { ByteSink, Text } from "@dragoman/core";

/** What every chunk of a stream says. */
export interface ChunkIdentity {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly serviceTier: string | null;
  /** The client asked for usage: then every chunk has the member, null until the last. */
  readonly hasUsageMember: boolean;
}

/** Writes chunks to a sink; every buffer is fresh and belongs to the receiver. */
export class ChunkWriter {
  readonly #write: ByteSink;
  readonly #identity: string;
  readonly #usageNull: string;
  /** Bytes around a delta by `candidate` and member, e.g. `0content`. */
  readonly #frames = new Map<string, Buffer>();
  readonly #tail: Buffer;
  readonly #stringTail: Buffer;

  constructor(identity: ChunkIdentity, write: ByteSink) {
    this.#write = write;
    const tier = identity.serviceTier === null ? "" : `,"service_tier":${encodeString(identity.serviceTier)}`;
    this.#identity =
      `data: {"id":${encodeString(identity.id)},"object":"chat.completion.chunk","created":${identity.created},` +
      `"model":${encodeString(identity.model)}${tier},"choices":[`;
    this.#usageNull = identity.hasUsageMember ? ',"usage":null' : "";
    const tail = `},"logprobs":null,"finish_reason":null}]${this.#usageNull}}\n\n`;
    this.#tail = Buffer.from(tail, "latin1");
    this.#stringTail = Buffer.from(`"${tail}`, "latin1");
  }

  /** A delta of ready JSON members. */
  delta(candidate: number, members: string): void {
    const head = `${this.#identity}{"index":${candidate},"delta":{${members}`;
    const buffer = Buffer.allocUnsafe(Buffer.byteLength(head) + this.#tail.length);
    const at = buffer.write(head, "utf8");
    this.#tail.copy(buffer, at);
    this.#write(buffer);
  }

  /** A delta with one member of text: the inside of a string token is copied as it is. */
  text(candidate: number, member: string, text: Text): void {
    const frame = this.#frame(candidate, member);
    if (!isSlice(text)) {
      this.#write(Buffer.concat([frame, Buffer.from(encodeString(text).slice(1, -1), "utf8"), this.#stringTail]));
      return;
    }
    this.#framed(frame, text.bytes, text.start, text.end, this.#stringTail);
  }

  /** Arguments, or input of a free-text tool, of the call with the client's index. */
  callText(candidate: number, index: number, member: "arguments" | "input", text: Text, encoded: boolean): void {
    const body = member === "input" ? "custom" : "function";
    const head = `${this.#identity}{"index":${candidate},"delta":{"tool_calls":[{"index":${index},"${body}":{"${member}":"`;
    this.#wrapped(Buffer.from(head, "utf8"), text, encoded, '"}}]');
  }

  /** Arguments in the deprecated form, which has one call and no index. */
  functionCallText(candidate: number, text: Text, encoded: boolean): void {
    const head = `${this.#identity}{"index":${candidate},"delta":{"function_call":{"arguments":"`;
    this.#wrapped(Buffer.from(head, "utf8"), text, encoded, '"}');
  }

  /** A delta's log probabilities, which stand beside it. */
  logprobs(candidate: number, json: string): void {
    const head = `${this.#identity}{"index":${candidate},"delta":{},"logprobs":`;
    this.#write(Buffer.from(`${head}${json},"finish_reason":null}]${this.#usageNull}}\n\n`, "utf8"));
  }

  /** The last chunk of a candidate. */
  finish(candidate: number, word: string): void {
    const head = `${this.#identity}{"index":${candidate},"delta":{},"logprobs":null,"finish_reason":"${word}"}]`;
    this.#write(Buffer.from(`${head}${this.#usageNull}}\n\n`, "utf8"));
  }

  /** The usage chunk. */
  usage(json: string): void {
    this.#write(Buffer.from(`${this.#identity}],"usage":${json}}\n\n`, "utf8"));
  }

  done(): void {
    this.#write(Buffer.from("data: [DONE]\n\n", "latin1"));
  }

  #frame(candidate: number, member: string): Buffer {
    const key = `${candidate}${member}`;
    let frame = this.#frames.get(key);
    if (frame === undefined) {
      frame = Buffer.from(`${this.#identity}{"index":${candidate},"delta":{"${member}":"`, "utf8");
      this.#frames.set(key, frame);
    }
    return frame;
  }

  #wrapped(head: Buffer, text: Text, encoded: boolean, close: string): void {
    const tail = Buffer.concat([Buffer.from(close, "latin1"), this.#tail]);
    if (!isSlice(text)) {
      this.#write(Buffer.concat([head, Buffer.from(encodeString(text).slice(1, -1), "utf8"), tail]));
      return;
    }
    const inside = encoded ? text : escapeBytes(text.bytes, text.start, text.end);
    this.#framed(head, inside.bytes, inside.start, inside.end, tail);
  }

  #framed(head: Buffer, bytes: Uint8Array, start: number, end: number, tail: Buffer): void {
    const length = end - start;
    const buffer = Buffer.allocUnsafe(head.length + length + tail.length);
    head.copy(buffer, 0);
    buffer.set(bytes.subarray(start, end), head.length);
    tail.copy(buffer, head.length + length);
    this.#write(buffer);
  }
}
