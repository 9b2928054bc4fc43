/**
 * What this vendor's models can do, by model id (Claude platform documentation and the vendor's model migration notes, read
 * 2026-11-30). Configuration overrides all of it.
 */
import type { CapabilityOverrides, Effort } from "@dragoman/core";

import { modelFamily } from "./model-family.ts";

interface ClaudeModel {
  readonly family: string;
  /** Major and minor version as one number: 4.5, 5.1. */
  readonly version: number;
}

const NEW_NAME = /^claude-([a-z]+)-(\d)(?:[-.](\d))?$/;
const OLD_NAME = /^claude-(\d)(?:[-.](\d))?-([a-z]+)$/;

/** Reads family and version out of a model id: `claude-opus-4-6`, `claude-3-5-haiku-20241022`; null for other names. */
export function parseClaudeModel(model: string): ClaudeModel | null {
  const name = modelFamily(model);
  const recent = NEW_NAME.exec(name);
  if (recent !== null) return { family: recent[1] as string, version: Number(`${recent[2]}.${recent[3] ?? 0}`) };
  const old = OLD_NAME.exec(name);
  return old === null ? null : { family: old[3] as string, version: Number(`${old[1]}.${old[2] ?? 0}`) };
}

/** What holds for every model of this dialect, also for one that nobody described. */
const EVERY_MODEL: CapabilityOverrides = {
  input: { image: true, imageUrl: true, audio: false, video: false, pdf: true, pdfUrl: true },
  temperatureMax: 1,
  topK: true,
  penalties: false,
  seed: false,
  logprobs: false,
  maxN: 1,
  tools: { function: true, strict: false, custom: false, forcedChoice: true, parallelOff: true, withReasoning: true },
  structured: { jsonSchema: false, jsonObject: false, schemaDialect: "anthropic" },
  prefill: true,
  explicitCache: true,
  cacheTtls: [300, 3600],
};

const isNewestTier = (family: string): boolean => family === "fable" || family === "mythos";

const cannotDisable = ({ family, version }: ClaudeModel): boolean =>
  (family === "fable" && version >= 5) || ((family === "opus" || family === "sonnet") && version >= 5.5);

const refusesForcedChoice = ({ family, version }: ClaudeModel): boolean =>
  family === "fable" ? version >= 5.1 : (family === "opus" || family === "sonnet") && version >= 5.5;

function takesBudget({ family, version }: ClaudeModel): boolean {
  if (version < 3.7 || isNewestTier(family)) return false;
  if (family === "opus") return version < 4.7;
  return family === "haiku" ? version >= 4.5 && version < 5.5 : version < 5;
}

function effortsOf({ family, version }: ClaudeModel): readonly Effort[] {
  if (family === "sonnet" && version >= 5.5) return ["low", "medium", "high"];
  if (version >= 4.7) return ["low", "medium", "high", "xhigh", "max"];
  if (version >= 4.6) return ["low", "medium", "high", "max"];
  return [];
}

function maxOutputTokensOf({ family, version }: ClaudeModel): number {
  if (version < 3.5) return 4096;
  if (version < 3.7) return 8192;
  if (family === "opus" && version < 4.5) return 32_000;
  return version > 4.6 || (family === "opus" && version >= 4.6) ? 128_000 : 64_000;
}

const samplingOf = (version: number): "none" | "temperature-xor-top_p" | "full" => {
  if (version > 4.6) return "none";
  return version >= 4 ? "temperature-xor-top_p" : "full";
};

function reasoningOf(model: ClaudeModel): NonNullable<CapabilityOverrides["reasoning"]> {
  const { family, version } = model;
  const hasThinking = version >= 3.7 && !(family === "haiku" && version < 4.5);
  return {
    support: hasThinking,
    canDisable: !cannotDisable(model),
    efforts: effortsOf(model),
    budget: hasThinking && takesBudget(model),
    adaptive: hasThinking && version >= 4.6,
    betweenTools: family === "sonnet" && version >= 5.5,
    defaultOn: cannotDisable(model) || (family === "sonnet" && version >= 5),
    summaries: hasThinking,
  };
}

/** Built-in knowledge about one model. */
export function capabilitiesOf(model: string): CapabilityOverrides {
  const claude = parseClaudeModel(model);
  if (claude === null) return EVERY_MODEL;
  const { family, version } = claude;
  const hasStructuredOutput = version >= 4.5 || (family === "opus" && version >= 4.1);
  return {
    ...EVERY_MODEL,
    ...(version < 4.6 ? { contextWindow: 200_000 } : null),
    maxOutputTokens: maxOutputTokensOf(claude),
    sampling: samplingOf(version),
    tools: { ...EVERY_MODEL.tools, strict: hasStructuredOutput, forcedChoice: !refusesForcedChoice(claude) },
    structured: { ...EVERY_MODEL.structured, jsonSchema: hasStructuredOutput },
    reasoning: reasoningOf(claude),
    midConversationSystem: isNewestTier(family) || (family === "opus" && version >= 4.8),
    prefill: version < 4.6,
  };
}
