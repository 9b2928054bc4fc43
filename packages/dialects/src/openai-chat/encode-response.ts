// A complete answer for a client of this dialect. The members that the vendor's schema requires are always written; what this dialect has
// no place for is counted, and an answer that would be nothing but that is no answer.
import { concat, encodeString, SegmentWriter, textToString } from "@dragoman/core";
import type {
  AnswerContext,
  Candidate,
  EncodedAnswer,
  Extension,
  NeutralError,
  NeutralResponse,
  Part,
  ReasoningPart,
  Text,
  ToolCallPart,
} from "@dragoman/core";

import { protocolError } from "../shared/neutral-error.ts";
import { argumentsToText, writeArgumentsAsString } from "../shared/tool-arguments.ts";
import { annotationsJson } from "./annotations.ts";
import { reasoningFieldOf } from "./answer-options.ts";
import { googleContentJson, unwrapCustomInput } from "./call-json.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import { writeExtensions, writeRaw } from "./raw-json.ts";
import type { ChatFacts } from "./read-head.ts";
import { carriedReasoningJson, joinReasoning, signatureOf } from "./reasoning-carrier.ts";
import { encodeStop, isProviderRefusal } from "./stop.ts";
import { writeUsage } from "./usage.ts";

/** Encodes a complete answer. */
export function encodeResponse(response: NeutralResponse, context: AnswerContext<ChatFacts>): EncodedAnswer {
  const error = errorOf(response, context.facts);
  if (error !== null) return { ok: false, error };
  const writer = new SegmentWriter();
  const model = response.model ?? context.upstreamModel;
  writer.glue(
    `{"id":${encodeString(context.makeId("chatcmpl-"))},"object":"chat.completion","created":${context.createdSeconds}`,
  );
  writer.glue(`,"model":${encodeString(model)},"choices":[`);
  response.candidates.forEach((candidate, index) => {
    if (index > 0) writer.glue(",");
    writeChoice(writer, candidate, context);
  });
  writer.glue("]");
  if (response.usage !== undefined) {
    writer.glue(',"usage":');
    writeUsage(writer, response.usage);
  }
  if (response.serviceTier !== undefined) writer.glue(`,"service_tier":${encodeString(response.serviceTier)}`);
  writeExtensions(writer, ownExtensions(response.extensions, context));
  writer.glue("}");
  return { ok: true, body: concat(writer.finish()) };
}

/** Why an answer cannot be given: its stop word is a failure, it holds nothing for this client, or too much. */
function errorOf(response: NeutralResponse, facts: ChatFacts): NeutralError | null {
  for (const { stop, parts } of response.candidates) {
    if (stop.reason === "error" || stop.reason === "malformed-tool-call")
      return stop.error ?? protocolError(`The provider ended the answer with "${stop.raw}".`);
    if (parts.length > 0 && parts.every((part) => !isRepresentable(part)))
      return { ...protocolError("unrepresentable_output"), retrySame: false };
    if (facts.usesDeprecatedFunctions && parts.filter((part) => part.type === "tool-call").length > 1)
      return protocolError("The provider made several tool calls, but the request used the form that holds one.");
  }
  return null;
}

function isRepresentable(part: Part): boolean {
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
    case "tool-call":
      return true;
    case "audio":
      return ownAudio(part) !== null;
    case "image":
    case "video":
    case "file":
    case "search-result":
    case "tool-result":
    case "server-tool":
    case "opaque":
      return false;
  }
}

/** Sound goes only where it came from: the audio object of this dialect. */
const ownAudio = (part: Part): Extension | null =>
  part.extensions?.find((extension) => extension.dialect === OPENAI_CHAT && extension.path === "audio") ?? null;

function writeChoice(writer: SegmentWriter, candidate: Candidate, context: AnswerContext<ChatFacts>): void {
  const { index, stop, logprobs } = candidate;
  const own = ownExtensions(candidate.extensions ?? [], context);
  writer.glue(`{"index":${index},"message":{"role":"assistant","content":`);
  writeMessage(writer, candidate, context);
  writeExtensions(
    writer,
    own.filter((extension) => extension.path.startsWith("message.")),
    "message.",
  );
  writer.glue('},"logprobs":');
  if (logprobs === undefined) writer.glue("null");
  else writeRaw(writer, logprobs);
  writer.glue(`,"finish_reason":"${encodeStop(stop, context.facts.usesDeprecatedFunctions)}"`);
  writeExtensions(
    writer,
    own.filter((extension) => !extension.path.startsWith("message.")),
  );
  writer.glue("}");
}

function writeMessage(writer: SegmentWriter, candidate: Candidate, context: AnswerContext<ChatFacts>): void {
  const { parts, stop } = candidate;
  const texts: Text[] = [];
  const refusals: Text[] = [];
  const reasoning: ReasoningPart[] = [];
  const calls: ToolCallPart[] = [];
  let annotations: string | null = null;
  let audio: Extension | null = null;
  for (const part of parts) {
    if (part.type === "text") {
      texts.push(part.text);
      annotations ??= part.annotations === undefined ? null : annotationsJson(part.annotations);
    } else if (part.type === "refusal") refusals.push(part.text);
    else if (part.type === "reasoning") reasoning.push(part);
    else if (part.type === "tool-call") calls.push(part);
    else if (isRepresentable(part)) audio = ownAudio(part);
    else context.count("response_extra_omitted");
  }
  if (isProviderRefusal(stop) && stop.detail?.explanation !== undefined) refusals.push(stop.detail.explanation);
  const isNull =
    texts.length === 0 && (calls.length > 0 || refusals.length > 0 || audio !== null || isFiltered(candidate));
  if (isNull) writer.glue("null");
  else writeJoined(writer, texts);
  writer.glue(',"refusal":');
  if (refusals.length === 0) writer.glue("null");
  else writeJoined(writer, refusals);
  const field = reasoningFieldOf(context.options);
  if (field !== "none") writeReasoningText(writer, field, reasoning);
  if (annotations !== null) writer.glue(`,"annotations":${annotations}`);
  if (audio !== null) {
    writer.glue(',"audio":');
    writeRaw(writer, audio.raw);
  }
  if (calls.length > 0) writeCalls(writer, calls, context);
  writeCarrier(writer, reasoning, context, field !== "none");
}

const isFiltered = ({ stop }: Candidate): boolean => stop.reason === "content-filter" || isProviderRefusal(stop);

/** Several texts as one string token. */
function writeJoined(writer: SegmentWriter, texts: readonly Text[]): void {
  writer.glue('"');
  for (const text of texts) writer.inside(text);
  writer.glue('"');
}

function writeReasoningText(writer: SegmentWriter, field: string, parts: readonly ReasoningPart[]): void {
  const texts = parts.flatMap((part) => part.texts);
  if (texts.length === 0) return;
  writer.glue(`,"${field}":"`);
  texts.forEach((text, index) => {
    if (index > 0) writer.inside("\n\n");
    writer.inside(text);
  });
  writer.glue('"');
}

function writeCalls(writer: SegmentWriter, calls: readonly ToolCallPart[], context: AnswerContext<ChatFacts>): void {
  const [first] = calls;
  if (context.facts.usesDeprecatedFunctions && first !== undefined) {
    writer.glue(',"function_call":{"name":').token(first.name).glue(',"arguments":');
    writeArgumentsAsString(writer, first.arguments);
    writer.glue("}");
    return;
  }
  calls.forEach((call, index) => {
    writer.glue(index === 0 ? ',"tool_calls":[' : ",");
    writer.glue('{"id":').token(call.id);
    const name = textToString(call.name);
    const isWrapped = call.kind === "function" && context.toolMap?.wrappedCustom.has(name) === true;
    if (call.kind === "custom" || isWrapped) {
      writer.glue(',"type":"custom","custom":{"name":').token(call.name).glue(',"input":');
      if (isWrapped) writer.string(unwrapCustomInput(argumentsToText(call.arguments)));
      else writeArgumentsAsString(writer, call.arguments);
      writer.glue("}}");
    } else {
      writer.glue(',"type":"function","function":{"name":').token(call.name).glue(',"arguments":');
      writeArgumentsAsString(writer, call.arguments);
      writer.glue(`}${googleContentJson(call.signature)}}`);
    }
  });
  writer.glue("]");
}

/** Signed reasoning for the way back, see `reasoning-carrier.ts`. */
function writeCarrier(
  writer: SegmentWriter,
  reasoning: readonly ReasoningPart[],
  context: AnswerContext<ChatFacts>,
  isTextShown: boolean,
): void {
  const entries = reasoning.flatMap((part) => {
    const signature = signatureOf(part);
    return signature === null ? [] : [{ signature, text: joinReasoning(part.texts) }];
  });
  if (entries.length === 0) return;
  writer.glue(`,"extra_content":${carriedReasoningJson(entries, context.upstreamModel, isTextShown)}`);
}

/** Extensions of this dialect; others are counted, because an answer's extras are never an error. */
function ownExtensions(extensions: readonly Extension[], context: AnswerContext<ChatFacts>): readonly Extension[] {
  const own = extensions.filter((extension) => extension.dialect === OPENAI_CHAT && extension.header !== true);
  for (let index = own.length; index < extensions.length; index++) context.count("response_extra_omitted");
  return own;
}
