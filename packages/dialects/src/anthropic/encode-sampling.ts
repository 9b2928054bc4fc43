/** Plans sampling members: which of them the model takes. */
import { numToNumber, type Num } from "@dragoman/core";

import type { Encoding } from "./encoding.ts";
import { ANTHROPIC } from "./members.ts";

/** The sampling members that go upstream. */
export interface SamplingPlan {
  readonly temperature: Num | null;
  readonly topP: Num | null;
  readonly topK: Num | null;
}

/** Toward this dialect, its own defaults are neutral. */
const NEUTRAL_TEMPERATURE = 1;
const NEUTRAL_TOP_P = 0.99;

/** Plans the sampling of a request. `isThinking`: some mode of thinking is turned on by it. */
export function planSampling(encoding: Encoding, isThinking: boolean): SamplingPlan {
  const { request, target, issues } = encoding;
  const { temperature, topP, topK } = request.sampling;
  const isOwn = request.source === ANTHROPIC;
  const wanted = {
    temperature:
      temperature === undefined || (!isOwn && numToNumber(temperature) === NEUTRAL_TEMPERATURE) ? null : temperature,
    topP: topP === undefined || (!isOwn && numToNumber(topP) >= NEUTRAL_TOP_P) ? null : topP,
    topK: topK ?? null,
  };
  const mode = target.capabilities.sampling;
  if (mode === "none" || (mode === "only-when-reasoning-off" && isThinking)) return dropAll(encoding, wanted);
  if (mode === "temperature-xor-top_p" && isThinking) return dropForThinking(encoding, wanted);
  const plan = { ...wanted };
  const limit = Math.min(target.capabilities.temperatureMax, 1);
  if (plan.temperature !== null && numToNumber(plan.temperature) > limit) {
    issues.drop("sampling_out_of_range", encoding.originOf("temperature"), `The model's temperature ends at ${limit}.`);
    plan.temperature = null;
  }
  if (mode === "temperature-xor-top_p" && plan.temperature !== null && plan.topP !== null) {
    issues.drop("sampling_conflict", encoding.originOf("topP"), "The model takes temperature or top_p, not both.");
    plan.topP = null;
  }
  if (plan.topK !== null && !target.capabilities.topK) {
    issues.drop("top_k_unsupported", encoding.originOf("topK"), "The model takes no top_k.");
    plan.topK = null;
  }
  return plan;
}

function dropAll(encoding: Encoding, wanted: SamplingPlan): SamplingPlan {
  const detail = "The model takes no sampling members.";
  const { issues } = encoding;
  if (wanted.temperature !== null) issues.drop("sampling_unsupported", encoding.originOf("temperature"), detail);
  if (wanted.topP !== null) issues.drop("sampling_unsupported", encoding.originOf("topP"), detail);
  if (wanted.topK !== null) issues.drop("top_k_unsupported", encoding.originOf("topK"), detail);
  return { temperature: null, topP: null, topK: null };
}

/** While thinking is on these models take no other temperature than 1, no top_k and hardly any top_p. */
function dropForThinking(encoding: Encoding, wanted: SamplingPlan): SamplingPlan {
  const detail = "The model takes no sampling members while it thinks.";
  const { issues } = encoding;
  const keepsTemperature = wanted.temperature !== null && numToNumber(wanted.temperature) === NEUTRAL_TEMPERATURE;
  if (wanted.temperature !== null && !keepsTemperature) {
    issues.drop("sampling_conflict", encoding.originOf("temperature"), detail);
  }
  if (wanted.topP !== null) issues.drop("sampling_conflict", encoding.originOf("topP"), detail);
  if (wanted.topK !== null) issues.drop("sampling_conflict", encoding.originOf("topK"), detail);
  return { temperature: keepsTemperature ? wanted.temperature : null, topP: null, topK: null };
}
