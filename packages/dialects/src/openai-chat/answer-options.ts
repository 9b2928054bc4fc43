// Options of this client dialect that shape answers, with their defaults.

/** Where reasoning text stands in answers. */
export type ReasoningField = "reasoning_content" | "reasoning" | "none";

/** The configured reasoning field; unknown values count as the default. */
export function reasoningFieldOf(options: Readonly<Record<string, unknown>>): ReasoningField {
  const field = options["reasoningField"];
  return field === "reasoning" || field === "none" ? field : "reasoning_content";
}
