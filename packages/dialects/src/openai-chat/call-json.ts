// Tool calls in answers as JSON: the first fragment of a streamed call, and free-text input taken out of the function call that
// carried it.
import { encodeString, textToString } from "@dragoman/core";
import type { PartHead, Signature } from "@dragoman/core";

/** The `tool_calls` member of a delta that starts a call: id, type and name stand in the first fragment only. */
export function callStartJson(
  index: number,
  head: Extract<PartHead, { type: "tool-call" }>,
  isWrapped: boolean,
  argument: string,
  signature: Signature | null,
): string {
  const start = `"tool_calls":[{"index":${index},"id":${encodeString(head.id)}`;
  const name = encodeString(textToString(head.name));
  if (isWrapped || head.kind === "custom")
    return `${start},"type":"custom","custom":{"name":${name},"input":${encodeString(argument)}}}]`;
  const extra = googleContentJson(signature);
  const body = `{"name":${name},"arguments":${encodeString(argument)}}`;
  return `${start},"type":"function","function":${body}${extra}}]`;
}

/** The member that carries Google's own signature on a call, with its comma, or nothing. */
export function googleContentJson(signature: Signature | null | undefined): string {
  if (signature?.origin !== "g") return "";
  return `,"extra_content":{"google":{"thought_signature":${encodeString(textToString(signature.data))}}}`;
}

/** Free-text input out of the arguments `{"input": text}` of a wrapped tool; other arguments are the input as they are. */
export function unwrapCustomInput(argument: string): string {
  try {
    const value: unknown = JSON.parse(argument);
    if (typeof value !== "object" || value === null) return argument;
    const entries = Object.entries(value);
    const [first] = entries;
    return entries.length === 1 && first?.[0] === "input" && typeof first[1] === "string" ? first[1] : argument;
  } catch {
    // Arguments that are no JSON go to the client as the model wrote them.
    return argument;
  }
}
