/** Encodes a neutral request for `POST /api/chat`. It is the dry run, too: no side effects, and bytes only when nothing stands against it. */
import type { EncodeResult, EncodeTarget, NeutralRequest } from "@dragoman/core";

import { encodeMessages } from "./encode-messages.ts";
import { encodeFormat, encodeOptions, encodeThink } from "./encode-options.ts";
import { encodeTools } from "./encode-tools.ts";
import { Encoding } from "./encoding.ts";
import { reportUnsupported } from "./report-unsupported.ts";

/** Encodes a request, or tells everything that stands against it. */
export function encodeRequest(request: NeutralRequest, target: EncodeTarget): EncodeResult {
  const encoding = new Encoding(request, target);
  const { issues, writer } = encoding;
  writer.glue('{"model":').string(target.model);
  // Without these Ollama streams, and quietly forgets the oldest messages where they are too long for the model: an error lets the
  // gateway go on to a model with a larger window (ollama/ollama, api/types.go, ChatRequest, read 2026-11-30).
  writer.glue(`,"stream":${request.stream},"truncate":false,"shift":false`);
  encodeMessages(encoding);
  encodeTools(encoding);
  encodeFormat(encoding);
  encodeThink(encoding);
  encodeOptions(encoding);
  reportUnsupported(encoding);
  writer.glue("}");
  if (issues.isRefused) return { ok: false, issues: issues.issues };
  const encoded = { body: writer.finish(), path: "/api/chat", headers: [], toolMap: null };
  return { ok: true, encoded, issues: issues.issues };
}
