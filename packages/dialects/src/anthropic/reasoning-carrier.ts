/** How reasoning reaches this dialect's clients: as thinking blocks whose signature is the provider's own, or an envelope around it. */
import { textToString, type AnswerContext, type Signature } from "@dragoman/core";

import { encodeEnvelope } from "../shared/signature-envelope.ts";
import { showsThinking, type AnthropicFacts } from "./read-head.ts";

/** Whether a proof was made by a provider of this dialect, so that it travels as it is. */
const isOwnOrigin = ({ origin }: Signature): boolean => origin === "a" || origin === "ar";

/** What stands in a thinking block's `signature`. */
export function carrierOf(signature: Signature, context: AnswerContext<AnthropicFacts>): string {
  const data = textToString(signature.data);
  if (isOwnOrigin(signature)) return data;
  return encodeEnvelope({ origin: signature.origin, model: signature.model ?? context.upstreamModel, data });
}

/** Where the thinking blocks of an answer go. */
export interface ThinkingPolicy {
  /** Text of reasoning is given. */
  readonly isShown: boolean;
  /** A block without text is given in place; otherwise only right before the next call, which the client replays with it. */
  readonly isInPlace: boolean;
}

/** The policy that a request asks for. */
export function thinkingPolicy(facts: AnthropicFacts): ThinkingPolicy {
  return { isShown: showsThinking(facts), isInPlace: facts.thinking === "on" };
}
