/**
 * Upstream streams of this dialect as neutral events. Blocks come one after another, each start → deltas → stop; the stop reason comes
 * in `message_delta`, and only `message_stop` makes the answer complete. Unknown events and deltas are ignored, as the dialect demands.
 */
import {
  isSlice,
  retainRaw,
  Scanner,
  type DecodeContext,
  type Document,
  type NeutralError,
  type NodeIndex,
  type PartHead,
  type Raw,
  type Stop,
  type StreamDecoder,
  type StreamEvent,
  type StreamRecord,
} from "@dragoman/core";

import { protocolError, truncatedError } from "../shared/neutral-error.ts";
import { hasText } from "../shared/string-value.ts";
import type { Mutable } from "./body-reader.ts";
import { classifyErrorEvent } from "./classify-error.ts";
import { neutralTier } from "./decode-response.ts";
import { ANTHROPIC, isServerBlock } from "./members.ts";
import { isForeignError } from "./observe-stream.ts";
import { profileOf } from "./profiles.ts";
import { readStop, stopReasonOf } from "./stop.ts";
import { UsageTally } from "./usage.ts";

type Emit = (event: StreamEvent) => void;

/** A block that is open. */
interface OpenBlock {
  readonly part: number;
  readonly kind: "text" | "reasoning" | "tool-call" | "whole";
  /** Some fragment of a call's input came. */
  hasInput: boolean;
  /** The input that a block's start already held, kept until it is clear that no fragment follows. */
  readonly heldInput: Raw | null;
}

const DIGIT_ZERO = 0x30;

class AnthropicStreamDecoder implements StreamDecoder {
  readonly #scanner = new Scanner({ duplicates: "last-wins" });
  readonly #context: DecodeContext;
  readonly #emit: Emit;
  readonly #isLenient: boolean;
  readonly #tally = new UsageTally();
  readonly #blocks = new Map<number, OpenBlock>();
  #nextPart = 0;
  #hasCalls = false;
  #isStarted = false;
  #isEnded = false;
  #stop: Stop | null = null;

  constructor(context: DecodeContext, emit: Emit) {
    this.#context = context;
    this.#emit = emit;
    this.#isLenient = profileOf(context.profile).lenientTerminal;
  }

  /** A stop reason alone is enough only where the profile says that the terminal event may be missing. */
  get isStopped(): boolean {
    return this.#isEnded || (this.#isLenient && this.#stop !== null);
  }

  push(record: StreamRecord): void {
    if (this.#isEnded) return;
    const document = this.#scanner.scan(record.bytes, record.dataStart, record.dataEnd);
    if (document === null) {
      const offset = (this.#scanner.error?.offset ?? record.dataStart) - record.dataStart;
      this.#fail(protocolError(`The provider sent a stream event that is no JSON (byte ${offset} of its data).`));
      return;
    }
    if (!document.isObject(document.root)) {
      this.#fail(protocolError("The provider sent a stream event that is no object."));
      return;
    }
    const type = document.member(document.root, "type");
    if (document.stringEquals(type, "content_block_delta")) this.#pushDelta(document);
    else if (document.isString(type)) this.#pushOther(document, document.string(type));
    else if (isForeignError(document, type, record)) this.#fail(classifyErrorEvent(document, this.#context));
  }

  finish(): void {
    if (this.#isEnded) return;
    if (this.#isLenient && this.#stop !== null) this.#complete(this.#stop);
    else this.#fail(truncatedError());
  }

  #pushOther(document: Document, type: string): void {
    switch (type) {
      case "message_start":
        this.#start(document, document.member(document.root, "message"));
        return;
      case "content_block_start":
        this.#openBlock(document);
        return;
      case "content_block_stop":
        this.#closeBlock(this.#indexOf(document));
        return;
      case "message_delta":
        this.#pushMessageDelta(document);
        return;
      case "message_stop":
        this.#pushMessageStop();
        return;
      case "ping":
        this.#emit({ type: "ping" });
        return;
      case "error":
        this.#fail(classifyErrorEvent(document, this.#context));
        return;
      default:
    }
  }

  #start(document: Document, message: NodeIndex): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#tally.read(document, document.member(message, "usage"));
    const event: Mutable<Extract<StreamEvent, { type: "start" }>> = { type: "start" };
    const id = document.member(message, "id");
    const model = document.member(message, "model");
    if (document.isString(id)) event.id = document.string(id);
    if (document.isString(model)) event.model = document.string(model);
    const usage = this.#tally.toUsage(false);
    if (usage !== null) event.usage = usage;
    const tier = neutralTier(this.#tally.serviceTier);
    if (tier !== undefined) event.serviceTier = tier;
    this.#emit(event);
  }

  /** Blocks are few: their index is nearly always one digit, and making a string to read it would cost more than the rest. */
  #indexOf(document: Document): number {
    const node = document.member(document.root, "index");
    if (!document.isNumber(node)) return -1;
    const start = document.start(node);
    return document.end(node) - start === 1 ? (document.bytes[start] as number) - DIGIT_ZERO : document.number(node);
  }

  #openBlock(document: Document): void {
    this.#start(document, -1);
    const index = this.#indexOf(document);
    // A block that its server forgot to stop ends where its index comes again.
    this.#closeBlock(index);
    const block = document.member(document.root, "content_block");
    const typeNode = document.member(block, "type");
    if (!document.isString(typeNode)) {
      this.#fail(protocolError("The provider began a content block without a type."));
      return;
    }
    switch (document.string(typeNode)) {
      case "text":
        this.#openText(document, block, index);
        return;
      case "thinking":
        this.#openThinking(document, block, index);
        return;
      case "redacted_thinking":
        this.#openRedacted(document, block, index);
        return;
      case "tool_use":
        this.#openCall(document, block, index);
        return;
      default: {
        const kind = isServerBlock(document.string(typeNode)) ? "server-tool" : "opaque";
        this.#openPart(index, "whole", { type: kind, dialect: ANTHROPIC, raw: document.raw(block) });
      }
    }
  }

  #openPart(index: number, kind: OpenBlock["kind"], head: PartHead, heldInput: Raw | null = null): number {
    const part = this.#nextPart++;
    this.#blocks.set(index, { part, kind, hasInput: false, heldInput });
    this.#emit({ type: "part-start", candidate: 0, part, head });
    return part;
  }

  #openText(document: Document, block: NodeIndex, index: number): void {
    const part = this.#openPart(index, "text", { type: "text" });
    const text = document.member(block, "text");
    if (hasText(document, text)) this.#emit({ type: "text-delta", candidate: 0, part, text: document.text(text) });
  }

  #openThinking(document: Document, block: NodeIndex, index: number): void {
    const part = this.#openPart(index, "reasoning", { type: "reasoning", form: "summary" });
    const text = document.member(block, "thinking");
    if (hasText(document, text)) this.#emit({ type: "reasoning-delta", candidate: 0, part, text: document.text(text) });
    this.#emitSignature(document, document.member(block, "signature"), part, "a");
  }

  #openRedacted(document: Document, block: NodeIndex, index: number): void {
    const data = document.member(block, "data");
    const redacted = document.isString(data) ? document.text(data) : "";
    const part = this.#openPart(index, "reasoning", { type: "reasoning", form: "opaque", redacted });
    this.#emitSignature(document, data, part, "ar");
  }

  #emitSignature(document: Document, node: NodeIndex, part: number, origin: "a" | "ar"): void {
    if (!hasText(document, node)) return;
    const signature = { origin, model: this.#context.upstreamModel, data: document.text(node) };
    this.#emit({ type: "signature-delta", candidate: 0, part, signature });
  }

  #openCall(document: Document, block: NodeIndex, index: number): void {
    const id = document.member(block, "id");
    const name = document.member(block, "name");
    if (!hasText(document, id) || !hasText(document, name)) {
      this.#fail(protocolError("The provider began a tool call without an id or a name."));
      return;
    }
    const input = document.member(block, "input");
    const heldInput = document.isObject(input) && document.count(input) > 0 ? retainRaw(document.raw(input)) : null;
    this.#hasCalls = true;
    const head: PartHead = { type: "tool-call", id: document.string(id), name: document.text(name), kind: "function" };
    this.#openPart(index, "tool-call", head, heldInput);
  }

  #pushDelta(document: Document): void {
    const block = this.#blocks.get(this.#indexOf(document));
    if (block === undefined) {
      this.#fail(protocolError("The provider sent content for a block that is not open."));
      return;
    }
    const delta = document.member(document.root, "delta");
    const type = document.member(delta, "type");
    const { part } = block;
    if (document.stringEquals(type, "text_delta")) {
      const text = document.member(delta, "text");
      if (hasText(document, text) && block.kind === "text")
        this.#emit({ type: "text-delta", candidate: 0, part, text: document.text(text) });
    } else if (document.stringEquals(type, "input_json_delta"))
      this.#pushInput(document, document.member(delta, "partial_json"), block);
    else if (document.stringEquals(type, "thinking_delta")) {
      const text = document.member(delta, "thinking");
      if (hasText(document, text) && block.kind === "reasoning")
        this.#emit({ type: "reasoning-delta", candidate: 0, part, text: document.text(text) });
    } else if (document.stringEquals(type, "signature_delta")) {
      if (block.kind === "reasoning") this.#emitSignature(document, document.member(delta, "signature"), part, "a");
    } else if (document.stringEquals(type, "citations_delta")) {
      const citation = document.member(delta, "citation");
      if (citation >= 0) this.#emit({ type: "citation-delta", candidate: 0, part, raw: document.raw(citation) });
    }
  }

  #pushInput(document: Document, fragment: NodeIndex, block: OpenBlock): void {
    if (!hasText(document, fragment) || block.kind !== "tool-call") return;
    block.hasInput = true;
    this.#emit({
      type: "arguments-delta",
      candidate: 0,
      part: block.part,
      text: document.text(fragment),
      encoded: true,
    });
  }

  #closeBlock(index: number): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    this.#blocks.delete(index);
    const { part, heldInput } = block;
    if (block.kind === "tool-call" && !block.hasInput) {
      const text = heldInput !== null && isSlice(heldInput) ? heldInput : "{}";
      this.#emit({ type: "arguments-delta", candidate: 0, part, text, encoded: false });
    }
    this.#emit({ type: "part-end", candidate: 0, part });
  }

  #pushMessageDelta(document: Document): void {
    this.#start(document, -1);
    const hasOutputCount = this.#tally.read(document, document.member(document.root, "usage"));
    const stop = readStop(document, document.member(document.root, "delta"), this.#hasCalls);
    if (stop !== null) this.#stop = stop;
    const usage = this.#tally.toUsage(this.#stop !== null && hasOutputCount);
    if (usage !== null) this.#emit({ type: "usage", usage });
  }

  #pushMessageStop(): void {
    if (this.#stop !== null) this.#complete(this.#stop);
    else if (this.#isLenient) this.#complete({ reason: stopReasonOf("end_turn", this.#hasCalls), raw: "" });
    else this.#fail(protocolError("The provider's answer has no stop reason."));
  }

  #complete(stop: Stop): void {
    for (const index of this.#blocks.keys()) this.#closeBlock(index);
    this.#isEnded = true;
    this.#emit({ type: "stop", candidate: 0, stop });
    this.#emit({ type: "end" });
  }

  #fail(error: NeutralError): void {
    this.#isEnded = true;
    this.#emit({ type: "error", error });
  }
}

/** Creates the decoder of one upstream stream. */
export function createStreamDecoder(context: DecodeContext, emit: Emit): StreamDecoder {
  return new AnthropicStreamDecoder(context, emit);
}
