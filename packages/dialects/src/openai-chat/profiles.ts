// What compatible servers do differently, as data: one profile per server family, each member overridable by the configuration.
// A profile limits what may be written to a server; the deployment's capabilities limit it further.
import type { Profile } from "@dragoman/core";

/** What a vendor's finish word means; `error` and `overloaded` are failures in the place of a finish. */
export type FinishMeaning = "stop" | "length" | "tool_calls" | "content_filter" | "error" | "overloaded";

/** The members of a profile. */
export interface ChatProfile extends Profile {
  readonly name: string;
  /** Member that bounds the output. */
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  /** What the server does with the other of the two members; `reasoning-refuses` = its reasoning models refuse it. */
  readonly otherMaxTokensField: "accepted" | "refused" | "reasoning-refuses";
  readonly instructionRole: "developer" | "system";
  /** How usage comes in streams: asked for by `stream_options.include_usage`, or without being asked. */
  readonly streamUsage: "stream_options" | "unasked";
  /** Dotted paths of usage objects in an answer or a chunk; the first that is there counts. */
  readonly usagePaths: readonly string[];
  /** Dotted paths of cache reads inside a usage object. */
  readonly cachedPaths: readonly string[];
  /** Members of messages and deltas that hold reasoning text, best first. */
  readonly reasoningFields: readonly string[];
  /** What the server wants of reasoning text in history: nothing, what there is, or the member on every assistant turn. */
  readonly reasoningHistory: "strip" | "keep" | "required";
  readonly toolChoiceRequiredWord: string;
  /** Forms of `tool_choice` that the server knows. */
  readonly toolChoices: readonly ("auto" | "none" | "required" | "tool" | "allowed")[];
  readonly parallelToolCalls: boolean;
  readonly strictTools: boolean;
  readonly customTools: boolean;
  /** Pattern, length and replacement of tool-call ids that the server refuses. */
  readonly toolCallIdRule: ToolCallIdRule;
  readonly responseFormats: readonly ("json_object" | "json_schema")[];
  readonly images: "any" | "data-url" | "none";
  /** Whether content lists that hold only text are sent as lists or joined to one string. */
  readonly textLists: "keep" | "join";
  /** Whether a trailing assistant message can be continued with `prefix:true`. */
  readonly prefill: boolean;
  readonly seedField: "seed" | "random_seed";
  /** Where an end-user id goes. */
  readonly endUserField: "safety_identifier" | "user";
  readonly serviceTiers: readonly string[];
  readonly promptCaching: boolean;
  readonly finishReasonMap: Readonly<Record<string, FinishMeaning>>;
  /** Whether an answer without a finish word is broken. */
  readonly finishReasonRequired: boolean;
  /** Closed list of request members, or null when unknown members are ignored or passed on. */
  readonly accepts: readonly string[] | null;
  /** Further members: request members beyond the standard's, and `reasoning_content`, `reasoning` or `extra_content` in messages. */
  readonly extraAccepts: readonly string[];
  /** Answers are rewritten to the standard shape also for clients of this dialect. */
  readonly normalize: boolean;
}

/** See {@link ChatProfile.toolCallIdRule}; `pattern` is the source of a regular expression. */
export interface ToolCallIdRule {
  readonly pattern: string;
  readonly maxLength: number;
  readonly prefix: string;
  readonly length: number;
}

const ANY_ID: ToolCallIdRule = { pattern: "^[^]{1,64}$", maxLength: 64, prefix: "call_", length: 24 };

const OPENAI: ChatProfile = {
  name: "openai",
  maxTokensField: "max_completion_tokens",
  otherMaxTokensField: "reasoning-refuses",
  instructionRole: "developer",
  streamUsage: "stream_options",
  usagePaths: ["usage"],
  cachedPaths: ["prompt_tokens_details.cached_tokens"],
  // The vendor sends none; proxies in front of other models do.
  reasoningFields: ["reasoning_content", "reasoning"],
  reasoningHistory: "strip",
  toolChoiceRequiredWord: "required",
  toolChoices: ["auto", "none", "required", "tool", "allowed"],
  parallelToolCalls: true,
  strictTools: true,
  customTools: true,
  toolCallIdRule: ANY_ID,
  responseFormats: ["json_object", "json_schema"],
  images: "any",
  textLists: "keep",
  prefill: false,
  seedField: "seed",
  endUserField: "safety_identifier",
  serviceTiers: ["auto", "default", "flex", "scale", "priority", "fast"],
  promptCaching: true,
  finishReasonMap: {},
  finishReasonRequired: true,
  accepts: null,
  extraAccepts: [],
  normalize: false,
};

/** Base for any other server: what nearly all of them understand. */
const GENERIC: ChatProfile = {
  ...OPENAI,
  name: "generic",
  maxTokensField: "max_tokens",
  otherMaxTokensField: "refused",
  instructionRole: "system",
  cachedPaths: ["prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "num_cached_tokens"],
  reasoningHistory: "strip",
  toolChoices: ["auto", "none", "required", "tool"],
  strictTools: false,
  customTools: false,
  responseFormats: ["json_object"],
  textLists: "join",
  endUserField: "user",
  serviceTiers: [],
  promptCaching: false,
  normalize: true,
};

/** Request members of the Mistral API reference; anything else is answered with 422. */
const MISTRAL_ACCEPTS: readonly string[] = [
  "model",
  "messages",
  "temperature",
  "top_p",
  "max_tokens",
  "stream",
  "stop",
  "random_seed",
  "metadata",
  "response_format",
  "tools",
  "tool_choice",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "prediction",
  "parallel_tool_calls",
  "prompt_mode",
  "reasoning_effort",
  "safe_prompt",
  "guardrails",
  "prompt_cache_key",
];

/** Built-in profiles by name. */
export const CHAT_PROFILES: Readonly<Record<string, ChatProfile>> = {
  openai: OPENAI,
  azure: { ...OPENAI, name: "azure", serviceTiers: ["auto", "default", "flex", "priority"] },
  generic: GENERIC,
  mistral: {
    ...GENERIC,
    name: "mistral",
    streamUsage: "unasked",
    cachedPaths: ["prompt_tokens_details.cached_tokens", "num_cached_tokens"],
    toolChoiceRequiredWord: "any",
    strictTools: true,
    toolCallIdRule: { pattern: "^[a-zA-Z0-9]{9}$", maxLength: 9, prefix: "", length: 9 },
    responseFormats: ["json_object", "json_schema"],
    textLists: "keep",
    prefill: true,
    seedField: "random_seed",
    finishReasonMap: { model_length: "length", error: "error" },
    accepts: MISTRAL_ACCEPTS,
  },
  groq: {
    ...GENERIC,
    name: "groq",
    otherMaxTokensField: "accepted",
    streamUsage: "unasked",
    usagePaths: ["usage", "x_groq.usage"],
    reasoningFields: ["reasoning", "reasoning_content"],
    responseFormats: ["json_object", "json_schema"],
    serviceTiers: ["on_demand", "flex", "performance", "auto"],
  },
  deepseek: {
    ...GENERIC,
    name: "deepseek",
    cachedPaths: ["prompt_cache_hit_tokens", "prompt_tokens_details.cached_tokens"],
    reasoningFields: ["reasoning_content"],
    reasoningHistory: "required",
    prefill: true,
    finishReasonMap: { insufficient_system_resource: "overloaded" },
    extraAccepts: ["thinking", "reasoning_content"],
  },
  together: {
    ...GENERIC,
    name: "together",
    streamUsage: "unasked",
    reasoningFields: ["reasoning", "reasoning_content"],
    responseFormats: ["json_object", "json_schema"],
    extraAccepts: ["top_k", "min_p", "repetition_penalty"],
  },
  vllm: {
    ...GENERIC,
    name: "vllm",
    otherMaxTokensField: "accepted",
    responseFormats: ["json_object", "json_schema"],
    textLists: "keep",
    extraAccepts: ["top_k", "min_p", "repetition_penalty", "chat_template_kwargs"],
    normalize: false,
  },
  ollama: {
    ...GENERIC,
    name: "ollama",
    reasoningFields: ["reasoning", "reasoning_content"],
    toolChoices: ["auto"],
    parallelToolCalls: false,
    images: "data-url",
    responseFormats: ["json_object", "json_schema"],
  },
};

/** Whether a server takes a request member. */
export function acceptsMember(profile: ChatProfile, member: string): boolean {
  return profile.accepts === null || profile.accepts.includes(member) || profile.extraAccepts.includes(member);
}

/** The profile of a target or context: the contract says that `compileProfile` of this room returned it. */
export function asChatProfile(profile: Profile): ChatProfile {
  return profile as ChatProfile;
}
