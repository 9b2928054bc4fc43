// Writes neutral events as a chat stream. Per candidate: unseen → open → stopped. Calls get the indexes 0, 1, 2, … of their appearance,
// whatever their part number. Reasoning that was signed, and calls of wrapped free-text tools, are gathered and written at their end.
import { concat, SegmentWriter, textToString } from "@dragoman/core";
import type {
  AnswerContext,
  ByteSink,
  NeutralError,
  PartHead,
  Raw,
  Signature,
  StreamEncoder,
  StreamEvent,
  Text,
  Usage,
} from "@dragoman/core";

import { protocolError } from "../shared/neutral-error.ts";
import { reasoningFieldOf } from "./answer-options.ts";
import type { ReasoningField } from "./answer-options.ts";
import { annotationJson } from "./annotations.ts";
import { ChunkWriter } from "./chunk-writer.ts";
import { callStartJson, unwrapCustomInput } from "./call-json.ts";
import { encodeStreamError } from "./encode-error.ts";
import type { ChatFacts } from "./read-head.ts";
import { carriedReasoningJson } from "./reasoning-carrier.ts";
import { encodeStop } from "./stop.ts";
import { explanationOf, jsonText, lengthOf, rawJson } from "./stream-part.ts";
import type { CandidateState, EncodedPart } from "./stream-part.ts";
import { MAX_PENDING_BYTES } from "./stream-record.ts";
import { writeUsage } from "./usage.ts";

/** Encoder of one chat stream. */
export class ChatStreamEncoder implements StreamEncoder {
  readonly #context: AnswerContext<ChatFacts>;
  readonly #write: ByteSink;
  readonly #field: ReasoningField;
  readonly #candidates = new Map<number, CandidateState>();
  #chunks: ChunkWriter | null;
  #usage: Usage | null;
  #gatheredBytes: number;

  constructor(context: AnswerContext<ChatFacts>, write: ByteSink) {
    this.#context = context;
    this.#write = write;
    this.#field = reasoningFieldOf(context.options);
    this.#chunks = null;
    this.#usage = null;
    this.#gatheredBytes = 0;
  }

  encode(event: StreamEvent): NeutralError | null {
    switch (event.type) {
      case "start":
        this.#start(event.model, event.serviceTier);
        if (event.usage !== undefined) this.#usage = event.usage;
        this.#candidate(0);
        return null;
      case "text-delta":
        this.#text(event.candidate, "content", event.text);
        return null;
      case "refusal-delta":
        this.#text(event.candidate, "refusal", event.text);
        return null;
      case "reasoning-delta":
        return this.#reasoning(event.candidate, event.part, event.text, event.segment ?? 0);
      case "arguments-delta":
        return this.#argument(event.candidate, event.part, event.text, event.encoded);
      case "part-start":
        return this.#startPart(event.candidate, event.part, event.head);
      case "part-end":
        this.#endPart(event.candidate, event.part);
        return null;
      case "signature-delta":
        this.#signature(event.candidate, event.part, event.signature);
        return null;
      case "citation-delta":
        this.#citation(event.candidate, event.raw);
        return null;
      case "audio-delta":
        this.#candidate(event.candidate);
        this.#chunkWriter().delta(event.candidate, `"audio":${rawJson(event.raw)}`);
        return null;
      case "logprobs-delta":
        this.#candidate(event.candidate);
        this.#chunkWriter().logprobs(event.candidate, rawJson(event.raw));
        return null;
      case "stop":
        if (event.stop.reason === "error" || event.stop.reason === "malformed-tool-call")
          return event.stop.error ?? protocolError(`The provider ended the answer with "${event.stop.raw}".`);
        this.#stop(
          event.candidate,
          encodeStop(event.stop, this.#context.facts.usesDeprecatedFunctions),
          explanationOf(event),
        );
        return null;
      case "usage":
        this.#usage = event.usage;
        return null;
      case "end":
        this.#end();
        return null;
      case "error":
        return event.error;
      case "ping":
        return null;
    }
  }

  fail(error: NeutralError): void {
    this.#write(encodeStreamError(error));
  }

  #start(model: string | undefined, serviceTier: string | undefined): void {
    if (this.#chunks !== null) return;
    const context = this.#context;
    this.#chunks = new ChunkWriter(
      {
        id: context.makeId("chatcmpl-"),
        created: context.createdSeconds,
        model: model ?? context.upstreamModel,
        serviceTier: serviceTier ?? null,
        hasUsageMember: context.facts.includeUsage,
      },
      this.#write,
    );
  }

  #chunkWriter(): ChunkWriter {
    this.#start(undefined, undefined);
    // `start` made it.
    return this.#chunks as ChunkWriter;
  }

  /** The state of a candidate; its first event writes the chunk with the role. */
  #candidate(index: number): CandidateState {
    const known = this.#candidates.get(index);
    if (known !== undefined) return known;
    const state: CandidateState = {
      parts: new Map(),
      carried: [],
      callCount: 0,
      hasReasoning: false,
      isStopped: false,
    };
    this.#candidates.set(index, state);
    this.#chunkWriter().delta(index, '"role":"assistant","content":""');
    return state;
  }

  #text(candidate: number, member: string, text: Text): void {
    this.#candidate(candidate);
    if (lengthOf(text) > 0) this.#chunkWriter().text(candidate, member, text);
  }

  #reasoning(candidate: number, part: number, text: Text, segment: number): NeutralError | null {
    const state = this.#candidate(candidate);
    const encoded = state.parts.get(part);
    if (lengthOf(text) === 0 || encoded === undefined) return null;
    const decoded = textToString(text);
    const isNewSegment = segment !== encoded.segment;
    const separator = isNewSegment || (encoded.gathered === "" && state.hasReasoning) ? "\n\n" : "";
    encoded.segment = segment;
    encoded.gathered += encoded.gathered === "" ? decoded : separator + decoded;
    if (this.#field !== "none") {
      if (separator !== "") this.#chunkWriter().text(candidate, this.#field, separator);
      this.#chunkWriter().text(candidate, this.#field, text);
    }
    state.hasReasoning = true;
    return this.#hold(lengthOf(text));
  }

  #startPart(candidate: number, part: number, head: PartHead): NeutralError | null {
    const state = this.#candidate(candidate);
    const isCall = head.type === "tool-call";
    const { facts, toolMap } = this.#context;
    const isWrapped =
      isCall && head.kind === "function" && toolMap?.wrappedCustom.has(textToString(head.name)) === true;
    const signature = head.type === "tool-call" ? (head.signature ?? null) : null;
    const redacted: Signature | null =
      head.type === "reasoning" && head.redacted !== undefined
        ? { origin: "ar", data: textToString(head.redacted) }
        : null;
    const encoded: EncodedPart = {
      head,
      callIndex: isCall ? state.callCount++ : -1,
      // A signed call is written with its arguments in one fragment; others start at once.
      isHeld: signature !== null && !isWrapped && !facts.usesDeprecatedFunctions,
      isWrapped,
      gathered: "",
      signature: signature ?? redacted,
      segment: 0,
    };
    state.parts.set(part, encoded);
    if (head.type === "image" || head.type === "server-tool" || head.type === "opaque")
      this.#context.count("response_extra_omitted");
    if (head.type !== "tool-call") return null;
    if (facts.usesDeprecatedFunctions) return this.#startFunctionCall(candidate, encoded, textToString(head.name));
    if (!encoded.isHeld)
      this.#chunkWriter().delta(candidate, callStartJson(encoded.callIndex, head, isWrapped, "", null));
    return null;
  }

  /** The deprecated form has room for one call. */
  #startFunctionCall(candidate: number, part: EncodedPart, name: string): NeutralError | null {
    if (part.callIndex > 0)
      return protocolError("The provider made several tool calls, but the request used the form that holds one.");
    this.#chunkWriter().delta(candidate, `"function_call":{"name":${JSON.stringify(name)},"arguments":""}`);
    return null;
  }

  #argument(candidate: number, part: number, text: Text, encoded: boolean): NeutralError | null {
    const tracked = this.#candidate(candidate).parts.get(part);
    if (tracked === undefined || tracked.head.type !== "tool-call" || lengthOf(text) === 0) return null;
    if (tracked.isWrapped) {
      tracked.gathered += jsonText(text, encoded);
      return this.#hold(lengthOf(text));
    }
    if (tracked.isHeld) {
      this.#release(candidate, tracked, jsonText(text, encoded));
      return null;
    }
    if (this.#context.facts.usesDeprecatedFunctions) this.#chunkWriter().functionCallText(candidate, text, encoded);
    else {
      const member = tracked.head.kind === "custom" ? "input" : "arguments";
      this.#chunkWriter().callText(candidate, tracked.callIndex, member, text, encoded);
    }
    return null;
  }

  /** Writes the held start of a signed call together with what arguments there are. */
  #release(candidate: number, part: EncodedPart, text: string): void {
    part.isHeld = false;
    if (part.head.type !== "tool-call") return;
    this.#chunkWriter().delta(candidate, callStartJson(part.callIndex, part.head, false, text, part.signature));
  }

  #signature(candidate: number, part: number, signature: Signature): void {
    const tracked = this.#candidate(candidate).parts.get(part);
    if (tracked === undefined) return;
    const kept: Signature = { ...signature, data: textToString(signature.data) };
    tracked.signature = kept;
    if (tracked.head.type !== "tool-call" || tracked.isHeld || kept.origin !== "g") return;
    const extra = `"extra_content":{"google":{"thought_signature":${JSON.stringify(kept.data)}}}`;
    this.#chunkWriter().delta(
      candidate,
      `"tool_calls":[{"index":${tracked.callIndex},"function":{"arguments":""},${extra}}]`,
    );
  }

  #citation(candidate: number, raw: Raw): void {
    const json = annotationJson(raw);
    if (json === null) this.#context.count("response_extra_omitted");
    else this.#chunkWriter().delta(candidate, `"annotations":[${json}]`);
  }

  #endPart(candidate: number, part: number): void {
    const state = this.#candidate(candidate);
    const tracked = state.parts.get(part);
    if (tracked === undefined) return;
    if (tracked.isHeld) this.#release(candidate, tracked, "{}");
    if (tracked.isWrapped) {
      const input = unwrapCustomInput(tracked.gathered);
      this.#chunkWriter().callText(candidate, tracked.callIndex, "input", input, false);
    }
    if (tracked.head.type === "reasoning" && tracked.signature !== null)
      state.carried.push({ signature: tracked.signature, text: tracked.gathered });
    tracked.gathered = "";
  }

  #stop(candidate: number, word: string, explanation: Text | null): void {
    const state = this.#candidate(candidate);
    if (state.isStopped) return;
    state.isStopped = true;
    const chunks = this.#chunkWriter();
    if (explanation !== null) chunks.text(candidate, "refusal", explanation);
    if (state.carried.length > 0) {
      const json = carriedReasoningJson(state.carried, this.#context.upstreamModel, this.#field !== "none");
      chunks.delta(candidate, `"extra_content":${json}`);
    }
    chunks.finish(candidate, word);
  }

  #end(): void {
    const chunks = this.#chunkWriter();
    if (this.#context.facts.includeUsage && this.#usage !== null) {
      const writer = new SegmentWriter();
      writeUsage(writer, this.#usage);
      chunks.usage(Buffer.from(concat(writer.finish())).toString("latin1"));
    }
    chunks.done();
  }

  #hold(bytes: number): NeutralError | null {
    this.#gatheredBytes += bytes;
    if (this.#gatheredBytes <= MAX_PENDING_BYTES) return null;
    return protocolError("The provider's stream holds more reasoning or arguments than can be kept until their end.");
  }
}
