/**
 * Neutral events as this dialect's stream. Blocks are strictly one after another: one part is live and streams, later ones wait with
 * what they have. Invariants: indexes are 0, 1, 2, …; a text or thinking block is opened by the first thing that is written into it;
 * nothing is written into a closed block; `message_delta` and `message_stop` come once, last.
 */
import type { AnswerContext, ByteSink, NeutralError, Stop, StreamEncoder, StreamEvent, Usage } from "@dragoman/core";

import { protocolError, truncatedError } from "../shared/neutral-error.ts";
import { BlockSequence } from "./block-sequence.ts";
import { encodeStreamError } from "./encode-error.ts";
import { EventWriter } from "./event-writer.ts";
import type { AnthropicFacts } from "./read-head.ts";
import { encodeStop } from "./stop.ts";
import { encodeUsage } from "./usage.ts";

const UNREPRESENTABLE = "unrepresentable_output: the answer's content has no form in this dialect.";

class AnthropicStreamEncoder implements StreamEncoder {
  readonly #context: AnswerContext<AnthropicFacts>;
  readonly #sink: ByteSink;
  readonly #writer: EventWriter;
  readonly #sequence: BlockSequence;
  readonly #isFull: boolean;
  #isStarted = false;
  #isDone = false;
  #stop: Stop | null = null;
  #usage: Usage | null = null;
  #serviceTier: string | null = null;

  constructor(context: AnswerContext<AnthropicFacts>, write: ByteSink) {
    this.#context = context;
    this.#sink = write;
    this.#writer = new EventWriter(write);
    this.#sequence = new BlockSequence(context, this.#writer);
    this.#isFull = context.options["fullMembers"] === true;
  }

  encode(event: StreamEvent): NeutralError | null {
    // One answer has a place; a request for more never got here.
    if (this.#isDone || ("candidate" in event && event.candidate !== 0)) return null;
    switch (event.type) {
      case "start":
        this.#start(event);
        return null;
      case "part-start":
        this.#ensureStarted();
        return this.#sequence.startPart(event.part, event.head);
      case "text-delta":
      case "refusal-delta":
        return this.#sequence.addText(event.part, event.text);
      case "reasoning-delta":
        return this.#sequence.addReasoning(event.part, event.text, event.segment ?? 0);
      case "arguments-delta":
        return this.#sequence.addArguments(event.part, event.text, event.encoded);
      case "signature-delta":
        this.#sequence.addSignature(event.part, event.signature);
        return null;
      case "citation-delta":
        this.#sequence.addCitation(event.part, event.raw);
        return null;
      case "part-end":
        this.#sequence.endPart(event.part);
        return null;
      case "stop":
        return this.#takeStop(event.stop);
      case "usage":
        this.#usage = event.usage;
        return null;
      case "ping":
        if (this.#isStarted) this.#writer.event("ping", '{"type":"ping"}');
        return null;
      case "audio-delta":
      case "logprobs-delta":
        this.#context.count("response_extra_omitted");
        return null;
      case "error":
        return event.error;
      case "end":
        return this.#end();
    }
  }

  fail(error: NeutralError): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#sink(encodeStreamError(error, { requestId: this.#context.requestId }));
  }

  #start({ model, usage, serviceTier }: Omit<Extract<StreamEvent, { type: "start" }>, "type">): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#serviceTier = serviceTier ?? null;
    this.#usage = usage ?? null;
    const id = JSON.stringify(this.#context.makeId("msg_"));
    const extra = this.#isFull ? ',"stop_details":null,"container":null' : "";
    const message =
      `{"id":${id},"type":"message","role":"assistant","model":${JSON.stringify(model ?? this.#context.upstreamModel)},` +
      `"content":[],"stop_reason":null,"stop_sequence":null${extra},"usage":${this.#encodeUsage()}}`;
    this.#writer.event("message_start", `{"type":"message_start","message":${message}}`);
  }

  #ensureStarted(): void {
    if (!this.#isStarted) this.#start({});
  }

  #encodeUsage(): string {
    return encodeUsage(this.#usage, this.#serviceTier, this.#isFull);
  }

  #takeStop(stop: Stop): NeutralError | null {
    if (stop.reason === "error" || stop.reason === "malformed-tool-call") return stop.error ?? protocolError();
    this.#ensureStarted();
    this.#stop = stop;
    this.#sequence.endAll();
    return this.#sequence.isUnrepresentable ? protocolError(UNREPRESENTABLE) : null;
  }

  #end(): NeutralError | null {
    const words = this.#stop === null ? null : encodeStop(this.#stop, this.#isFull);
    if (words === null) return truncatedError();
    this.#isDone = true;
    this.#writer.event("message_delta", `{"type":"message_delta","delta":{${words}},"usage":${this.#encodeUsage()}}`);
    this.#writer.event("message_stop", '{"type":"message_stop"}');
    return null;
  }
}

/** Creates the encoder of one client stream. */
export function createStreamEncoder(context: AnswerContext<AnthropicFacts>, write: ByteSink): StreamEncoder {
  return new AnthropicStreamEncoder(context, write);
}
