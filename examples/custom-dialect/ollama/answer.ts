/** What whole answers and streams of Ollama share: text, calls, the stop word and the counts. */
import { createHash } from "node:crypto";

import { ABSENT } from "@dragoman/core";
import type { Document, NeutralError, NodeIndex, Stop } from "@dragoman/core";

/** The answer is not what the API promises. It may be a passing fault, so it may be tried again. */
export function protocolError(message: string): NeutralError {
  return { class: "protocol", origin: "upstream", message, retrySame: true, fallback: true };
}

/** A member's text, or undefined where it is none. */
export function textOf(document: Document, node: NodeIndex): string | undefined {
  return document.isString(node) ? document.string(node) : undefined;
}

/** Whether a node is a string that says something. */
export function hasText(document: Document, node: NodeIndex): boolean {
  return document.isString(node) && document.end(node) - document.start(node) > 2;
}

/** One call of an answer. */
export interface Call {
  readonly id: string;
  readonly name: NodeIndex;
  /** An object, or ABSENT for none. */
  readonly value: NodeIndex;
}

/**
 * Reads the calls of a message. Older servers give no id: then it is made of the moment of the answer, so that it differs from
 * those of all other turns, and of the call's place in it.
 */
export function readCalls(document: Document, message: NodeIndex, createdAt: string, before: number): readonly Call[] {
  const calls: Call[] = [];
  const list = document.member(message, "tool_calls");
  for (let node = document.firstElement(list); node !== ABSENT; node = document.nextElement(node)) {
    const body = document.member(node, "function");
    const name = document.member(body, "name");
    // Nobody can answer a call of nothing.
    if (!hasText(document, name)) continue;
    const value = document.member(body, "arguments");
    const id = textOf(document, document.member(node, "id")) ?? "";
    calls.push({
      id: id === "" ? madeUpId(createdAt, before + calls.length) : id,
      name,
      value: document.isObject(value) ? value : ABSENT,
    });
  }
  return calls;
}

const madeUpId = (createdAt: string, place: number): string =>
  `call_${createHash("sha256").update(`${createdAt}/${place}`).digest("hex").slice(0, 24)}`;

/** What `done_reason` says. A model that calls tools stops like any other. */
export function readStop(document: Document, hasCalls: boolean): Stop {
  const raw = textOf(document, document.member(document.root, "done_reason")) ?? "stop";
  if (raw === "length") return { reason: "max-tokens", raw };
  if (raw !== "stop") return { reason: "other", raw };
  return { reason: hasCalls ? "tool-calls" : "end", raw };
}
