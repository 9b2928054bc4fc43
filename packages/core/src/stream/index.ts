/** Streams of bytes: records in, bounded queues and gates between, pooled bodies. */
export { BODY_SLACK_BYTES, BodyCollector, BodyPool, PooledBody } from "./body-buffer.ts";
export type { BodyPoolOptions } from "./body-buffer.ts";
export { ByteQueue } from "./byte-queue.ts";
export type { ByteQueueOptions } from "./byte-queue.ts";
export { CommitGate } from "./commit-gate.ts";
export type { CommitGateState } from "./commit-gate.ts";
export { createRecordReader } from "./framing.ts";
export { MemberFinder } from "./member-finder.ts";
export type { FoundMember, MemberFinderOptions } from "./member-finder.ts";
export { LineReader } from "./ndjson-reader.ts";
export type { FramedRecord, RecordReader, RecordReaderOptions } from "./record.ts";
export { Relay } from "./relay.ts";
export type { RelayOptions } from "./relay.ts";
export { SseReader } from "./sse-reader.ts";
