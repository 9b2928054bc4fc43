// The few members that every chat request needs, read without decoding the rest.
import { ABSENT } from "@dragoman/core";
import type { Document, NeutralError, NodeIndex, RequestHead } from "@dragoman/core";

import { invalidMember } from "../shared/neutral-error.ts";

/** What this room needs of a request to write its answers. */
export interface ChatFacts {
  /** The client asked for the usage chunk. */
  readonly includeUsage: boolean;
  /** The client used `functions` or `function_call`: answers speak that form. */
  readonly usesDeprecatedFunctions: boolean;
  readonly n: number;
}

/** A head, or why there is none. */
export type HeadReading =
  | { readonly ok: true; readonly head: RequestHead<ChatFacts> }
  | { readonly ok: false; readonly error: NeutralError };

/** Reads the head of a chat request. Nothing below `stream_options` is touched. */
export function readChatHead(document: Document): HeadReading {
  const root = document.root;
  if (!document.isObject(root)) return refuse("The request body must be a JSON object.", "");
  const model = document.member(root, "model");
  const stream = document.member(root, "stream");
  const streamOptions = document.member(root, "stream_options");
  const n = document.member(root, "n");
  const limit = document.member(root, "max_completion_tokens");
  const deprecatedLimit = document.member(root, "max_tokens");
  if (model === ABSENT) return refuse("The request must name a model: the member model is missing.", "/model");
  if (!document.isString(model)) return refuse("The member model must be a string.", "/model");
  const name = document.string(model);
  if (name === "") return refuse("The member model must not be empty.", "/model");
  if (!isOptional(document, stream, document.isBoolean(stream)))
    return refuse("The member stream must be true or false.", "/stream");
  if (!isOptional(document, streamOptions, document.isObject(streamOptions)))
    return refuse("The member stream_options must be an object.", "/stream_options");
  const includeUsage = document.member(streamOptions, "include_usage");
  if (!isOptional(document, includeUsage, document.isBoolean(includeUsage)))
    return refuse("include_usage must be true or false.", "/stream_options/include_usage");
  if (document.isNumber(limit) && document.isNumber(deprecatedLimit)) {
    if (document.number(limit) !== document.number(deprecatedLimit))
      return refuse(
        "max_tokens and max_completion_tokens are both present and differ; send one of them.",
        "/max_tokens",
      );
  }
  const facts: ChatFacts = {
    includeUsage: document.boolean(includeUsage),
    usesDeprecatedFunctions:
      isUsed(document, document.member(root, "functions")) || isUsed(document, document.member(root, "function_call")),
    n: document.isNumber(n) ? document.number(n) : 1,
  };
  return { ok: true, head: { model: name, modelNode: model, stream: document.boolean(stream), facts } };
}

const isOptional = (document: Document, node: NodeIndex, isWanted: boolean): boolean =>
  node === ABSENT || document.isNull(node) || isWanted;

/** A member that is there, not null and not an empty list. */
const isUsed = (document: Document, node: NodeIndex): boolean =>
  node !== ABSENT && !document.isNull(node) && !(document.isArray(node) && document.count(node) === 0);

const refuse = (message: string, at: string): HeadReading => ({ ok: false, error: invalidMember(message, at) });
