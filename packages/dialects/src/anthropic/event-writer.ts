/** Writes the event records of this dialect's streams. Each call hands over one fresh buffer of one record. */
import { encodeString, type ByteSink, type ByteSlice } from "@dragoman/core";

const RECORD_END = Buffer.from('"}}\n\n', "latin1");

/** The delta types whose payload is one string, with the name of that string's member. */
export type DeltaKind = "text" | "thinking" | "input" | "signature";

const DELTAS: Readonly<Record<DeltaKind, { readonly type: string; readonly member: string }>> = {
  text: { type: "text_delta", member: "text" },
  thinking: { type: "thinking_delta", member: "thinking" },
  input: { type: "input_json_delta", member: "partial_json" },
  signature: { type: "signature_delta", member: "signature" },
};

/** Everything of a delta record before its text. */
export function deltaPrefix(kind: DeltaKind, index: number): Buffer {
  const { type, member } = DELTAS[kind];
  return Buffer.from(
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":"`,
    "latin1",
  );
}

export class EventWriter {
  readonly #write: ByteSink;

  constructor(write: ByteSink) {
    this.#write = write;
  }

  /** Writes a record of ready JSON. */
  event(name: string, json: string): void {
    this.#write(Buffer.from(`event: ${name}\ndata: ${json}\n\n`, "utf8"));
  }

  /** Writes a delta record: the inside of a string token, in its escaped form, between prefix and end. */
  delta(prefix: Buffer, inside: ByteSlice): void {
    const length = inside.end - inside.start;
    const record = Buffer.allocUnsafe(prefix.length + length + RECORD_END.length);
    prefix.copy(record, 0);
    record.set(inside.bytes.subarray(inside.start, inside.end), prefix.length);
    RECORD_END.copy(record, prefix.length + length);
    this.#write(record);
  }
}

/** The escaped bytes of a decoded string. */
export function insideOf(text: string): ByteSlice {
  const bytes = Buffer.from(encodeString(text), "utf8");
  return { bytes, start: 1, end: bytes.length - 1 };
}
