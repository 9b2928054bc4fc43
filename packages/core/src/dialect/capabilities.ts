/** What a deployment's model can do, as the dry run asks it. Configuration over built-in tables by model id. */
import type { DialectId, Effort } from "../ir/index.ts";

/**
 * A deployment's capabilities. For passthrough a missing value counts as supported; for translation the defaults of
 * `DEFAULT_CAPABILITIES` fill in, which are conservative.
 */
export interface Capabilities {
  /** Dialects this deployment speaks; absent = those of its provider kind. */
  readonly dialects?: readonly DialectId[];
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly defaultMaxOutputTokens?: number;
  readonly input: {
    readonly image: boolean;
    readonly imageUrl: boolean;
    readonly audio: boolean;
    readonly video: boolean;
    readonly pdf: boolean;
    readonly pdfUrl: boolean;
  };
  readonly output: { readonly audio: boolean; readonly image: boolean };
  readonly sampling: "full" | "temperature-xor-top_p" | "none" | "only-when-reasoning-off";
  readonly temperatureMax: number;
  readonly topK: boolean;
  readonly penalties: boolean;
  readonly seed: boolean;
  readonly logprobs: boolean;
  readonly maxN: number;
  readonly stop: { readonly supported: boolean; readonly max?: number };
  readonly tools: {
    readonly function: boolean;
    readonly strict: boolean;
    readonly custom: boolean;
    readonly forcedChoice: boolean;
    readonly parallelOff: boolean;
    readonly max?: number;
    readonly withReasoning: boolean;
  };
  readonly structured: {
    readonly jsonSchema: boolean;
    readonly jsonObject: boolean;
    readonly schemaDialect: string;
  };
  readonly reasoning: {
    readonly support: boolean;
    readonly canDisable: boolean;
    readonly efforts: readonly Effort[];
    readonly budget: boolean;
    readonly adaptive: boolean;
    readonly betweenTools: boolean;
    readonly defaultOn: boolean;
    readonly summaries: boolean;
  };
  readonly midConversationSystem: boolean;
  readonly prefill: boolean;
  readonly explicitCache: boolean;
  readonly cacheTtls: readonly number[];
  readonly thoughtSignatures?: "required" | "optional";
  readonly functionResponseMedia?: boolean;
}

/** A partial statement about capabilities, as configuration and built-in tables make it. */
export type CapabilityOverrides = {
  readonly [Member in keyof Capabilities]?: Capabilities[Member] extends readonly unknown[] | undefined
    ? Capabilities[Member]
    : NonNullable<Capabilities[Member]> extends object
      ? Partial<NonNullable<Capabilities[Member]>>
      : Capabilities[Member];
};

/** What is assumed of a model nobody described. */
export const DEFAULT_CAPABILITIES: Capabilities = {
  input: { image: true, imageUrl: true, audio: false, video: false, pdf: false, pdfUrl: false },
  output: { audio: false, image: false },
  sampling: "full",
  temperatureMax: 2,
  topK: false,
  penalties: true,
  seed: true,
  logprobs: true,
  maxN: 1,
  stop: { supported: true },
  tools: { function: true, strict: false, custom: false, forcedChoice: true, parallelOff: true, withReasoning: true },
  structured: { jsonSchema: false, jsonObject: true, schemaDialect: "free" },
  reasoning: {
    support: false,
    canDisable: true,
    efforts: [],
    budget: false,
    adaptive: false,
    betweenTools: false,
    defaultOn: false,
    summaries: false,
  },
  midConversationSystem: false,
  prefill: false,
  explicitCache: false,
  cacheTtls: [],
};

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Lays overrides over a base, one level into groups; lists are replaced whole. */
export function mergeCapabilities(base: Capabilities, ...overrides: readonly CapabilityOverrides[]): Capabilities {
  const merged: Record<string, unknown> = { ...base };
  for (const override of overrides) {
    for (const [member, value] of Object.entries(override)) {
      if (value === undefined) continue;
      const existing = merged[member];
      merged[member] = isPlainObject(value) && isPlainObject(existing) ? { ...existing, ...value } : value;
    }
  }
  // Every member of `base` is still there and overrides are typed member by member.
  return merged as unknown as Capabilities;
}
