/** A whole answer of `/api/chat` in the neutral form. Texts reference the answer's bytes. */
import { ABSENT } from "@dragoman/core";
import type { DecodedResponse, Document, Part, Usage } from "@dragoman/core";

import { hasText, protocolError, readCalls, readStop, textOf } from "./answer.ts";
import { classifyMessage } from "./classify-error.ts";

/** Decodes a whole answer. An error with status 200 and an answer that is not done are none. */
export function decodeResponse(document: Document): DecodedResponse {
  const { root } = document;
  const error = textOf(document, document.member(root, "error"));
  if (error !== undefined) return { ok: false, error: classifyMessage(error) };
  const message = document.member(root, "message");
  if (!document.isObject(message) || !document.boolean(document.member(root, "done")))
    return { ok: false, error: protocolError("The provider's answer has no message or is not done.") };
  const parts: Part[] = [];
  const thinking = document.member(message, "thinking");
  const content = document.member(message, "content");
  if (hasText(document, thinking))
    parts.push({ type: "reasoning", form: "raw", texts: [document.text(thinking)], at: "/message/thinking" });
  if (hasText(document, content)) parts.push({ type: "text", text: document.text(content), at: "/message/content" });
  const createdAt = textOf(document, document.member(root, "created_at")) ?? "";
  for (const { id, name, value } of readCalls(document, message, createdAt, 0))
    parts.push({
      type: "tool-call",
      id,
      name: document.text(name),
      kind: "function",
      arguments: { text: value === ABSENT ? "{}" : document.raw(value), encoded: false },
      at: "/message/tool_calls",
    });
  const hasCalls = parts.some(({ type }) => type === "tool-call");
  const model = textOf(document, document.member(root, "model"));
  const usage = decodeUsage(document, true);
  return {
    ok: true,
    response: {
      ...(model === undefined ? null : { model }),
      candidates: [{ index: 0, parts, stop: readStop(document, hasCalls) }],
      ...(usage === null ? null : { usage }),
      extensions: [],
    },
  };
}

/** Counts stand at the root of the last record, without details. One that is zero or unknown is left out by the server. */
export function decodeUsage(document: Document, final: boolean): Usage | null {
  const input = countOf(document, "prompt_eval_count");
  const output = countOf(document, "eval_count");
  if (input === undefined && output === undefined) return null;
  return { input: input ?? 0, output: output ?? 0, source: "upstream", final };
}

function countOf(document: Document, member: string): number | undefined {
  const node = document.member(document.root, member);
  if (!document.isNumber(node)) return undefined;
  const count = document.number(node);
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
