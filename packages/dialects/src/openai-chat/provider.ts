// The provider half of this dialect: profiles, forwarding, encoding, and the doors to reading answers, streams and errors.
import { ABSENT } from "@dragoman/core";
import type { Document, ProviderDialect } from "@dragoman/core";

import { classifyError } from "./classify-error.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import { decodeResponse } from "./decode-response.ts";
import { ChatStreamDecoder } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";
import { forwardRequest } from "./forward-request.ts";
import { observeResponse } from "./observe-response.ts";
import { ChatStreamObserver } from "./observe-stream.ts";
import { compileChatProfile } from "./compile-profile.ts";
import { asChatProfile } from "./profiles.ts";
import { protocolError } from "../shared/neutral-error.ts";
import { UsageReader } from "./usage.ts";

/** Provider dialect of chat completions. */
export const openaiChatProvider: ProviderDialect = {
  id: OPENAI_CHAT,
  operations: ["generate"],
  framing: "sse",
  // Google's own compatible endpoint signs tool calls; no other server of this dialect makes proofs.
  signatureOrigins: ["g"],
  compileProfile: compileChatProfile,
  normalizesAnswers: (profile) => asChatProfile(profile).normalize,
  forwardRequest: (document, head, operation, _headers, target) => forwardRequest(document, head, operation, target),
  encodeRequest,
  decodeResponse,
  observeResponse,
  decodeTokenCount: (document) => {
    const count = countNode(document);
    return count === null
      ? { ok: false, error: protocolError("The provider's token count is not a number.") }
      : { ok: true, count };
  },
  createStreamDecoder: (context, emit) => new ChatStreamDecoder(context, emit),
  createStreamObserver: (context, head) => new ChatStreamObserver(context, head),
  classifyError,
  readUsage: (document, context) => {
    const reader = new UsageReader(asChatProfile(context.profile), (name) => context.count(name));
    return reader.read(document, reader.find(document, document.root), true);
  },
};

function countNode(document: Document): number | null {
  const node = document.member(document.root, "input_tokens");
  return node === ABSENT || !document.isNumber(node) ? null : document.number(node);
}
