/** One part of a neutral stream on its way to become a content block: what is known of it, and what waits to be written. */
import {
  encodeString,
  isSlice,
  textToString,
  type AnswerContext,
  type ByteSlice,
  type PartHead,
  type Raw,
} from "@dragoman/core";

import { ANTHROPIC } from "./members.ts";
import { ObjectTracker } from "./object-tracker.ts";
import type { AnthropicFacts } from "./read-head.ts";
import { carrierOf } from "./reasoning-carrier.ts";

/** How an empty thinking block begins. */
export const THINKING_OPENING = '{"type":"thinking","thinking":"","signature":""}';

/** What becomes of a part; `omitted` has no form in this dialect. */
export type BlockKind = "text" | "thinking" | "call" | "custom-call" | "whole" | "omitted";

export class StreamBlock {
  readonly kind: BlockKind;
  /** What `content_block_start` says, in JSON. */
  readonly opening: string;
  /** Position of the block in the message once it is opened, -1 before. */
  index = -1;
  isEnded = false;
  isClosed = false;
  /** Escaped texts that wait for the block's turn, or for a visible character. */
  backlog: ByteSlice[] = [];
  /** Everything of the block's delta records before their text, made when it opens. */
  prefix: Buffer | null = null;
  hasDelta = false;
  /** The signature of a thinking block, or of the thinking block before a call. */
  carrier: string | null = null;
  isRedacted = false;
  segment = -1;
  readonly #tracker: ObjectTracker | null;

  constructor(kind: BlockKind, opening: string) {
    this.kind = kind;
    this.opening = opening;
    this.#tracker = kind === "call" ? new ObjectTracker() : null;
  }

  get isOpen(): boolean {
    return this.index >= 0 && !this.isClosed;
  }

  /** A call whose arguments are one whole object; anything else is never complete by itself. */
  get isComplete(): boolean {
    return this.#tracker?.isComplete === true;
  }

  /** Whether a later part may take its place: text and thinking yield at once, calls when nothing can follow. */
  get isYielding(): boolean {
    const isCall = this.kind === "call" || this.kind === "custom-call";
    return this.isEnded || !isCall || this.isComplete;
  }

  /** Takes note of argument bytes, without the escapes of a string around them. */
  track(bytes: Uint8Array): void {
    this.#tracker?.push(bytes);
  }
}

/** Makes the block of a part. What the head references is copied: it is valid only during the call. */
export function createBlock(head: PartHead, context: AnswerContext<AnthropicFacts>): StreamBlock {
  switch (head.type) {
    case "text":
    case "refusal":
      return new StreamBlock("text", '{"type":"text","text":""}');
    case "reasoning":
      return new StreamBlock("thinking", THINKING_OPENING);
    case "tool-call":
      return createCall(head, context);
    case "server-tool":
    case "opaque":
      return head.dialect === ANTHROPIC ? new StreamBlock("whole", sourceOf(head.raw)) : new StreamBlock("omitted", "");
    default:
      return new StreamBlock("omitted", "");
  }
}

/** The source text of a value: its numbers keep their spelling. */
const sourceOf = (raw: Raw): string =>
  isSlice(raw)
    ? Buffer.from(raw.bytes.buffer, raw.bytes.byteOffset + raw.start, raw.end - raw.start).toString("utf8")
    : JSON.stringify(raw.value);

function createCall(
  head: Extract<PartHead, { type: "tool-call" }>,
  context: AnswerContext<AnthropicFacts>,
): StreamBlock {
  const caller = context.options["fullMembers"] === true ? ',"caller":{"type":"direct"}' : "";
  const name = encodeString(textToString(head.name));
  const opening = `{"type":"tool_use","id":${encodeString(head.id)},"name":${name},"input":{}${caller}}`;
  const block = new StreamBlock(head.kind === "custom" ? "custom-call" : "call", opening);
  if (head.signature !== undefined) block.carrier = carrierOf(head.signature, context);
  return block;
}
