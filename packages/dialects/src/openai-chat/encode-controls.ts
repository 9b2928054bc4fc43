// Limits, sampling, reasoning, output form, caching and identity for a chat server: each member says what the server takes, or becomes an
// issue at the place where the client wrote it.
import { createHash } from "node:crypto";
import { numToNumber, textToString } from "@dragoman/core";
import type { Effort, NeutralRequest, Num, OutputFormat, ReasonCode, Text } from "@dragoman/core";

import { satisfiesStrictRules } from "../shared/schema-rules.ts";
import type { ChatEncoding } from "./encoding.ts";
import { writeNumber, writeRaw } from "./raw-json.ts";

const EFFORT_ORDER: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Thinking budgets below these bounds count as the effort beside them. */
const BUDGET_EFFORTS: readonly (readonly [below: number, effort: Effort])[] = [
  [2_048, "low"],
  [8_192, "medium"],
  [24_576, "high"],
];

/** Writes `response_format`, `verbosity`, `modalities` and `audio`. */
export function encodeOutput(encoding: ChatEncoding): void {
  const { request, issues, capabilities } = encoding;
  const { format, verbosity, modalities, audio } = request.output;
  if (format !== undefined) encodeFormat(encoding, format);
  if (verbosity !== undefined && verbosity !== "medium")
    encoding.optionalMember("verbosity", "verbosity_unsupported", encoding.originOf("verbosity"))?.string(verbosity);
  const wantsAudio = modalities?.includes("audio") === true || (audio !== undefined && !encoding.isOwn);
  if (wantsAudio && !(encoding.isOwn && capabilities.output.audio))
    issues.reject("audio_output_unsupported", encoding.originOf("modalities"), "The model makes no sound.");
  if (modalities?.includes("image") === true)
    issues.reject(
      "image_output_unsupported",
      encoding.originOf("modalities"),
      "Servers of this dialect make no images.",
    );
  if (wantsAudio) encoding.member("modalities").glue(JSON.stringify(modalities ?? ["text", "audio"]));
  if (audio !== undefined) writeRaw(encoding.member("audio"), audio);
}

function encodeFormat(encoding: ChatEncoding, format: OutputFormat): void {
  const { issues, profile, capabilities, isOwn } = encoding;
  const at = encoding.originOf("format");
  if (format.kind === "text") return;
  if (format.kind === "enum") {
    issues.reject("response_format_unsupported", at, "Servers of this dialect have no enum output.");
    return;
  }
  if (format.kind === "json-object") {
    if (capabilities.structured.jsonObject && profile.responseFormats.includes("json_object"))
      encoding.member("response_format").glue('{"type":"json_object"}');
    else issues.reject("response_format_unsupported", at, "The server has no JSON output.");
    return;
  }
  if (!capabilities.structured.jsonSchema || !profile.responseFormats.includes("json_schema")) {
    issues.reject("response_format_unsupported", at, "The server cannot hold its output to a schema.");
    return;
  }
  const { schema } = format;
  if (format.schemaDialect === "openapi" || (schema === undefined && !isOwn)) {
    issues.reject("schema_unsupported", at, "The output format must have a JSON Schema.");
    return;
  }
  const writer = encoding
    .member("response_format")
    .glue('{"type":"json_schema","json_schema":{"name":')
    .token(format.name ?? "response");
  if (format.description !== undefined) writer.glue(',"description":').token(format.description);
  if (schema !== undefined) {
    writer.glue(',"schema":');
    writeRaw(writer, schema);
  }
  const strict = format.strict ?? (isOwn || schema === undefined ? undefined : satisfiesStrictRules(schema));
  if (strict !== undefined) writer.glue(`,"strict":${strict}`);
  writer.glue("}}");
}

/** Writes `reasoning_effort`. */
export function encodeReasoning(encoding: ChatEncoding): void {
  const { request, issues, capabilities } = encoding;
  const { reasoning } = request;
  const at = encoding.originOf("reasoning");
  const { support, canDisable, defaultOn, efforts } = capabilities.reasoning;
  if (reasoning === undefined) {
    if (defaultOn && !encoding.isOwn)
      issues.adapt("reasoning_default", at, "The model reasons unless it is told otherwise.");
    return;
  }
  if (reasoning.mode === "between-tools") {
    issues.drop("reasoning_control_unsupported", at, "Servers of this dialect cannot reason between tools only.");
    return;
  }
  if (isOff(request)) {
    if (!support) return;
    const knowsWord = encoding.isOwn || efforts.length === 0 || efforts.includes("none");
    if (canDisable && knowsWord)
      encoding.optionalMember("reasoning_effort", "reasoning_control_unsupported", at)?.string("none");
    else if (!defaultOn && canDisable) return;
    else if (issues.drop("reasoning_control_unsupported", at, "The model cannot stop reasoning."))
      writeEffort(encoding, lowestEffort(efforts), at);
    return;
  }
  const wanted = reasoning.effort ?? effortOfBudget(reasoning.budgetTokens);
  if (wanted === undefined) return;
  if (!support) {
    issues.drop("reasoning_control_unsupported", at, "The model does not reason.");
    return;
  }
  if (reasoning.effort === undefined) issues.adapt("effort_mapped", at, "The budget is expressed as an effort.");
  const isBound = !capabilities.tools.withReasoning && request.tools.length > 0;
  if (isBound) issues.adapt("effort_mapped", at, "The model uses tools without reasoning only.");
  writeEffort(encoding, isBound ? "none" : wanted, at);
}

/** Whether the client turned reasoning off. */
function isOff({ reasoning }: NeutralRequest): boolean {
  return reasoning?.mode === "off" || reasoning?.effort === "none";
}

function effortOfBudget(budget: Num | undefined): Effort | undefined {
  if (budget === undefined) return undefined;
  const tokens = numToNumber(budget);
  // −1 leaves the budget to the model, which is what saying nothing does here.
  if (tokens < 0) return undefined;
  return BUDGET_EFFORTS.find(([below]) => tokens < below)?.[1] ?? "xhigh";
}

const lowestEffort = (efforts: readonly Effort[]): Effort =>
  EFFORT_ORDER.find((effort) => effort !== "none" && efforts.includes(effort)) ?? "low";

function writeEffort(encoding: ChatEncoding, wanted: Effort, at: string): void {
  const effort = nearestEffort(wanted, encoding.capabilities.reasoning.efforts);
  if (effort !== wanted) encoding.issues.adapt("effort_mapped", at, `The model's nearest effort is ${effort}.`);
  encoding.optionalMember("reasoning_effort", "reasoning_control_unsupported", at)?.string(effort);
}

/** The word itself where it is listed or nothing is; else the nearest lower one that is listed, else the nearest higher one. */
function nearestEffort(wanted: Effort, listed: readonly Effort[]): Effort {
  if (listed.length === 0 || listed.includes(wanted)) return wanted;
  const place = EFFORT_ORDER.indexOf(wanted);
  const thinking = EFFORT_ORDER.filter((effort) => effort !== "none" && listed.includes(effort));
  const lower = thinking.filter((effort) => EFFORT_ORDER.indexOf(effort) < place);
  return lower.at(-1) ?? thinking[0] ?? wanted;
}

/** Writes the output limit, sampling members, `n`, `stop` and log probabilities. */
export function encodeLimits(encoding: ChatEncoding): void {
  const { request, issues, capabilities, profile } = encoding;
  const { maxOutputTokens, n, stop, logprobs } = request;
  if (maxOutputTokens !== undefined) writeNumber(encoding.member(profile.maxTokensField), maxOutputTokens);
  encodeSampling(encoding);
  if (n !== undefined && numToNumber(n) !== 1) {
    if (numToNumber(n) > capabilities.maxN)
      issues.reject("n_unsupported", encoding.originOf("n"), "The server gives one answer.");
    else encodeNumber(encoding, "n", n, "n_unsupported", "n");
  }
  if (stop !== undefined && stop.length > 0) encodeStopSequences(encoding, stop);
  if (logprobs === undefined) return;
  if (!capabilities.logprobs)
    issues.reject("logprobs_unsupported", encoding.originOf("logprobs"), "The model gives no log probabilities.");
  encoding.optionalMember("logprobs", "logprobs_unsupported", encoding.originOf("logprobs"))?.glue("true");
  if (logprobs.top > 0)
    encoding
      .optionalMember("top_logprobs", "logprobs_unsupported", encoding.originOf("logprobs"))
      ?.number(logprobs.top);
}

function encodeStopSequences(encoding: ChatEncoding, stop: readonly Text[]): void {
  const { issues, capabilities } = encoding;
  const at = encoding.originOf("stop");
  const max = capabilities.stop.max ?? 4;
  if (!capabilities.stop.supported)
    issues.reject("stop_sequences_unsupported", at, "The model takes no stop sequences.");
  else if (stop.length > max)
    issues.reject("stop_sequences_limit", at, `The server takes at most ${max} stop sequences.`);
  const writer = encoding.optionalMember("stop", "stop_sequences_unsupported", at);
  if (writer === null) return;
  stop.forEach((text, index) => writer.glue(index === 0 ? "[" : ",").token(text));
  writer.glue("]");
}

function encodeSampling(encoding: ChatEncoding): void {
  const { request, issues, capabilities, profile } = encoding;
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed, logitBias } = request.sampling;
  const keepsTopP = !isConflict(encoding);
  if (temperature !== undefined && isTemperatureTaken(encoding, temperature))
    encodeNumber(encoding, "temperature", temperature, "sampling_unsupported", "temperature");
  if (topP !== undefined && keepsTopP && isSamplingTaken(encoding, topP, "topP"))
    encodeNumber(encoding, "top_p", topP, "sampling_unsupported", "topP");
  if (topK !== undefined) {
    const isKnown = capabilities.topK && profile.extraAccepts.includes("top_k");
    if (isKnown) writeNumber(encoding.member("top_k"), topK);
    else issues.drop("top_k_unsupported", encoding.originOf("topK"), "The server has no top_k.");
  }
  const penalties = [
    ["presence_penalty", presencePenalty, "presencePenalty"],
    ["frequency_penalty", frequencyPenalty, "frequencyPenalty"],
  ] as const;
  for (const [name, penalty, member] of penalties) {
    if (penalty === undefined) continue;
    if (capabilities.penalties) encodeNumber(encoding, name, penalty, "penalty_unsupported", member);
    else issues.drop("penalty_unsupported", encoding.originOf(member), "The model takes no penalties.");
  }
  if (seed !== undefined) {
    if (capabilities.seed) encodeNumber(encoding, profile.seedField, seed, "seed_unsupported", "seed");
    else issues.drop("seed_unsupported", encoding.originOf("seed"), "The model takes no seed.");
  }
  if (logitBias === undefined) return;
  const writer = encoding.isOwn
    ? encoding.optionalMember("logit_bias", "logit_bias_unsupported", encoding.originOf("logitBias"))
    : null;
  if (writer !== null) writeRaw(writer, logitBias);
  else if (!encoding.isOwn)
    issues.reject("logit_bias_unsupported", encoding.originOf("logitBias"), "Token ids differ between models.");
}

/** One of the two must go on models that take one; losing top_p is the smaller change. */
function isConflict(encoding: ChatEncoding): boolean {
  const { request, issues, capabilities } = encoding;
  const { temperature, topP } = request.sampling;
  if (capabilities.sampling !== "temperature-xor-top_p" || temperature === undefined || topP === undefined)
    return false;
  issues.drop("sampling_conflict", encoding.originOf("topP"), "The model takes temperature or top_p, not both.");
  return true;
}

function isTemperatureTaken(encoding: ChatEncoding, temperature: Num): boolean {
  const { issues, capabilities } = encoding;
  if (numToNumber(temperature) > capabilities.temperatureMax) {
    const detail = `The model takes temperatures up to ${capabilities.temperatureMax}.`;
    issues.drop("sampling_out_of_range", encoding.originOf("temperature"), detail);
    return false;
  }
  return isSamplingTaken(encoding, temperature, "temperature");
}

/** Models that reason take the default value only, which they use anyway. */
function isSamplingTaken(encoding: ChatEncoding, value: Num, member: "temperature" | "topP"): boolean {
  const { request, issues, capabilities } = encoding;
  const { sampling, reasoning } = capabilities;
  const reasons = sampling === "only-when-reasoning-off" && !isReasoningOff(request, reasoning.defaultOn);
  if (sampling !== "none" && !reasons) return true;
  if (numToNumber(value) === 1) return true;
  const detail = reasons
    ? "The model samples freely only while it does not reason."
    : "The model takes no sampling members.";
  issues.drop("sampling_unsupported", encoding.originOf(member), detail);
  return false;
}

function isReasoningOff(request: NeutralRequest, isOnByDefault: boolean): boolean {
  return request.reasoning === undefined ? !isOnByDefault : isOff(request);
}

function encodeNumber(encoding: ChatEncoding, name: string, number: Num, code: ReasonCode, member: string): void {
  const writer = encoding.optionalMember(name, code, encoding.originOf(member));
  if (writer !== null) writeNumber(writer, number);
}

/** Writes identity, metadata, tiers, storage and caching members, and refuses state that lives elsewhere. */
export function encodeOperations(encoding: ChatEncoding): void {
  const { request, issues } = encoding;
  encodeIdentity(encoding);
  if (request.metadata !== undefined && request.metadata.length > 0) encodeMetadata(encoding, request.metadata);
  encodeTier(encoding);
  if (request.store === true) {
    if (encoding.isOwn) encoding.optionalMember("store", "store_unsupported", encoding.originOf("store"))?.glue("true");
    else issues.drop("store_unsupported", encoding.originOf("store"), "Answers are not stored at this provider.");
  }
  encodeCache(encoding);
  refuseState(encoding);
  if (request.betas !== undefined && request.betas.length > 0)
    issues.adapt("beta_ignored", encoding.originOf("betas"), "Beta names of another dialect mean nothing here.");
}

/** Longest end-user id that the vendor takes; a longer one is replaced by its digest. */
const MAX_USER_LENGTH = 64;

function encodeIdentity(encoding: ChatEncoding): void {
  const { request, profile, issues, isOwn } = encoding;
  const { endUser, safetyId } = request.identity;
  if (isOwn && profile.endUserField === "safety_identifier") {
    if (safetyId !== undefined) encoding.member("safety_identifier").token(safetyId);
    if (endUser !== undefined) encoding.member("user").token(endUser);
    return;
  }
  const user = safetyId ?? endUser;
  if (user === undefined) return;
  const at = encoding.originOf(safetyId === undefined ? "endUser" : "safetyId");
  const writer = encoding.optionalMember(profile.endUserField, "end_user_unsupported", at);
  if (writer === null) return;
  const id = textToString(user);
  if (id.length <= MAX_USER_LENGTH) writer.token(user);
  else {
    issues.adapt("value_adapted", at, "The end-user id is longer than the server takes; its digest is sent.");
    writer.string(createHash("sha256").update(id, "utf8").digest("hex"));
  }
}

function encodeMetadata(encoding: ChatEncoding, pairs: readonly (readonly [Text, Text])[]): void {
  const writer = encoding.optionalMember("metadata", "metadata_unsupported", encoding.originOf("metadata"));
  if (writer === null) return;
  pairs.forEach(([key, value], index) =>
    writer
      .glue(index === 0 ? "{" : ",")
      .token(key)
      .glue(":")
      .token(value),
  );
  writer.glue("}");
}

function encodeTier(encoding: ChatEncoding): void {
  const { request, issues, profile } = encoding;
  const tier = request.serviceTier;
  if (request.speed === "fast")
    issues.drop("service_tier_unsupported", encoding.originOf("speed"), "The server has no fast mode of this kind.");
  if (tier === undefined || tier === "auto") return;
  if (profile.serviceTiers.includes(tier))
    encoding.optionalMember("service_tier", "service_tier_unsupported", encoding.originOf("serviceTier"))?.string(tier);
  else if (tier !== "default")
    issues.drop("service_tier_unsupported", encoding.originOf("serviceTier"), "The server has no such tier.");
  else issues.adapt("value_adapted", encoding.originOf("serviceTier"), "The server has one tier.");
}

function encodeCache(encoding: ChatEncoding): void {
  const { request, issues, profile } = encoding;
  const { auto, mode, key, retention, reference, prewarm } = request.cache;
  if (auto !== undefined)
    issues.adapt("cache_automatic", encoding.originOf("cacheAuto"), "The server caches prefixes by itself.");
  if (reference !== undefined)
    issues.reject(
      "cached_content_unsupported",
      encoding.originOf("cacheReference"),
      "Cached content of another provider cannot be named here.",
    );
  if (prewarm === true)
    issues.reject(
      "cache_prewarm_unsupported",
      encoding.originOf("maxOutputTokens"),
      "The server has no call that only fills its cache.",
    );
  const hint = (name: string, member: string): ReturnType<ChatEncoding["optionalMember"]> => {
    if (profile.promptCaching) return encoding.optionalMember(name, "cache_hint", encoding.originOf(member));
    issues.drop("cache_hint", encoding.originOf(member), "The server takes no cache hints.");
    return null;
  };
  if (mode === "explicit") hint("prompt_cache_options", "cacheMode")?.glue('{"mode":"explicit"}');
  if (key !== undefined) hint("prompt_cache_key", "cacheKey")?.token(key);
  if (retention !== undefined) hint("prompt_cache_retention", "cacheRetention")?.string(retention);
}

const STATE_CODES: readonly (readonly [member: keyof NonNullable<NeutralRequest["state"]>, code: ReasonCode])[] = [
  ["previousResponseId", "stateful_unsupported"],
  ["conversation", "stateful_unsupported"],
  ["background", "background_unsupported"],
  ["prompt", "prompt_template_unsupported"],
  ["itemReferences", "stateful_unsupported"],
  ["thread", "stateful_unsupported"],
];

function refuseState(encoding: ChatEncoding): void {
  const { state } = encoding.request;
  if (state === undefined) return;
  for (const [member, code] of STATE_CODES)
    if (state[member] !== undefined && state[member] !== false)
      encoding.issues.reject(
        code,
        encoding.originOf(member),
        "Servers of this dialect keep no state between requests.",
      );
}
