/**
 * Which members this dialect's requests have, object by object (Messages API, versions 2023-06-01 and 2026-10-21). What is not
 * listed is an unknown member; a listed one without a neutral place carries the code of its loss.
 */
import type { ReasonCode } from "@dragoman/core";

/** The id under which this room registers itself. */
export const ANTHROPIC = "anthropic";

/** Protocol versions that are known; the first is assumed of a client that names none. */
export const API_VERSIONS: readonly string[] = ["2023-06-01", "2026-10-21"];
/** Assumed of clients without a version, and the last one whose bodies may hold sampling members. */
export const SAMPLING_API_VERSION = "2023-06-01";
/** What translated requests are written for when they need no sampling member. */
export const CURRENT_API_VERSION = "2026-10-21";

/** What the counting call knows; everything else is cut from it. */
export const COUNT_MEMBERS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "cache_control",
  "speed",
]);

/** Members of the request that have a neutral place. */
export const REQUEST_MEMBERS: ReadonlySet<string> = new Set([
  ...COUNT_MEMBERS,
  "max_tokens",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "stream",
  "output_format",
  "metadata",
  "service_tier",
  "thread",
]);

/** Members of the request that only this dialect has, with the code of their loss. */
export const REQUEST_EXTENSIONS: Readonly<Record<string, ReasonCode>> = {
  container: "beta_unsupported",
  mcp_servers: "beta_unsupported",
  fallbacks: "beta_unsupported",
  fallback_credit_token: "beta_unsupported",
  inference_geo: "beta_unsupported",
  compaction: "beta_unsupported",
  billing_policy: "beta_unsupported",
  context_management: "context_management_unsupported",
  diagnostics: "unknown_field",
};

export const THINKING_MEMBERS: ReadonlySet<string> = new Set(["type", "budget_tokens", "display"]);
export const OUTPUT_CONFIG_MEMBERS: ReadonlySet<string> = new Set(["effort", "format"]);
export const FORMAT_MEMBERS: ReadonlySet<string> = new Set(["type", "schema"]);
export const METADATA_MEMBERS: ReadonlySet<string> = new Set(["user_id"]);
export const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(["role", "content"]);

/** Members of client tools that have a neutral place; `eager_input_streaming` changes nothing that a client can see. */
export const TOOL_MEMBERS: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "input_schema",
  "strict",
  "cache_control",
  "eager_input_streaming",
]);
export const TOOL_EXTENSIONS: Readonly<Record<string, ReasonCode>> = {
  input_examples: "tool_extra_unsupported",
  defer_loading: "tool_extra_unsupported",
  allowed_callers: "tool_extra_unsupported",
};
export const TOOL_CHOICE_MEMBERS: ReadonlySet<string> = new Set(["type", "name", "disable_parallel_tool_use"]);

/** Members of content blocks that have a neutral place, by block type. A block type that is missing here is opaque. */
export const BLOCK_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(["type", "text", "citations", "cache_control"]),
  image: new Set(["type", "source", "cache_control"]),
  document: new Set(["type", "source", "title", "context", "citations", "cache_control"]),
  search_result: new Set(["type", "source", "title", "content", "citations", "cache_control"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
  tool_use: new Set(["type", "id", "name", "input", "cache_control"]),
  tool_result: new Set(["type", "tool_use_id", "content", "is_error", "cache_control"]),
};
/** Objects inside a block, a tool or the request. */
export type InnerObject = "cache_control" | "source" | "citations";

/** Members of the objects inside a block, by the member that holds them. */
export const INNER_MEMBERS: Readonly<Record<InnerObject, ReadonlySet<string>>> = {
  cache_control: new Set(["type", "ttl"]),
  source: new Set(["type", "media_type", "data", "url", "file_id", "content"]),
  citations: new Set(["enabled"]),
};
export const BLOCK_EXTENSIONS: Readonly<Record<string, ReasonCode>> = {
  transformations: "unknown_field",
  caller: "tool_extra_unsupported",
  toolset_name: "tool_extra_unsupported",
};

/** Typed tools that the client runs, by the beginning of their type; the models know their schemas by training. */
export const CLIENT_EXECUTED_TOOLS: readonly string[] = [
  "bash_",
  "text_editor_",
  "memory_",
  "computer_",
  "browser_toolset_",
];

/** Whether a block is a call that the provider runs itself, or the result of one. */
export function isServerBlock(type: string): boolean {
  return (
    type === "server_tool_use" ||
    type.startsWith("mcp_tool_") ||
    (type.endsWith("_tool_result") && type !== "tool_result")
  );
}
