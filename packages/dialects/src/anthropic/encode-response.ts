/** The neutral answer as this dialect's message. Empty texts and what the dialect cannot say are left out; a broken call is an error. */
import {
  concat,
  isSlice,
  SegmentWriter,
  type AnswerContext,
  type EncodedAnswer,
  type NeutralResponse,
  type Part,
  type ReasoningPart,
  type Stop,
  type Text,
  type ToolCallPart,
} from "@dragoman/core";

import { protocolError } from "../shared/neutral-error.ts";
import { argumentsAsValue } from "../shared/tool-arguments.ts";
import { ANTHROPIC } from "./members.ts";
import type { AnthropicFacts } from "./read-head.ts";
import { carrierOf, thinkingPolicy, type ThinkingPolicy } from "./reasoning-carrier.ts";
import { encodeStop } from "./stop.ts";
import { isBlankText } from "./text-checks.ts";
import { encodeUsage } from "./usage.ts";

/** What is said of an answer whose only content cannot be written. */
const UNREPRESENTABLE = "unrepresentable_output: the answer's content has no form in this dialect.";

class ContentWriter {
  readonly #writer: SegmentWriter;
  readonly #context: AnswerContext<AnthropicFacts>;
  readonly #policy: ThinkingPolicy;
  readonly #isFull: boolean;
  readonly #isCut: boolean;
  /** Carriers that wait for the next call. */
  #held: string[] = [];
  #blocks = 0;
  #hasOmitted = false;
  #isBroken = false;

  constructor(writer: SegmentWriter, context: AnswerContext<AnthropicFacts>, stop: Stop) {
    this.#writer = writer;
    this.#context = context;
    this.#policy = thinkingPolicy(context.facts);
    this.#isFull = context.options["fullMembers"] === true;
    this.#isCut = stop.reason === "max-tokens";
  }

  /** A call's arguments are no object. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Something was left out, and nothing was written. */
  get isUnrepresentable(): boolean {
    return this.#hasOmitted && this.#blocks === 0;
  }

  write(parts: readonly Part[]): void {
    this.#writer.glue("[");
    for (const part of parts) this.#writePart(part);
    this.#writer.glue("]");
  }

  #writePart(part: Part): void {
    switch (part.type) {
      case "text":
        this.#writeText(part.text, part.citations !== undefined && isSlice(part.citations) ? part.citations : null);
        return;
      case "refusal":
        this.#writeText(part.text, null);
        return;
      case "reasoning":
        this.#writeReasoning(part);
        return;
      case "tool-call":
        this.#writeCall(part);
        return;
      case "server-tool":
      case "opaque":
        if (part.dialect === ANTHROPIC && isSlice(part.raw)) this.#open().raw(part.raw);
        else this.#omit();
        return;
      default:
        this.#omit();
    }
  }

  #open(): SegmentWriter {
    if (this.#blocks++ > 0) this.#writer.glue(",");
    return this.#writer;
  }

  #omit(): void {
    this.#hasOmitted = true;
    this.#context.count("response_extra_omitted");
  }

  /** A text block without visible characters would be refused when the client replays it. */
  #writeText(text: Text, citations: Extract<Text, object> | null): void {
    if (isBlankText(text)) return;
    const writer = this.#open().glue('{"type":"text","text":').token(text);
    if (citations !== null) writer.glue(',"citations":').raw(citations);
    else if (this.#isFull) writer.glue(',"citations":null');
    writer.glue("}");
  }

  #writeReasoning({ signature, texts }: ReasoningPart): void {
    if (signature?.origin === "ar") {
      this.#open().glue('{"type":"redacted_thinking","data":').token(signature.data).glue("}");
      return;
    }
    const shown = this.#policy.isShown ? texts : [];
    if (signature === undefined && shown.every(isBlankText)) return;
    const carrier = signature === undefined ? "" : carrierOf(signature, this.#context);
    if (this.#policy.isInPlace) this.#writeThinking(shown, carrier);
    else this.#held.push(carrier);
  }

  #writeThinking(texts: readonly Text[], carrier: string): void {
    const writer = this.#open().glue('{"type":"thinking","thinking":"');
    texts.forEach((text, index) => {
      if (index > 0) writer.glue("\\n\\n");
      writer.inside(text);
    });
    writer.glue('","signature":').string(carrier).glue("}");
  }

  #writeCall(part: ToolCallPart): void {
    const value = part.kind === "custom" ? null : argumentsAsValue(part.arguments);
    if (value !== null && !value.ok) {
      // A call that the output limit cut in two cannot be run, and cannot be replayed.
      if (this.#isCut) this.#context.count("incomplete_tool_call_removed");
      else this.#isBroken = true;
      return;
    }
    for (const carrier of this.#held) this.#writeThinking([], carrier);
    this.#held = [];
    if (part.signature !== undefined) this.#writeThinking([], carrierOf(part.signature, this.#context));
    const writer = this.#open().glue('{"type":"tool_use","id":').token(part.id).glue(',"name":').token(part.name);
    writer.glue(',"input":');
    if (value === null) writer.glue('{"input":').token(customInput(part)).glue("}");
    else writer.raw(value.raw);
    writer.glue(this.#isFull ? ',"caller":{"type":"direct"}}' : "}");
  }
}

const customInput = ({ arguments: { text } }: ToolCallPart): Text =>
  typeof text === "string" || isSlice(text) ? text : String(text.value);

/** Writes a whole answer. Only the first candidate has a place. */
export function encodeResponse(response: NeutralResponse, context: AnswerContext<AnthropicFacts>): EncodedAnswer {
  const [candidate] = response.candidates;
  if (candidate === undefined) return { ok: false, error: protocolError("The provider's answer has no content.") };
  const isFull = context.options["fullMembers"] === true;
  const stop = encodeStop(candidate.stop, isFull);
  if (stop === null) return { ok: false, error: candidate.stop.error ?? protocolError() };
  const writer = new SegmentWriter();
  writer.glue('{"id":').string(context.makeId("msg_")).glue(',"type":"message","role":"assistant","model":');
  writer.string(response.model ?? context.upstreamModel).glue(',"content":');
  const content = new ContentWriter(writer, context, candidate.stop);
  content.write(candidate.parts);
  if (content.isBroken)
    return { ok: false, error: protocolError("The arguments of a tool call are not a JSON object.") };
  if (content.isUnrepresentable) return { ok: false, error: protocolError(UNREPRESENTABLE) };
  const usage = encodeUsage(response.usage ?? null, response.serviceTier ?? null, isFull);
  writer.glue(`,${stop},"usage":${usage}`);
  if (isFull && !response.extensions.some(({ path }) => path === "container")) writer.glue(',"container":null');
  for (const { dialect, path, raw } of response.extensions) {
    if (dialect !== ANTHROPIC || !isSlice(raw)) context.count("response_extra_omitted");
    else writer.glue(`,${JSON.stringify(path)}:`).raw(raw);
  }
  writer.glue("}");
  return { ok: true, body: concat(writer.finish()) };
}
