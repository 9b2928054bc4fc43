/** Reports the members of a neutral request for which this dialect has no place at all. */
import { numToNumber } from "@dragoman/core";

import type { Encoding } from "./encoding.ts";
import { ANTHROPIC } from "./members.ts";

/** Adds the issues of every member without a place; what has one in part is reported by those who write it. */
export function reportUnsupported(encoding: Encoding): void {
  reportSampling(encoding);
  reportOutput(encoding);
  reportCache(encoding);
  reportState(encoding);
  reportIdentity(encoding);
}

function reportSampling(encoding: Encoding): void {
  const { issues, request } = encoding;
  const { presencePenalty, frequencyPenalty, seed, logitBias } = request.sampling;
  const penalty = "This dialect has no penalties.";
  if (presencePenalty !== undefined) issues.drop("penalty_unsupported", encoding.originOf("presencePenalty"), penalty);
  if (frequencyPenalty !== undefined)
    issues.drop("penalty_unsupported", encoding.originOf("frequencyPenalty"), penalty);
  if (seed !== undefined) issues.drop("seed_unsupported", encoding.originOf("seed"), "This dialect has no seed.");
  if (logitBias !== undefined)
    issues.reject("logit_bias_unsupported", encoding.originOf("logitBias"), "This dialect has no logit bias.");
}

function reportOutput(encoding: Encoding): void {
  const { request, issues } = encoding;
  const { output, n, logprobs } = request;
  if (n !== undefined && numToNumber(n) > 1)
    issues.reject("n_unsupported", encoding.originOf("n"), "This dialect gives one answer.");
  if (logprobs !== undefined)
    issues.reject("logprobs_unsupported", encoding.originOf("logprobs"), "This dialect has no logprobs.");
  if (output.verbosity !== undefined) {
    issues.drop("verbosity_unsupported", encoding.originOf("verbosity"), "This dialect has no verbosity.");
  }
  if (output.modalities?.includes("audio") === true || output.audio !== undefined) {
    const member = output.modalities?.includes("audio") === true ? "modalities" : "audio";
    issues.reject("audio_output_unsupported", encoding.originOf(member), "This dialect answers in text.");
  }
  if (output.modalities?.includes("image") === true) {
    issues.reject("image_output_unsupported", encoding.originOf("modalities"), "This dialect answers in text.");
  }
}

function reportCache(encoding: Encoding): void {
  const { request, issues } = encoding;
  const { key, mode, retention, reference } = request.cache;
  const detail = "Cache keys, modes and retention have no place in this dialect.";
  if (key !== undefined) issues.drop("cache_hint", encoding.originOf("cacheKey"), detail);
  if (mode !== undefined && mode !== "implicit") issues.drop("cache_hint", encoding.originOf("cacheMode"), detail);
  if (retention !== undefined) issues.drop("cache_hint", encoding.originOf("cacheRetention"), detail);
  if (reference !== undefined) {
    issues.reject(
      "cached_content_unsupported",
      encoding.originOf("cacheReference"),
      "The cached content lives at another provider.",
    );
  }
}

function reportState(encoding: Encoding): void {
  const { request, issues, target } = encoding;
  const { state } = request;
  if (state === undefined) return;
  const at = encoding.originOf("state");
  const isElsewhere =
    state.previousResponseId !== undefined ||
    state.conversation !== undefined ||
    (state.itemReferences?.length ?? 0) > 0;
  if (isElsewhere) issues.reject("stateful_unsupported", at, "The conversation's state lives at another provider.");
  if (state.thread !== undefined && (request.source !== ANTHROPIC || !target.isOnlyAccount)) {
    issues.reject("stateful_unsupported", at, "A thread lives at one upstream account, and others could serve this.");
  }
  if (state.background === true)
    issues.reject("background_unsupported", at, "This dialect does not answer in the background.");
  if (state.prompt !== undefined)
    issues.reject("prompt_template_unsupported", at, "Prompt templates live at another provider.");
}

function reportIdentity(encoding: Encoding): void {
  const { request, issues } = encoding;
  if (request.metadata !== undefined && request.metadata.length > 0) {
    issues.drop("metadata_unsupported", encoding.originOf("metadata"), "This dialect takes no metadata but the user.");
  }
  if (request.store === true)
    issues.drop("store_unsupported", encoding.originOf("store"), "This dialect stores no answers.");
  const tier = request.serviceTier;
  if (tier !== undefined && tier !== "auto" && tier !== "default") {
    issues.drop("service_tier_unsupported", encoding.originOf("serviceTier"), "The tier has no place in this dialect.");
  }
  if (request.speed === "fast" && request.source !== ANTHROPIC) {
    issues.drop("service_tier_unsupported", encoding.originOf("speed"), "The speed has no place in this dialect.");
  }
}
