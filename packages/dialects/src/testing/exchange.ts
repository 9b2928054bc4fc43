// Drives the two halves of a dialect as the gateway does: bodies to requests, requests to bodies, events to bytes and back. Clock and
// ids are fixed. Bytes that a dialect may not keep are overwritten after the call that lent them.
import { ABSENT, concat, createRecordReader } from "@dragoman/core";
import type {
  AnswerContext,
  ClientDialect,
  DecodeContext,
  Document,
  EncodeResult,
  EncodeTarget,
  FramedRecord,
  HeaderList,
  NeutralError,
  NeutralRequest,
  ProviderDialect,
  RequestHead,
  StreamEvent,
} from "@dragoman/core";

import { frozenEvent } from "./canonical-answer.ts";
import { documentOf } from "./spelled-json.ts";
import type { AnswerSubject, DialectSubject, ProviderSubject } from "./subject.ts";

/** The gateway's clock in every example, seconds since 1970. */
const CREATED_SECONDS = 1_790_000_000;
/** Larger than any generated record. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/** A client's request, read. */
export interface ReadRequest {
  readonly document: Document;
  readonly head: RequestHead;
  readonly request: NeutralRequest;
}

/** Reads head and request of a body, as a client of the dialect would send it. */
export function readRequest(
  subject: Pick<DialectSubject, "client" | "route">,
  source: Uint8Array | string,
  headers: HeaderList = [],
): { readonly ok: true; readonly read: ReadRequest } | { readonly ok: false; readonly error: NeutralError } {
  const document = documentOf(source);
  const reading = subject.client.readHead(document, subject.route);
  if (!reading.ok) return reading;
  const decoded = subject.client.decodeRequest(document, reading.head, subject.route, headers);
  if (!decoded.ok) return decoded;
  return { ok: true, read: { document, head: reading.head, request: decoded.request } };
}

/** Reads a request that must be accepted. */
export function mustRead(subject: Pick<DialectSubject, "client" | "route">, source: Uint8Array | string): ReadRequest {
  const result = readRequest(subject, source);
  if (!result.ok) throw new Error(`a valid request is refused: ${result.error.param ?? ""} ${result.error.message}`);
  return result.read;
}

/** What the upstreams of a subject understand of an encoded body: a client half reads it, or the author's own reading. */
export function readBack(subject: DialectSubject | ProviderSubject, body: Uint8Array): NeutralRequest {
  if (!("client" in subject)) return subject.readRequest(body);
  const result = readRequest(subject, body);
  if (!result.ok) throw new Error(`the dialect refuses what it encoded itself: ${result.error.message}`);
  return result.read.request;
}

/** The head of a request whose stream is watched; a dialect without a client half has never made facts. */
export function watchedHead(subject: DialectSubject | ProviderSubject): RequestHead {
  if ("client" in subject) return mustRead(subject, JSON.stringify(subject.answerRequest)).head;
  return { model: "m", modelNode: ABSENT, stream: true, facts: null };
}

/** A deployment of the subject. */
export function targetOf(
  subject: Pick<AnswerSubject, "kind" | "profile" | "capabilities">,
  lossyAllow: ReadonlySet<string>,
): EncodeTarget {
  return {
    deploymentId: "deployment",
    kind: subject.kind,
    model: "up-model",
    capabilities: subject.capabilities,
    profile: subject.profile,
    lossyAllow,
    options: {},
    isOnlyAccount: false,
  };
}

/** The body of an encoding, or null when it was refused. */
export function bodyOf(result: EncodeResult): Buffer | null {
  return result.ok ? Buffer.from(concat(result.encoded.body)) : null;
}

/** What an answer encoder is given; ids count per prefix, `chatcmpl-t1`. */
export function answerContextOf(facts: unknown, options: Readonly<Record<string, unknown>> = {}): AnswerContext {
  const made = new Map<string, number>();
  return {
    requestId: "req_t1",
    createdSeconds: CREATED_SECONDS,
    makeId: (prefix) => {
      const count = (made.get(prefix) ?? 0) + 1;
      made.set(prefix, count);
      return `${prefix}t${count}`;
    },
    facts,
    upstreamModel: "up-model",
    toolMap: null,
    options,
    count: () => {},
  };
}

/** What an answer decoder is given. */
export function decodeContextOf(subject: Pick<AnswerSubject, "profile">): DecodeContext {
  return { profile: subject.profile, upstreamModel: "up-model", headers: [], count: () => {} };
}

/** Encodes events; after an error that the encoder returns, the stream is failed and nothing more is encoded. */
export function encodeEvents(
  client: ClientDialect,
  context: AnswerContext,
  events: Iterable<StreamEvent>,
): { readonly chunks: readonly Buffer[]; readonly error: NeutralError | null } {
  const chunks: Buffer[] = [];
  const encoder = client.createStreamEncoder(context, (bytes) => {
    chunks.push(Buffer.from(bytes));
  });
  for (const event of events) {
    const error = encoder.encode(event);
    if (error === null) continue;
    encoder.fail(error);
    return { chunks, error };
  }
  return { chunks, error: null };
}

/** Reads a stream that arrives in these chunks. Each chunk is overwritten when its call is over. */
export function decodeChunks(
  provider: ProviderDialect,
  context: DecodeContext,
  chunks: readonly Uint8Array[],
): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const decoder = provider.createStreamDecoder(context, (event) => {
    events.push(frozenEvent(event));
  });
  readChunks(provider.framing, chunks, (record) => {
    decoder.push(record);
  });
  decoder.finish();
  return events;
}

/** Frames chunks into records; each chunk is a copy that is overwritten after it was read. */
export function readChunks(
  framing: ProviderDialect["framing"],
  chunks: readonly Uint8Array[],
  onRecord: (record: FramedRecord) => void,
): void {
  const reader = createRecordReader(framing, {
    maxRecordBytes: MAX_RECORD_BYTES,
    onRecord: (record) => {
      if (record.hasData) onRecord(record);
    },
  });
  for (const chunk of chunks) {
    // Sockets lend Buffers, whose `slice` is a view.
    const lent = Buffer.from(chunk);
    reader.push(lent);
    lent.fill(0x7a);
  }
  reader.end();
}

/** Cuts bytes at the given fractions of their length. */
export function cutAt(bytes: Uint8Array, fractions: readonly number[]): readonly Uint8Array[] {
  const places = fractions.map((fraction) => Math.floor(fraction * bytes.length)).sort((left, right) => left - right);
  const chunks: Uint8Array[] = [];
  let start = 0;
  for (const place of [...places, bytes.length]) {
    chunks.push(bytes.subarray(start, place));
    start = place;
  }
  return chunks;
}
