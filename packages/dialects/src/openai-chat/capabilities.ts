// What is known about models by their ids, as tables; configuration overrides every word of it. Of compatible servers nothing is known
// about the model, so there the profile is the limit.
import type { CapabilityOverrides, Effort } from "@dragoman/core";

interface ModelRow {
  readonly pattern: RegExp;
  readonly capabilities: CapabilityOverrides;
}

const FULL_TOOLS = {
  function: true,
  strict: true,
  custom: true,
  forcedChoice: true,
  parallelOff: true,
  withReasoning: true,
};
const STRUCTURED = { jsonSchema: true, jsonObject: true, schemaDialect: "openai-strict" };

const reasoningModel = (efforts: readonly Effort[], canDisable: boolean): CapabilityOverrides => ({
  sampling: "only-when-reasoning-off",
  reasoning: { support: true, canDisable, efforts, defaultOn: !canDisable, summaries: false },
  stop: { supported: false },
  penalties: false,
  logprobs: false,
});

/** Model families, the first match counts (vendor's model pages and the SDK catalogue, read 2026-11-30). */
const MODELS: readonly ModelRow[] = [
  { pattern: /^gpt-5[^-]*-chat|^gpt-5-chat|^chatgpt-/, capabilities: {} },
  { pattern: /^gpt-5\.(?:[2-9]|\d\d)/, capabilities: reasoningModel(["none", "low", "medium", "high", "xhigh"], true) },
  { pattern: /^gpt-5\.1/, capabilities: reasoningModel(["none", "low", "medium", "high"], true) },
  { pattern: /^gpt-[5-9]/, capabilities: reasoningModel(["minimal", "low", "medium", "high"], false) },
  { pattern: /^o\d/, capabilities: reasoningModel(["low", "medium", "high"], false) },
  {
    pattern: /audio/,
    capabilities: { input: { image: false, imageUrl: false, audio: true }, output: { audio: true } },
  },
];

/** Capabilities of a vendor model by its id. */
export function capabilitiesOfModel(model: string): CapabilityOverrides {
  const id = model.toLowerCase();
  const row = MODELS.find(({ pattern }) => pattern.test(id));
  return {
    input: { image: true, imageUrl: true, pdf: true, pdfUrl: false },
    maxN: 128,
    stop: { supported: true, max: 4 },
    tools: FULL_TOOLS,
    structured: STRUCTURED,
    explicitCache: /^gpt-5\.(?:[6-9]|\d\d)/.test(id),
    cacheTtls: [1_800, 43_200],
    ...row?.capabilities,
  };
}

/** `none` is a word that few servers know; not saying anything means the same there. */
const ALL_EFFORTS: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

/** Capabilities of any model behind a compatible server: open, because the profile says what may be written. */
export function capabilitiesOfServer(): CapabilityOverrides {
  return {
    input: { image: true, imageUrl: true },
    maxN: 128,
    topK: true,
    stop: { supported: true, max: 4 },
    tools: FULL_TOOLS,
    structured: STRUCTURED,
    reasoning: { support: true, canDisable: true, efforts: ALL_EFFORTS },
    prefill: true,
  };
}
