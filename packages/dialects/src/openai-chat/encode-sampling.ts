// Limits and sampling for a chat server: each member says what the model takes, or becomes an issue at the place where the client wrote
// it.
import { numToNumber } from "@dragoman/core";
import type { NeutralRequest, Num, ReasonCode, Text } from "@dragoman/core";

import { isReasoningOff } from "./encode-reasoning.ts";
import type { ChatEncoding } from "./encoding.ts";
import { writeNumber, writeRaw } from "./raw-json.ts";

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
  const reasons = sampling === "only-when-reasoning-off" && !isOffOrSilent(request, reasoning.defaultOn);
  if (sampling !== "none" && !reasons) return true;
  if (numToNumber(value) === 1) return true;
  const detail = reasons
    ? "The model samples freely only while it does not reason."
    : "The model takes no sampling members.";
  issues.drop("sampling_unsupported", encoding.originOf(member), detail);
  return false;
}

function isOffOrSilent(request: NeutralRequest, isOnByDefault: boolean): boolean {
  return request.reasoning === undefined ? !isOnByDefault : isReasoningOff(request);
}

function encodeNumber(encoding: ChatEncoding, name: string, number: Num, code: ReasonCode, member: string): void {
  const writer = encoding.optionalMember(name, code, encoding.originOf(member));
  if (writer !== null) writeNumber(writer, number);
}
