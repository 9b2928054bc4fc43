/** Members of a request for which Ollama has no place at all. Each becomes an issue at the place where the client wrote it. */
import { numToNumber } from "@dragoman/core";
import type { NeutralRequest, ReasonCode } from "@dragoman/core";

import type { Encoding } from "./encoding.ts";

interface Row {
  readonly member: string;
  readonly code: ReasonCode;
  readonly isAsked: (request: NeutralRequest) => boolean;
}

/** What would make another answer: such a request goes to somebody else. */
const REFUSED: readonly Row[] = [
  { member: "operation", code: "capability_missing", isAsked: ({ operation }) => operation !== "generate" },
  { member: "n", code: "n_unsupported", isAsked: ({ n }) => n !== undefined && numToNumber(n) !== 1 },
  { member: "logprobs", code: "logprobs_unsupported", isAsked: ({ logprobs }) => logprobs !== undefined },
  { member: "logitBias", code: "logit_bias_unsupported", isAsked: ({ sampling }) => sampling.logitBias !== undefined },
  {
    member: "modalities",
    code: "audio_output_unsupported",
    isAsked: ({ output }) => output.modalities?.includes("audio") === true,
  },
  { member: "audio", code: "audio_output_unsupported", isAsked: ({ output }) => output.audio !== undefined },
  {
    member: "modalities",
    code: "image_output_unsupported",
    isAsked: ({ output }) => output.modalities?.includes("image") === true,
  },
  {
    member: "cacheReference",
    code: "cached_content_unsupported",
    isAsked: ({ cache }) => cache.reference !== undefined,
  },
  { member: "maxOutputTokens", code: "cache_prewarm_unsupported", isAsked: ({ cache }) => cache.prewarm === true },
  {
    member: "previousResponseId",
    code: "stateful_unsupported",
    isAsked: ({ state }) => state?.previousResponseId !== undefined,
  },
  { member: "conversation", code: "stateful_unsupported", isAsked: ({ state }) => state?.conversation !== undefined },
  { member: "thread", code: "stateful_unsupported", isAsked: ({ state }) => state?.thread !== undefined },
  {
    member: "itemReferences",
    code: "stateful_unsupported",
    isAsked: ({ state }) => (state?.itemReferences ?? []).length > 0,
  },
  { member: "background", code: "background_unsupported", isAsked: ({ state }) => state?.background === true },
  { member: "prompt", code: "prompt_template_unsupported", isAsked: ({ state }) => state?.prompt !== undefined },
];

/** What can be lost where the configuration allows it. */
const DROPPED: readonly Row[] = [
  {
    member: "verbosity",
    code: "verbosity_unsupported",
    isAsked: ({ output }) => (output.verbosity ?? "medium") !== "medium",
  },
  { member: "cacheMode", code: "cache_hint", isAsked: ({ cache }) => cache.mode === "explicit" },
  { member: "cacheKey", code: "cache_hint", isAsked: ({ cache }) => cache.key !== undefined },
  { member: "cacheRetention", code: "cache_hint", isAsked: ({ cache }) => cache.retention !== undefined },
  { member: "endUser", code: "end_user_unsupported", isAsked: ({ identity }) => identity.endUser !== undefined },
  { member: "safetyId", code: "end_user_unsupported", isAsked: ({ identity }) => identity.safetyId !== undefined },
  { member: "metadata", code: "metadata_unsupported", isAsked: ({ metadata }) => (metadata ?? []).length > 0 },
  {
    member: "serviceTier",
    code: "service_tier_unsupported",
    isAsked: ({ serviceTier }) => serviceTier !== undefined && serviceTier !== "auto" && serviceTier !== "default",
  },
  { member: "speed", code: "service_tier_unsupported", isAsked: ({ speed }) => speed === "fast" },
  { member: "store", code: "store_unsupported", isAsked: ({ store }) => store === true },
];

/** Adds the issues of every member without a place. */
export function reportUnsupported(encoding: Encoding): void {
  const { request, issues } = encoding;
  for (const { member, code, isAsked } of REFUSED)
    if (isAsked(request)) issues.reject(code, encoding.placeOf(member), "Ollama has nothing of this kind.");
  for (const { member, code, isAsked } of DROPPED)
    if (isAsked(request)) issues.drop(code, encoding.placeOf(member), "Ollama has no place for it.");
  if (request.serviceTier === "default")
    issues.adapt("value_adapted", encoding.placeOf("serviceTier"), "There is one tier.");
  if (request.cache.auto !== undefined)
    issues.adapt("cache_automatic", encoding.placeOf("cacheAuto"), "Ollama caches prefixes by itself.");
  if ((request.betas ?? []).length > 0)
    issues.adapt("beta_ignored", encoding.placeOf("betas"), "Beta names of another dialect mean nothing here.");
  encoding.dropExtensions(request.extensions);
}
