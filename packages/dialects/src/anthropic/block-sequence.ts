/**
 * The content blocks of one stream, in order. Parts may overlap in the neutral stream; here exactly one is live, the others queue
 * with their backlog, bounded in bytes.
 */
import {
  encodeString,
  escapeBytes,
  isSlice,
  rawToValue,
  unescapeBytes,
  type AnswerContext,
  type ByteSlice,
  type NeutralError,
  type PartHead,
  type Raw,
  type Signature,
  type Text,
} from "@dragoman/core";

import { protocolError } from "../shared/neutral-error.ts";
import { deltaPrefix, insideOf, type DeltaKind, type EventWriter } from "./event-writer.ts";
import type { AnthropicFacts } from "./read-head.ts";
import { carrierOf, thinkingPolicy, type ThinkingPolicy } from "./reasoning-carrier.ts";
import { createBlock, THINKING_OPENING, type StreamBlock } from "./stream-block.ts";
import { isBlankText } from "./text-checks.ts";

/** Bytes that may wait for their block's turn. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024;

const NOTHING: ByteSlice = { bytes: new Uint8Array(0), start: 0, end: 0 };
const SEGMENT_BREAK: ByteSlice = insideOf("\n\n");
const CUSTOM_START: ByteSlice = insideOf('{"input":"');
const CUSTOM_END: ByteSlice = insideOf('"}');

const DELTA_OF_KIND: Readonly<Record<"text" | "thinking" | "call" | "custom-call", DeltaKind>> = {
  text: "text",
  thinking: "thinking",
  call: "input",
  "custom-call": "input",
};

const concatSlices = (slices: readonly ByteSlice[]): ByteSlice => {
  const bytes = Buffer.concat(slices.map(({ bytes: source, start, end }) => source.subarray(start, end)));
  return { bytes, start: 0, end: bytes.length };
};

const copyOf = ({ bytes, start, end }: ByteSlice): ByteSlice => {
  // `slice` of a Buffer would be a view of the same memory.
  const copy = new Uint8Array(bytes.subarray(start, end));
  return { bytes: copy, start: 0, end: copy.length };
};

export class BlockSequence {
  readonly #context: AnswerContext<AnthropicFacts>;
  readonly #writer: EventWriter;
  readonly #policy: ThinkingPolicy;
  readonly #blocks = new Map<number, StreamBlock>();
  /** Parts that wait, oldest first, from `#queueHead` on. */
  readonly #queue: StreamBlock[] = [];
  #queueHead = 0;
  #live: StreamBlock | null = null;
  #nextIndex = 0;
  #pendingBytes = 0;
  /** Carriers that wait for the next call. */
  #held: string[] = [];
  #hasOmitted = false;

  constructor(context: AnswerContext<AnthropicFacts>, writer: EventWriter) {
    this.#context = context;
    this.#writer = writer;
    this.#policy = thinkingPolicy(context.facts);
  }

  /** Something was left out, and nothing was written. */
  get isUnrepresentable(): boolean {
    return this.#hasOmitted && this.#nextIndex === 0;
  }

  startPart(part: number, head: PartHead): NeutralError | null {
    const block = createBlock(head, this.#context);
    this.#blocks.set(part, block);
    if (block.kind === "omitted") {
      this.#hasOmitted = true;
      block.isClosed = true;
      this.#context.count("response_extra_omitted");
      return null;
    }
    this.#queue.push(block);
    this.#settle();
    return null;
  }

  addText(part: number, text: Text): NeutralError | null {
    return this.#add(part, isSlice(text) ? text : insideOf(text));
  }

  addReasoning(part: number, text: Text, segment: number): NeutralError | null {
    const block = this.#blocks.get(part);
    if (!this.#policy.isShown || block === undefined) return null;
    const inside = isSlice(text) ? text : insideOf(text);
    if (inside.start === inside.end) return null;
    const isNewSegment = block.segment >= 0 && block.segment !== segment;
    block.segment = segment;
    return (isNewSegment ? this.#add(part, SEGMENT_BREAK) : null) ?? this.#add(part, inside);
  }

  addArguments(part: number, text: Text, encoded: boolean): NeutralError | null {
    const block = this.#blocks.get(part);
    if (block === undefined) return null;
    if (block.kind === "custom-call") {
      // Free text inside a JSON string inside a JSON string.
      const inside = isSlice(text) ? text : insideOf(text);
      return this.#add(part, escapeBytes(inside.bytes, inside.start, inside.end));
    }
    if (!isSlice(text)) {
      block.track(Buffer.from(text, "utf8"));
      return this.#add(part, insideOf(text));
    }
    block.track(encoded ? unescapeBytes(text) : text.bytes.subarray(text.start, text.end));
    return this.#add(part, encoded ? text : escapeBytes(text.bytes, text.start, text.end));
  }

  addSignature(part: number, signature: Signature): void {
    const block = this.#blocks.get(part);
    if (block === undefined || block.isClosed || (block.kind !== "thinking" && block.isOpen)) {
      this.#context.count("late_signature");
      return;
    }
    block.carrier = carrierOf(signature, this.#context);
    block.isRedacted = signature.origin === "ar";
  }

  /** Citations of other dialects name places that this one has no word for. */
  addCitation(part: number, raw: Raw): void {
    const block = this.#blocks.get(part);
    const citation = rawToValue(raw);
    const type = typeof citation === "object" && citation !== null && "type" in citation ? citation.type : null;
    if (block?.isOpen !== true || typeof type !== "string" || !type.endsWith("_location")) {
      this.#context.count("response_extra_omitted");
      return;
    }
    const delta = JSON.stringify({ type: "citations_delta", citation });
    this.#writer.event("content_block_delta", `{"type":"content_block_delta","index":${block.index},"delta":${delta}}`);
  }

  endPart(part: number): void {
    const block = this.#blocks.get(part);
    if (block === undefined) return;
    this.#blocks.delete(part);
    block.isEnded = true;
    if (block === this.#live) this.#settle();
  }

  /** Nothing more comes: closes what is live and writes out what waits. */
  endAll(): void {
    for (const block of this.#blocks.values()) block.isEnded = true;
    this.#settle();
  }

  /** Closes the live block when it must make room or is over, and lets the next ones take their turns. */
  #settle(): void {
    for (;;) {
      const hasWaiting = this.#queueHead < this.#queue.length;
      if (this.#live !== null) {
        if (!this.#live.isEnded && !(hasWaiting && this.#live.isYielding)) return;
        this.#close(this.#live);
        this.#live = null;
      }
      if (!hasWaiting) return;
      this.#promote();
    }
  }

  #promote(): void {
    const block = this.#queue[this.#queueHead++] as StreamBlock;
    if (this.#queueHead === this.#queue.length) {
      this.#queue.length = 0;
      this.#queueHead = 0;
    }
    this.#live = block;
    if (block.kind === "call" || block.kind === "custom-call") this.#open(block);
    this.#flush(block);
  }

  #add(part: number, inside: ByteSlice): NeutralError | null {
    const block = this.#blocks.get(part);
    if (block === undefined || block.kind === "omitted" || inside.start === inside.end) return null;
    if (block.isClosed) return protocolError("The provider sent content for a part of the answer that was over.");
    if (block !== this.#live || (block.kind === "text" && !block.isOpen)) return this.#wait(block, inside);
    this.#writeDelta(block, inside);
    // A call that is complete makes room for a part that waits.
    if (block.isComplete) this.#settle();
    return null;
  }

  /** Keeps a text until the block's turn, or until its first visible character. */
  #wait(block: StreamBlock, inside: ByteSlice): NeutralError | null {
    this.#pendingBytes += inside.end - inside.start;
    if (this.#pendingBytes > MAX_PENDING_BYTES) {
      return protocolError(`The provider interleaves more than ${MAX_PENDING_BYTES} bytes of content.`);
    }
    block.backlog.push(copyOf(inside));
    if (block === this.#live && !isBlankText(inside)) this.#flush(block);
    return null;
  }

  /** Writes what waited as one delta; white space alone goes on waiting in a text that has not begun. */
  #flush(block: StreamBlock): void {
    if (block.backlog.length === 0) return;
    if (block.kind === "text" && !block.isOpen && block.backlog.every(isBlankText)) return;
    const waiting = concatSlices(block.backlog);
    block.backlog = [];
    this.#pendingBytes -= waiting.end;
    this.#writeDelta(block, waiting);
  }

  #open(block: StreamBlock): void {
    if (block.kind === "call" || block.kind === "custom-call") this.#writeHeld(block);
    block.index = this.#nextIndex++;
    this.#writeStart(block.index, block.opening);
    if (block.kind === "whole" || block.kind === "omitted") return;
    block.prefix = deltaPrefix(DELTA_OF_KIND[block.kind], block.index);
    if (block.kind === "custom-call") this.#writeDelta(block, CUSTOM_START);
  }

  #writeDelta(block: StreamBlock, inside: ByteSlice): void {
    if (block.index < 0) this.#open(block);
    block.hasDelta = true;
    this.#writer.delta(block.prefix as Buffer, inside);
  }

  #writeStart(index: number, opening: string): void {
    this.#writer.event(
      "content_block_start",
      `{"type":"content_block_start","index":${index},"content_block":${opening}}`,
    );
  }

  #writeStop(index: number): void {
    this.#writer.event("content_block_stop", `{"type":"content_block_stop","index":${index}}`);
  }

  #close(block: StreamBlock): void {
    block.isClosed = true;
    for (const { start, end } of block.backlog) this.#pendingBytes -= end - start;
    block.backlog = [];
    switch (block.kind) {
      case "text":
        break;
      case "thinking":
        this.#closeThinking(block);
        return;
      case "call":
        if (!block.hasDelta) this.#writeDelta(block, NOTHING);
        else if (!block.isComplete) this.#context.count("invalid_tool_args");
        break;
      case "custom-call":
        this.#writeDelta(block, CUSTOM_END);
        break;
      case "whole":
        this.#open(block);
        break;
      case "omitted":
        return;
    }
    if (block.index >= 0) this.#writeStop(block.index);
  }

  #closeThinking(block: StreamBlock): void {
    const { carrier } = block;
    if (carrier !== null && block.isRedacted) {
      const index = this.#nextIndex++;
      this.#writeStart(index, `{"type":"redacted_thinking","data":${encodeString(carrier)}}`);
      this.#writeStop(index);
      return;
    }
    if (block.index < 0) {
      if (carrier === null) return;
      if (!this.#policy.isInPlace) {
        this.#held.push(carrier);
        return;
      }
      this.#open(block);
    }
    if (carrier !== null) this.#writer.delta(deltaPrefix("signature", block.index), insideOf(carrier));
    this.#writeStop(block.index);
  }

  /** Thinking blocks without text that a client must have right before a call, to replay them with it. */
  #writeHeld(call: StreamBlock): void {
    const carriers = call.carrier === null ? this.#held : [...this.#held, call.carrier];
    this.#held = [];
    for (const carrier of carriers) {
      const index = this.#nextIndex++;
      this.#writeStart(index, THINKING_OPENING);
      this.#writer.delta(deltaPrefix("signature", index), insideOf(carrier));
      this.#writeStop(index);
    }
  }
}
