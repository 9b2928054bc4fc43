/** What a message request says about its size and sender, for reservations: read without decoding the rest, and never refused here. */
import type { Document, RequestBounds } from "@dragoman/core";

import { stringOf } from "../shared/string-value.ts";

/** Reads the output limit and the end user that `metadata` names. A limit of 0 only warms a cache. */
export function readBounds(document: Document): RequestBounds {
  const { root } = document;
  const limitNode = document.member(root, "max_tokens");
  const limit = document.isNumber(limitNode) ? document.number(limitNode) : -1;
  const userNode = document.member(document.member(root, "metadata"), "user_id");
  const endUser = stringOf(document, userNode) ?? "";
  return {
    ...(limit >= 0 && Number.isSafeInteger(limit) ? { maxOutputTokens: limit } : null),
    ...(endUser === "" ? null : { endUser }),
  };
}
