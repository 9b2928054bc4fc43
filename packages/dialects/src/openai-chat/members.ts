// Members of this dialect's objects, as tables: what is known, and which reason stands against dropping what has no neutral place.
import type { ReasonCode } from "@dragoman/core";

/** Members of a request. */
export const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  "audio",
  "frequency_penalty",
  "function_call",
  "functions",
  "logit_bias",
  "logprobs",
  "max_completion_tokens",
  "max_tokens",
  "messages",
  "metadata",
  "modalities",
  "model",
  "moderation",
  "n",
  "parallel_tool_calls",
  "prediction",
  "presence_penalty",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "reasoning_effort",
  "response_format",
  "safety_identifier",
  "seed",
  "service_tier",
  "stop",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
  "user",
  "verbosity",
  "web_search_options",
]);

/** Why a request member cannot simply be left out. */
export const DROP_CODES: Readonly<Record<string, ReasonCode>> = {
  audio: "audio_output_unsupported",
  frequency_penalty: "penalty_unsupported",
  logit_bias: "logit_bias_unsupported",
  logprobs: "logprobs_unsupported",
  metadata: "metadata_unsupported",
  modalities: "audio_output_unsupported",
  moderation: "moderation_unsupported",
  n: "n_unsupported",
  parallel_tool_calls: "parallel_control_unsupported",
  prediction: "prediction_unsupported",
  presence_penalty: "penalty_unsupported",
  prompt_cache_key: "cache_hint",
  prompt_cache_options: "cache_hint",
  prompt_cache_retention: "cache_hint",
  reasoning_effort: "reasoning_control_unsupported",
  response_format: "response_format_unsupported",
  safety_identifier: "end_user_unsupported",
  seed: "seed_unsupported",
  service_tier: "service_tier_unsupported",
  stop: "stop_sequences_unsupported",
  store: "store_unsupported",
  temperature: "sampling_unsupported",
  tool_choice: "tool_choice_unsupported",
  top_logprobs: "logprobs_unsupported",
  top_p: "sampling_unsupported",
  user: "end_user_unsupported",
  verbosity: "verbosity_unsupported",
  web_search_options: "server_tool_unsupported",
};

/** Codes of extensions that no setting may drop: the answer would be another one. */
export const NEVER_DROPPED: ReadonlySet<string> = new Set<ReasonCode>([
  "audio_output_unsupported",
  "beta_unsupported",
  "cached_content_unsupported",
  "moderation_unsupported",
  "stateful_unsupported",
]);

/** Members of a message that only gateways write, and that a provider may refuse. */
export const REASONING_MEMBERS: readonly string[] = ["reasoning_content", "reasoning"];
