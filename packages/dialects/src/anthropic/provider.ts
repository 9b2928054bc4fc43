/** The provider half of this dialect: where each task of the contract is done. Stateless. */
import type { ProviderDialect } from "@dragoman/core";

import { classifyError } from "./classify-error.ts";
import { decodeResponse, decodeTokenCount } from "./decode-response.ts";
import { createStreamDecoder } from "./decode-stream.ts";
import { encodeRequest } from "./encode-request.ts";
import { forwardRequest } from "./forward-request.ts";
import { ANTHROPIC } from "./members.ts";
import { createStreamObserver, observeResponse, readUsage } from "./observe-stream.ts";
import { compileProfile, profileOf } from "./profiles.ts";

/** Speaks the Anthropic Messages API to upstreams. */
export const anthropicProvider: ProviderDialect = {
  id: ANTHROPIC,
  operations: ["generate", "count-tokens"],
  framing: "sse",
  signatureOrigins: ["a", "ar"],
  compileProfile,
  normalizesAnswers: (profile) => profileOf(profile).normalize,
  forwardRequest,
  encodeRequest,
  decodeResponse,
  observeResponse,
  readUsage: (document) => readUsage(document),
  decodeTokenCount,
  createStreamDecoder,
  createStreamObserver: (context) => createStreamObserver(context),
  classifyError,
};
