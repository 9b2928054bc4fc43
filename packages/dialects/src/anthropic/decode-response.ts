/** Whole answers of upstreams as the neutral answer. References point into the answer's bytes. */
import {
  ABSENT,
  type Candidate,
  type DecodeContext,
  type DecodedResponse,
  type Document,
  type Extension,
  type NeutralError,
  type NeutralResponse,
  type Part,
} from "@dragoman/core";

import { protocolError } from "../shared/neutral-error.ts";
import { BodyReader, type Mutable } from "./body-reader.ts";
import { classifyErrorEvent } from "./classify-error.ts";
import { ContentDecoder } from "./decode-content.ts";
import { profileOf } from "./profiles.ts";
import { readStop, stopReasonOf } from "./stop.ts";
import { UsageTally } from "./usage.ts";

const RESPONSE_MEMBERS: ReadonlySet<string> = new Set([
  "id",
  "type",
  "role",
  "model",
  "content",
  "stop_reason",
  "stop_sequence",
  "stop_details",
  "usage",
]);

const refuse = (message: string): { ok: false; error: NeutralError } => ({ ok: false, error: protocolError(message) });

/** This dialect's answer tiers in neutral words; a batch answer has none. */
export function neutralTier(word: string | null): string | undefined {
  if (word === "standard") return "default";
  return word === "priority" ? word : undefined;
}

/** Whether a body inside a 200 is an error. */
function isErrorBody(document: Document): boolean {
  const { root } = document;
  return (
    document.stringEquals(document.member(root, "type"), "error") || document.isObject(document.member(root, "error"))
  );
}

/** Decodes a whole answer. */
export function decodeResponse(document: Document, context: DecodeContext): DecodedResponse {
  const { root } = document;
  if (isErrorBody(document)) return { ok: false, error: classifyErrorEvent(document, context) };
  const content = document.member(root, "content");
  if (!document.isArray(content))
    return refuse("The provider's answer is not a message: `content` is missing or no list.");
  const reader = new BodyReader(document);
  const parts: Part[] = [];
  new ContentDecoder(reader, context.upstreamModel).decode(content, "/content", parts);
  if (reader.error !== null) return refuse(`The provider's answer has a malformed block: ${reader.error.message}`);
  const candidate = readCandidate(document, parts, context);
  if (candidate === null) return refuse("The provider's answer has no stop reason.");
  return { ok: true, response: readResponse(document, candidate, reader) };
}

function readCandidate(document: Document, parts: readonly Part[], context: DecodeContext): Candidate | null {
  const hasCalls = parts.some((part) => part.type === "tool-call");
  const stop = readStop(document, document.root, hasCalls);
  if (stop !== null) return { index: 0, parts, stop };
  if (!profileOf(context.profile).lenientTerminal) return null;
  return { index: 0, parts, stop: { reason: stopReasonOf("end_turn", hasCalls), raw: "" } };
}

function readResponse(document: Document, candidate: Candidate, reader: BodyReader): NeutralResponse {
  const { root } = document;
  const extensions: readonly Extension[] = reader.extensions(root, "", { known: RESPONSE_MEMBERS, codes: {} });
  const response: Mutable<NeutralResponse> = { candidates: [candidate], extensions };
  const id = document.member(root, "id");
  const model = document.member(root, "model");
  if (document.isString(id)) response.id = document.string(id);
  if (document.isString(model)) response.model = document.string(model);
  const tally = new UsageTally();
  tally.read(document, document.member(root, "usage"));
  const usage = tally.toUsage(true);
  if (usage !== null) response.usage = usage;
  const tier = neutralTier(tally.serviceTier);
  if (tier !== undefined) response.serviceTier = tier;
  return response;
}

/** Decodes the answer of the counting call. */
export function decodeTokenCount(
  document: Document,
): { readonly ok: true; readonly count: number } | { readonly ok: false; readonly error: NeutralError } {
  const node = document.member(document.root, "input_tokens");
  const count = node === ABSENT || !document.isNumber(node) ? -1 : document.number(node);
  if (!Number.isSafeInteger(count) || count < 0) return refuse("The provider's answer has no token count.");
  return { ok: true, count };
}
