/** Why a deployment cannot express a request, or what was changed so that it can: stable codes and their presets. */

/** Codes of members that a deployment cannot express. `drop` codes may be allowed by `lossy.allow`; `reject` codes never. */
export const REASON_CODES = [
  "audio_input_unsupported",
  "audio_output_unsupported",
  "background_unsupported",
  "beta_unsupported",
  "cache_hint",
  "cache_prewarm_unsupported",
  "cache_ttl_reduced",
  "cached_content_unsupported",
  "capability_missing",
  "citations_unsupported",
  "context_management_unsupported",
  "embedding_batch_too_large",
  "embedding_token_input_unsupported",
  "empty_content",
  "end_user_unsupported",
  "file_input_unsupported",
  "file_reference_foreign",
  "image_detail_unsupported",
  "image_input_unsupported",
  "image_output_unsupported",
  "logit_bias_unsupported",
  "logprobs_unsupported",
  "max_tokens_below_minimum",
  "max_tokens_unknown",
  "media_url_unsupported",
  "metadata_unsupported",
  "moderation_unsupported",
  "n_unsupported",
  "name_unsupported",
  "parallel_control_unsupported",
  "penalty_unsupported",
  "phase_unsupported",
  "prediction_unsupported",
  "prefill_unsupported",
  "prompt_template_unsupported",
  "reasoning_control_unsupported",
  "reasoning_history_foreign",
  "response_format_unsupported",
  "role_sequence_invalid",
  "safety_settings_unsupported",
  "sampling_conflict",
  "sampling_out_of_range",
  "sampling_unsupported",
  "schema_keywords_dropped",
  "schema_unsupported",
  "seed_unsupported",
  "server_tool_unsupported",
  "service_tier_unsupported",
  "stateful_unsupported",
  "stop_sequences_limit",
  "stop_sequences_unsupported",
  "store_unsupported",
  "strict_unsupported",
  "system_position_unsupported",
  "tool_arguments_not_object",
  "tool_choice_unsupported",
  "tool_extra_unsupported",
  "tool_grammar_unenforced",
  "tool_kind_unsupported",
  "tool_name_invalid",
  "tool_result_media_unsupported",
  "tool_result_unpaired",
  "top_k_unsupported",
  "unknown_field",
  "verbosity_unsupported",
  "video_input_unsupported",
] as const;

/** Codes of changes that keep the meaning; they never refuse a request. */
export const ADAPTATION_CODES = [
  "beta_ignored",
  "cache_automatic",
  "content_reshaped",
  "custom_tool_wrapped",
  "effort_mapped",
  "empty_text_removed",
  "format_adapted",
  "id_rewritten",
  "instruction_moved",
  "max_tokens_defaulted",
  "media_adapted",
  "messages_merged",
  "namespace_flattened",
  "prompt_cache_adapted",
  "reasoning_default",
  "schema_adapted",
  "signature_sentinel",
  "system_merged",
  "text_joined",
  "text_prefixed",
  "tools_filtered",
  "usage_estimated",
  "value_adapted",
] as const;

/** One of `REASON_CODES`. */
export type ReasonCode = (typeof REASON_CODES)[number];
/** One of `ADAPTATION_CODES`. */
export type AdaptationCode = (typeof ADAPTATION_CODES)[number];

const HINTS: readonly ReasonCode[] = [
  "cache_hint",
  "cache_ttl_reduced",
  "prediction_unsupported",
  "metadata_unsupported",
  "end_user_unsupported",
  "phase_unsupported",
  "image_detail_unsupported",
  "store_unsupported",
  "name_unsupported",
];
const HISTORY: readonly ReasonCode[] = ["reasoning_history_foreign"];

/** Named sets that `lossy.allow` accepts beside single codes. */
export const LOSSY_PRESETS: Readonly<Record<string, readonly ReasonCode[]>> = {
  "@hints": HINTS,
  "@history": HISTORY,
  "@sampling": [
    "sampling_unsupported",
    "sampling_out_of_range",
    "sampling_conflict",
    "top_k_unsupported",
    "penalty_unsupported",
    "seed_unsupported",
  ],
  "@agents": [
    ...HINTS,
    ...HISTORY,
    "server_tool_unsupported",
    "context_management_unsupported",
    "tool_extra_unsupported",
    "tool_grammar_unenforced",
  ],
  "@all-droppable": REASON_CODES,
};

/** What a deployment may lose when its configuration names nothing else. */
export const DEFAULT_LOSSY_ALLOW: readonly string[] = ["@hints", "@history"];

/** Expands presets and codes to a set of codes; unknown names are returned apart. */
export function expandLossy(names: readonly string[]): {
  readonly codes: ReadonlySet<string>;
  readonly unknown: readonly string[];
} {
  const codes = new Set<string>();
  const unknown: string[] = [];
  for (const name of names) {
    const preset = Object.hasOwn(LOSSY_PRESETS, name) ? LOSSY_PRESETS[name] : undefined;
    if (preset !== undefined) for (const code of preset) codes.add(code);
    else if ((REASON_CODES as readonly string[]).includes(name)) codes.add(name);
    else unknown.push(name);
  }
  return { codes, unknown };
}
