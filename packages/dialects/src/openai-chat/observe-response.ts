// What the gateway wants to know of a complete answer that it forwards as it is: usage, finish word, and whether it is an answer.
import { ABSENT } from "@dragoman/core";
import type { DecodeContext, Document, ObservedResponse } from "@dragoman/core";

import { protocolError } from "../shared/neutral-error.ts";
import { classifyErrorNode } from "./classify-error.ts";
import { asChatProfile } from "./profiles.ts";
import { UsageReader } from "./usage.ts";

/** Observes a complete answer. An answer without choices, and an error with status 200, is no answer. */
export function observeResponse(document: Document, context: DecodeContext): ObservedResponse {
  const root = document.root;
  if (!document.isObject(root)) return { ok: false, error: protocolError("The provider's answer is no object.") };
  const error = document.member(root, "error");
  if (error !== ABSENT && !document.isNull(error))
    return { ok: false, error: classifyErrorNode(document, root, context) };
  const profile = asChatProfile(context.profile);
  const choices = document.member(root, "choices");
  if (document.count(choices) === 0 || !document.isArray(choices))
    return { ok: false, error: protocolError("The provider's answer has no choices.") };
  let stopWord: string | null = null;
  for (let choice = document.firstElement(choices); choice !== ABSENT; choice = document.nextElement(choice)) {
    const word = document.member(choice, "finish_reason");
    if (document.isString(word)) stopWord ??= document.string(word);
    else if (profile.finishReasonRequired)
      return { ok: false, error: protocolError("A choice of the provider's answer has no finish_reason.") };
  }
  const reader = new UsageReader(profile, (name) => context.count(name));
  return { ok: true, usage: reader.read(document, reader.find(document, root), true), stopWord };
}
