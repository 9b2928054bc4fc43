/** Reads what every request needs before anything else: model, stream flag, and how the client wants thinking shown. */
import { ABSENT, type Document, type NeutralError, type NodeIndex, type RequestHead } from "@dragoman/core";

import { invalidRequest } from "../shared/neutral-error.ts";

/** What answers need to know of the request. */
export interface AnthropicFacts {
  /** `on` for adaptive, budgeted and between-tools thinking. */
  readonly thinking: "absent" | "disabled" | "on";
  readonly display: "summarized" | "omitted" | null;
}

/** Names a JSON value's kind for messages. */
export function describeKind(document: Document, node: NodeIndex): string {
  if (node === ABSENT) return "nothing";
  if (document.isObject(node)) return "an object";
  if (document.isArray(node)) return "a list";
  if (document.isString(node)) return "a string";
  if (document.isNumber(node)) return "a number";
  return document.isNull(node) ? "null" : "a boolean";
}

const refuse = (
  document: Document,
  node: NodeIndex,
  at: string,
  expected: string,
): { ok: false; error: NeutralError } => ({
  ok: false,
  error: invalidRequest(
    `${at === "" ? "the body" : at}: expected ${expected}, found ${describeKind(document, node)}.`,
    at,
  ),
});

/** Reads the head, or refuses with the member's path. Other members are not looked at. */
export function readHead(
  document: Document,
):
  | { readonly ok: true; readonly head: RequestHead<AnthropicFacts> }
  | { readonly ok: false; readonly error: NeutralError } {
  const { root } = document;
  if (!document.isObject(root)) return refuse(document, root, "", "an object");
  const modelNode = document.member(root, "model");
  if (!document.isString(modelNode)) return refuse(document, modelNode, "/model", "a model name");
  const model = document.string(modelNode);
  if (model === "") {
    return { ok: false, error: invalidRequest("/model: expected a model name, found an empty string.", "/model") };
  }
  const stream = document.member(root, "stream");
  if (stream !== ABSENT && !document.isBoolean(stream) && !document.isNull(stream)) {
    return refuse(document, stream, "/stream", "true or false");
  }
  return { ok: true, head: { model, modelNode, stream: document.boolean(stream), facts: readFacts(document) } };
}

function readFacts(document: Document): AnthropicFacts {
  const thinking = document.member(document.root, "thinking");
  const type = document.member(thinking, "type");
  if (!document.isString(type)) return { thinking: "absent", display: null };
  if (document.stringEquals(type, "disabled")) return { thinking: "disabled", display: null };
  const display = document.member(thinking, "display");
  if (document.stringEquals(display, "omitted")) return { thinking: "on", display: "omitted" };
  // A beta's `updates` shows the same text in another rhythm.
  const isSummarized = document.stringEquals(display, "summarized") || document.stringEquals(display, "updates");
  return { thinking: "on", display: isSummarized ? "summarized" : null };
}

/** Whether the client sees thinking text. */
export function showsThinking(facts: AnthropicFacts): boolean {
  return facts.thinking === "on" && facts.display !== "omitted";
}
