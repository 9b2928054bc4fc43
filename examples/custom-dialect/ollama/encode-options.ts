/** Limits, sampling, the form of the output and thinking: `options`, `format` and `think`. */
import { numToNumber } from "@dragoman/core";
import type { Num, ReasonCode, Reasoning } from "@dragoman/core";

import type { Encoding } from "./encoding.ts";

/** Writes the member `options`. */
export function encodeOptions(encoding: Encoding): void {
  const { request, target, issues, writer } = encoding;
  const { capabilities } = target;
  const { sampling, maxOutputTokens, stop } = request;
  const names: string[] = [];
  const begin = (name: string): void => {
    writer.glue(`${names.length === 0 ? ',"options":{' : ","}"${name}":`);
    names.push(name);
  };
  const number = (name: string, value: Num | undefined, member: string, code?: ReasonCode): void => {
    if (value === undefined) return;
    if (code !== undefined) {
      issues.drop(code, encoding.placeOf(member), "The model does not take it.");
      return;
    }
    begin(name);
    encoding.writeRaw(value);
  };
  const freely = capabilities.sampling === "none" ? "sampling_unsupported" : undefined;
  const isHot = sampling.temperature !== undefined && numToNumber(sampling.temperature) > capabilities.temperatureMax;
  number("num_predict", maxOutputTokens, "maxOutputTokens");
  number("temperature", sampling.temperature, "temperature", isHot ? "sampling_out_of_range" : freely);
  number("top_p", sampling.topP, "topP", freely);
  number("top_k", sampling.topK, "topK", capabilities.topK ? freely : "top_k_unsupported");
  const penalties = capabilities.penalties ? undefined : "penalty_unsupported";
  number("presence_penalty", sampling.presencePenalty, "presencePenalty", penalties);
  number("frequency_penalty", sampling.frequencyPenalty, "frequencyPenalty", penalties);
  number("seed", sampling.seed, "seed", capabilities.seed ? undefined : "seed_unsupported");
  if (stop !== undefined && stop.length > 0) {
    begin("stop");
    stop.forEach((text, index) => writer.glue(index === 0 ? "[" : ",").token(text));
    writer.glue("]");
  }
  if (names.length > 0) writer.glue("}");
}

/** Writes the member `format`: the word `json`, or a schema. */
export function encodeFormat(encoding: Encoding): void {
  const { request, target, issues, writer } = encoding;
  const { format } = request.output;
  const { jsonObject, jsonSchema } = target.capabilities.structured;
  const at = encoding.placeOf("format");
  if (format === undefined || format.kind === "text") return;
  if (format.kind === "json-object" && jsonObject) writer.glue(',"format":"json"');
  else if (format.kind !== "json-schema" || !jsonSchema)
    issues.reject("response_format_unsupported", at, "The model cannot hold its output to this form.");
  else if (format.schema === undefined || format.schemaDialect !== "json-schema")
    issues.reject("schema_unsupported", at, "The output format must have a JSON Schema.");
  else {
    const isNamed = format.name !== undefined || format.description !== undefined || format.strict !== undefined;
    if (isNamed) issues.adapt("format_adapted", at, "Ollama takes the schema alone and always holds the output to it.");
    writer.glue(',"format":');
    encoding.writeRaw(format.schema);
  }
}

/** Thinking budgets below these bounds count as the effort beside them. */
const BUDGETS = [
  [4_096, "low"],
  [16_384, "medium"],
] as const;

/** Writes the member `think`: a switch, or a level where the profile says so. */
export function encodeThink(encoding: Encoding): void {
  const { request, target, issues, writer, profile } = encoding;
  const { reasoning } = request;
  const { support, canDisable } = target.capabilities.reasoning;
  if (reasoning === undefined) return;
  const at = encoding.placeOf("reasoning");
  if (reasoning.mode === "between-tools") {
    issues.drop("reasoning_control_unsupported", at, "Ollama cannot think between calls only.");
    return;
  }
  if (reasoning.mode === "off" || reasoning.effort === "none") {
    if (support && canDisable && profile.think === "switch") writer.glue(',"think":false');
    else if (support) issues.drop("reasoning_control_unsupported", at, "The model cannot stop thinking.");
    return;
  }
  if (reasoning.mode === undefined && reasoning.effort === undefined && reasoning.budgetTokens === undefined) return;
  if (!support) {
    issues.drop("reasoning_control_unsupported", at, "The model does not think.");
    return;
  }
  const level = levelOf(reasoning);
  const isExact = profile.think === "levels" && level === reasoning.effort;
  if (!isExact) issues.adapt("effort_mapped", at, "Ollama has a switch or three levels of thinking.");
  writer.glue(profile.think === "levels" ? `,"think":"${level}"` : ',"think":true');
}

function levelOf({ effort, budgetTokens }: Reasoning): "low" | "medium" | "high" {
  if (effort === "minimal" || effort === "low") return "low";
  if (effort === "medium" || (effort === undefined && budgetTokens === undefined)) return "medium";
  if (effort !== undefined || budgetTokens === undefined) return "high";
  const tokens = numToNumber(budgetTokens);
  // −1 leaves the budget to the model.
  return tokens < 0 ? "medium" : (BUDGETS.find(([below]) => tokens < below)?.[1] ?? "high");
}
