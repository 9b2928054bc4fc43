// Encodes a neutral request for a chat server. This is also the dry run: it has no side effects, finds everything that stands against
// the server, and returns bytes only when nothing does.
import type { EncodeResult, EncodeTarget, NeutralRequest, ToolMap } from "@dragoman/core";

import { encodeMessages } from "./encode-messages.ts";
import { encodeOperations } from "./encode-operations.ts";
import { encodeOutput } from "./encode-output.ts";
import { encodeReasoning } from "./encode-reasoning.ts";
import { encodeLimits } from "./encode-sampling.ts";
import { encodeTools } from "./encode-tools.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import { ChatEncoding, holderOf } from "./encoding.ts";
import { CHAT_PATH } from "./forward-request.ts";
import { acceptsMember } from "./profiles.ts";
import { writeExtensions } from "./raw-json.ts";
import { upstreamHeaders } from "./upstream-headers.ts";

/** Encodes a request, or tells what stands against it. */
export function encodeRequest(request: NeutralRequest, target: EncodeTarget): EncodeResult {
  const encoding = new ChatEncoding(request, target);
  const { issues, writer } = encoding;
  if (request.operation !== "generate")
    issues.reject("capability_missing", "", `Providers of this dialect have no call for ${request.operation}.`);
  encoding.member("model").string(target.model);
  encoding.member("messages");
  encodeMessages(encoding);
  encodeTools(encoding);
  encodeOutput(encoding);
  encodeReasoning(encoding);
  encodeLimits(encoding);
  encodeOperations(encoding);
  encodeExtensions(encoding);
  if (request.stream) encodeStreamMembers(encoding);
  writer.glue("}");
  if (issues.isRefused) return { ok: false, issues: issues.issues };
  const encoded = {
    body: writer.finish(),
    path: CHAT_PATH,
    headers: upstreamHeaders(target.options),
    toolMap: toolMapOf(encoding),
  };
  return { ok: true, encoded, issues: issues.issues };
}

/** Usage is always wanted; the client's own wish decides what reaches the client. */
function encodeStreamMembers(encoding: ChatEncoding): void {
  const { request, profile, writer } = encoding;
  encoding.member("stream").glue("true");
  if (profile.streamUsage !== "stream_options") return;
  const options = request.extensions.filter(
    (extension) => extension.dialect === OPENAI_CHAT && extension.path.startsWith(STREAM_OPTIONS),
  );
  encoding.member("stream_options").glue('{"include_usage":true');
  writeExtensions(writer, options, STREAM_OPTIONS);
  writer.glue("}");
}

const STREAM_OPTIONS = "stream_options.";

/** Members that only this dialect has go back to where they stood; a closed schema may lack them. */
function encodeExtensions(encoding: ChatEncoding): void {
  const { request, profile, writer } = encoding;
  const own = encoding.ownExtensions(request.extensions);
  const taken = own.filter((extension) => {
    // These are written with their object; those of a stream's options say nothing without a stream.
    if (holderOf(extension.path) !== null) return false;
    const isTaken = acceptsMember(profile, extension.path);
    if (!isTaken) encoding.foreignExtension(extension);
    return isTaken;
  });
  writeExtensions(writer, taken);
}

function toolMapOf({ wrappedCustom, namespaces }: ChatEncoding): ToolMap | null {
  return wrappedCustom.size === 0 && namespaces.size === 0 ? null : { wrappedCustom, namespaces };
}
