// What a chat request says about its size and sender, for reservations: read without decoding the rest, and never refused here.
import type { Document, NodeIndex, RequestBounds } from "@dragoman/core";

import { stringOf } from "../shared/string-value.ts";

/** Reads output limit, number of answers, and the end user; the current members win over the deprecated ones. */
export function readBounds(document: Document): RequestBounds {
  const { root } = document;
  const limit =
    count(document, document.member(root, "max_completion_tokens")) ??
    count(document, document.member(root, "max_tokens"));
  const choices = count(document, document.member(root, "n"));
  const endUser =
    name(document, document.member(root, "safety_identifier")) ?? name(document, document.member(root, "user"));
  return {
    ...(limit === undefined ? null : { maxOutputTokens: limit }),
    ...(choices === undefined ? null : { choices }),
    ...(endUser === undefined ? null : { endUser }),
  };
}

function count(document: Document, node: NodeIndex): number | undefined {
  if (!document.isNumber(node)) return undefined;
  const value = document.number(node);
  return value >= 1 && Number.isSafeInteger(value) ? value : undefined;
}

function name(document: Document, node: NodeIndex): string | undefined {
  return stringOf(document, node) || undefined;
}
