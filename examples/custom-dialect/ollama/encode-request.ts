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
  // Without the member Ollama streams.
  writer.glue(`,"stream":${request.stream}`);
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
