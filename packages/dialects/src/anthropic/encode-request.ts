/**
 * The neutral request as a body of this dialect; at the same time the dry run: everything that stands against the deployment is
 * gathered before the verdict. Members are written in a fixed order, large texts and schemas as slices of the client's bytes.
 */
import {
  isSlice,
  numToNumber,
  SegmentWriter,
  textToString,
  type EncodeResult,
  type EncodeTarget,
  type NeutralRequest,
  type Num,
} from "@dragoman/core";

import { CacheMarks, countMarks } from "./cache-marks.ts";
import { MessageWriter } from "./encode-messages.ts";
import { planThinking, type ThinkingPlan } from "./encode-reasoning.ts";
import { planSampling, type SamplingPlan } from "./encode-sampling.ts";
import { selectTools, ToolNames, ToolWriter, writeToolChoice } from "./encode-tools.ts";
import { Encoding } from "./encoding.ts";
import { requestPath } from "./forward-request.ts";
import { ANTHROPIC, CURRENT_API_VERSION, SAMPLING_API_VERSION } from "./members.ts";
import { planTurns, type Conversation } from "./plan-turns.ts";
import { profileOf } from "./profiles.ts";
import { reportUnsupported } from "./report-unsupported.ts";
import { fitSchema } from "./schema-subset.ts";
import { isBlankText } from "./text-checks.ts";
import { allowedBetas, versionHeaders } from "./version-headers.ts";

/** Paths into objects that are written with what they hold; other names may have dots of their own. */
const NESTED_PATH = /^(?:thinking|output_config|metadata|tool_choice|cache_control)\./;
/** Limit of `metadata.user_id` in the vendor's published API schema. */
const MAX_USER_LENGTH = 256;

class RequestEncoder {
  readonly #encoding: Encoding;
  readonly #writer = new SegmentWriter();

  constructor(request: NeutralRequest, target: EncodeTarget) {
    this.#encoding = new Encoding(request, target);
  }

  encode(): EncodeResult {
    const encoding = this.#encoding;
    const { request, target, issues } = encoding;
    const isCount = request.operation === "count-tokens";
    if (request.operation === "embed") issues.reject("capability_missing", "", "This dialect makes no embeddings.");
    reportUnsupported(encoding);
    const conversation = planTurns(encoding);
    const tools = selectTools(encoding);
    const names = new ToolNames(encoding);
    const maxTokens = isCount ? null : this.#planMaxTokens();
    const thinking = planThinking(encoding, conversation.turns, maxTokens === null ? null : numToNumber(maxTokens));
    const isThinking = thinking.mode === "adaptive" || thinking.mode === "enabled" || thinking.mode === "between_tools";
    const sampling = planSampling(encoding, isThinking);
    const marks = new CacheMarks(encoding, marksIn(conversation, request));

    const writer = this.#writer;
    writer.glue('{"model":').string(target.model);
    if (maxTokens !== null) this.#writeNumber("max_tokens", maxTokens);
    this.#writeConversation(conversation, tools, names, marks);
    writeToolChoice(encoding, names, writer, {
      hasTools: tools.length > 0,
      isThinkingBudgeted: thinking.mode === "enabled",
    });
    this.#writeThinking(thinking);
    this.#writeOutputConfig(thinking);
    if (!isCount) this.#writeGenerationMembers(sampling);
    this.#writeCacheAndSpeed(marks);
    this.#writeOwnExtensions(isCount);
    writer.glue("}");
    if (issues.isRefused) return { ok: false, issues: issues.issues };
    return {
      ok: true,
      encoded: {
        body: writer.finish(),
        path: requestPath(request.operation),
        headers: versionHeaders(this.#version(sampling), this.#betas()),
        toolMap: names.toolMap(),
      },
      issues: issues.issues,
    };
  }

  /** Tools stand after the messages in the body, but are first in the provider's cache prefix. */
  #writeConversation(
    conversation: Conversation,
    tools: ReturnType<typeof selectTools>,
    names: ToolNames,
    marks: CacheMarks,
  ): void {
    const toolsText = new SegmentWriter();
    new ToolWriter(this.#encoding, marks, names, toolsText).write(tools);
    const messages = new MessageWriter(this.#encoding, marks, names, this.#writer);
    messages.writeSystem(conversation);
    messages.writeTurns(conversation);
    for (const part of toolsText.finish().parts) this.#writer.bytes(part);
  }

  #planMaxTokens(): Num {
    const { request, target, issues } = this.#encoding;
    if (request.cache.prewarm === true) return 0;
    if (request.maxOutputTokens !== undefined) return request.maxOutputTokens;
    const { defaultMaxOutputTokens, maxOutputTokens } = target.capabilities;
    const chosen = defaultMaxOutputTokens ?? maxOutputTokens;
    const at = this.#encoding.originOf("maxOutputTokens");
    if (chosen === undefined) {
      issues.reject("max_tokens_unknown", at, "The dialect needs an output limit, and none is known for the model.");
      return 1;
    }
    issues.adapt("max_tokens_defaulted", at, "The deployment's output limit was written.");
    return chosen;
  }

  #writeThinking({ mode, budgetTokens, display }: ThinkingPlan): void {
    if (mode === null) return;
    const writer = this.#writer;
    writer.glue(`,"thinking":{"type":"${mode}"`);
    if (budgetTokens !== null) this.#writeNumber("budget_tokens", budgetTokens);
    if (display !== null) writer.glue(`,"display":"${display}"`);
    this.#writeNested("thinking");
    writer.glue("}");
  }

  #writeOutputConfig({ effort }: ThinkingPlan): void {
    const { format } = this.#encoding.request.output;
    const members = new SegmentWriter();
    if (effort !== null) members.glue(`,"effort":"${effort}"`);
    if (format !== undefined && format.kind !== "text") this.#writeFormat(members);
    for (const { name, raw } of this.#nestedExtensions("output_config"))
      members.glue(`,${JSON.stringify(name)}:`).raw(raw);
    this.#writeObject("output_config", members);
  }

  #writeFormat(writer: SegmentWriter): void {
    const encoding = this.#encoding;
    const { issues, target, request } = encoding;
    const { format } = request.output;
    const at = encoding.originOf("format");
    if (format?.kind !== "json-schema" || !target.capabilities.structured.jsonSchema) {
      issues.reject("response_format_unsupported", at, "The deployment cannot be held to this output format.");
      return;
    }
    if (format.schema === undefined) {
      issues.reject("schema_unsupported", at, "The output format has no schema.");
      return;
    }
    if (format.name !== undefined || format.description !== undefined || format.strict === false) {
      issues.adapt("format_adapted", at, "The format has no name here, and is always enforced.");
    }
    const fit = fitSchema(format.schema);
    writer.glue(',"format":{"type":"json_schema","schema":');
    if (fit.fits === "never" || (fit.fits === "droppable" && !issues.allows("schema_keywords_dropped"))) {
      issues.reject("schema_unsupported", at, "The schema has keywords that the dialect cannot enforce.");
    } else if (fit.fits === "exactly") {
      if (isSlice(format.schema)) writer.raw(format.schema);
      else writer.glue(JSON.stringify(format.schema.value));
    } else {
      if (fit.fits === "droppable") issues.drop("schema_keywords_dropped", at, "Keywords became text in descriptions.");
      else issues.adapt("schema_adapted", at, "oneOf is written as anyOf.");
      for (const part of fit.schema) writer.bytes(part);
    }
    encoding.writeInner(writer, request.extensions, "output_config.format");
    writer.glue("}");
  }

  #writeGenerationMembers({ temperature, topP, topK }: SamplingPlan): void {
    const writer = this.#writer;
    const { request } = this.#encoding;
    this.#writeStop();
    if (temperature !== null) this.#writeNumber("temperature", temperature);
    if (topP !== null) this.#writeNumber("top_p", topP);
    if (topK !== null) this.#writeNumber("top_k", topK);
    this.#writeMetadata();
    if (request.serviceTier === "default") writer.glue(',"service_tier":"standard_only"');
    if (request.state?.thread !== undefined && isSlice(request.state.thread))
      writer.glue(',"thread":').raw(request.state.thread);
    if (request.stream) writer.glue(',"stream":true');
  }

  #writeMetadata(): void {
    const { request, issues } = this.#encoding;
    const { safetyId, endUser } = request.identity;
    const user = safetyId ?? endUser;
    const members = new SegmentWriter();
    if (user !== undefined) {
      const isTooLong = textToString(user).length > MAX_USER_LENGTH;
      const at = this.#encoding.originOf(safetyId === undefined ? "endUser" : "safetyId");
      if (isTooLong)
        issues.drop("end_user_unsupported", at, `The end user's id is longer than ${MAX_USER_LENGTH} characters.`);
      else members.glue(',"user_id":').token(user);
    }
    for (const { name, raw } of this.#nestedExtensions("metadata")) members.glue(`,${JSON.stringify(name)}:`).raw(raw);
    this.#writeObject("metadata", members);
  }

  /** Writes an object of members that each begin with a comma, or nothing when there are none. */
  #writeObject(name: string, members: SegmentWriter): void {
    const { parts, byteLength } = members.finish();
    if (byteLength === 0) return;
    this.#writer.glue(`,"${name}":{`);
    parts.forEach((part, index) => this.#writer.bytes(index === 0 ? part.subarray(1) : part));
    this.#writer.glue("}");
  }

  #writeStop(): void {
    const encoding = this.#encoding;
    const { request, target, issues } = encoding;
    const { stop } = request;
    if (stop === undefined || stop.length === 0) return;
    const at = encoding.originOf("stop");
    const { supported, max } = target.capabilities.stop;
    if (!supported) issues.reject("stop_sequences_unsupported", at, "The model takes no stop sequences.");
    if (max !== undefined && stop.length > max)
      issues.reject("stop_sequences_limit", at, `The deployment takes at most ${max} stop sequences.`);
    if (stop.some(isBlankText))
      issues.reject("stop_sequences_unsupported", at, "A stop sequence must not be only white space.");
    this.#writer.glue(',"stop_sequences":[');
    stop.forEach((text, index) => {
      if (index > 0) this.#writer.glue(",");
      this.#writer.token(text);
    });
    this.#writer.glue("]");
  }

  #writeCacheAndSpeed(marks: CacheMarks): void {
    const { request, issues, target } = this.#encoding;
    const { auto } = request.cache;
    if (auto !== undefined) {
      const at = this.#encoding.originOf("cacheAuto");
      const { extensions } = request;
      if (target.capabilities.explicitCache) marks.writeMark(this.#writer, auto, { at, extensions });
      else issues.adapt("cache_automatic", at, "The deployment caches without being told.");
    }
    if (request.speed === "fast") this.#writer.glue(',"speed":"fast"');
  }

  #writeOwnExtensions(isCount: boolean): void {
    const { request } = this.#encoding;
    const own = this.#encoding.ownExtensions(request.extensions);
    if (isCount) return;
    for (const { path, raw } of own) {
      if (!NESTED_PATH.test(path) && isSlice(raw)) this.#writer.glue(`,${JSON.stringify(path)}:`).raw(raw);
    }
  }

  #nestedExtensions(parent: string): readonly {
    readonly name: string;
    readonly raw: Extract<NeutralRequest["extensions"][number]["raw"], { bytes: Uint8Array }>;
  }[] {
    const found = [];
    for (const { dialect, path, raw } of this.#encoding.request.extensions) {
      const isDirect = path.startsWith(`${parent}.`) && !path.slice(parent.length + 1).includes(".");
      if (dialect === ANTHROPIC && isDirect && isSlice(raw)) found.push({ name: path.slice(parent.length + 1), raw });
    }
    return found;
  }

  #writeNested(parent: string): void {
    for (const { name, raw } of this.#nestedExtensions(parent)) this.#writer.glue(`,${JSON.stringify(name)}:`).raw(raw);
  }

  #writeNumber(name: string, value: Num): void {
    this.#writer.glue(`,"${name}":`);
    if (typeof value === "number") this.#writer.number(value);
    else this.#writer.raw(value);
  }

  /** Sampling members exist in the older version only. */
  #version({ temperature, topP, topK }: SamplingPlan): string {
    const { request, target } = this.#encoding;
    const pinned = profileOf(target.profile).apiVersion;
    if (pinned !== null) return pinned;
    if (request.source === ANTHROPIC && request.apiVersion !== undefined) return request.apiVersion;
    return temperature === null && topP === null && topK === null ? CURRENT_API_VERSION : SAMPLING_API_VERSION;
  }

  /** Betas are this dialect's own clients' business. */
  #betas(): readonly string[] {
    const { request, target } = this.#encoding;
    return request.source === ANTHROPIC ? allowedBetas(request.betas ?? [], target.options) : [];
  }
}

const marksIn = ({ system, turns }: Conversation, { tools }: NeutralRequest): number =>
  countMarks(system) +
  turns.reduce((sum, turn) => sum + countMarks(turn.parts), 0) +
  tools.filter((tool) => tool.kind === "function" && tool.cacheBreakpoint !== undefined).length;

/** Encodes a request for an upstream of this dialect, or says everything that stands against it. */
export function encodeRequest(request: NeutralRequest, target: EncodeTarget): EncodeResult {
  return new RequestEncoder(request, target).encode();
}
