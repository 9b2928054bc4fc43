// The bytes of an answer: head, chunks, last chunk. Framing fields are written here alone; every other field was checked by the caller.

import { STATUS_CODES } from "node:http";

import type { HeaderList } from "@dragoman/core";

/** Up to this many bytes a message is copied into one buffer and written at once; `writev` wins above it (see wire/request-bytes). */
const COALESCE_BYTES = 4 * 1024;

/** How the body of an answer ends. */
export type AnswerFraming = "length" | "chunked" | "close" | "none";

/** The time of day as a `date` field has it (RFC 9110 §5.6.7); formatted once a second. */
export class HttpDate {
  #second = -1;
  #text = "";

  text(nowMs: number): string {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toUTCString();
    }
    return this.#text;
  }
}

/** What the front end adds to the engine's fields. */
export interface HeadEnding {
  readonly date: string;
  readonly framing: AnswerFraming;
  /** Length of a whole body whose head has no length yet; null = nothing to add. */
  readonly contentLength: number | null;
  readonly closes: boolean;
  readonly keepAliveSeconds: number;
}

/** A head as latin1 text with its final empty line. */
export function serializeAnswerHead(status: number, headers: HeaderList, ending: HeadEnding): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  if (ending.contentLength !== null) head += `content-length: ${ending.contentLength}\r\n`;
  else if (ending.framing === "chunked") head += "transfer-encoding: chunked\r\n";
  const persistence = ending.closes
    ? "connection: close"
    : `Connection: keep-alive\r\nKeep-Alive: timeout=${ending.keepAliveSeconds}`;
  return `${head}Date: ${ending.date}\r\n${persistence}\r\n\r\n`;
}

/** Gathers what one turn writes, so that head, chunks and last chunk leave in one system call. Text is latin1: one byte a character. */
export class AnswerWriter {
  #parts: (string | Uint8Array)[] = [];
  #byteLength = 0;

  /** Bytes that wait. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** A head or framing. */
  addText(text: string): void {
    this.#parts.push(text);
    this.#byteLength += text.length;
  }

  /** Bytes as they are; not copied before `take`. */
  add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#byteLength += bytes.byteLength;
  }

  /** Bytes as one chunk (RFC 9112 §7.1). */
  addChunk(bytes: Uint8Array): void {
    this.addText(`${bytes.byteLength.toString(16)}\r\n`);
    this.add(bytes);
    this.addText("\r\n");
  }

  /** The end of a chunked body. */
  addLastChunk(): void {
    this.addText("0\r\n\r\n");
  }

  /** Hands everything over and is empty again: one buffer for small messages, else runs of framing and the caller's own memory. */
  take(): readonly Uint8Array[] {
    const parts = this.#parts;
    const total = this.#byteLength;
    this.#parts = [];
    this.#byteLength = 0;
    if (total > COALESCE_BYTES)
      return parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part));
    const joined = Buffer.allocUnsafe(total);
    let at = 0;
    for (const part of parts) {
      if (typeof part === "string") joined.write(part, at, "latin1");
      else joined.set(part, at);
      at += part.length;
    }
    return [joined];
  }
}
