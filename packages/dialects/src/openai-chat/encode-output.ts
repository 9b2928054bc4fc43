// The form of the output for a chat server: response format, verbosity, modalities.
import type { OutputFormat } from "@dragoman/core";

import { satisfiesStrictRules } from "../shared/schema-rules.ts";
import type { ChatEncoding } from "./encoding.ts";
import { writeExtensions, writeRaw } from "./raw-json.ts";

/** Writes `response_format`, `verbosity`, `modalities` and `audio`. */
export function encodeOutput(encoding: ChatEncoding): void {
  const { request, issues, capabilities } = encoding;
  const { format, verbosity, modalities, audio } = request.output;
  if (format !== undefined) encodeFormat(encoding, format);
  if (verbosity !== undefined && verbosity !== "medium")
    encoding.optionalMember("verbosity", "verbosity_unsupported", encoding.originOf("verbosity"))?.string(verbosity);
  const wantsAudio = modalities?.includes("audio") === true || (audio !== undefined && !encoding.isOwn);
  if (wantsAudio && !(encoding.isOwn && capabilities.output.audio))
    issues.reject("audio_output_unsupported", encoding.originOf("modalities"), "The model makes no sound.");
  if (modalities?.includes("image") === true)
    issues.reject(
      "image_output_unsupported",
      encoding.originOf("modalities"),
      "Servers of this dialect make no images.",
    );
  if (wantsAudio) encoding.member("modalities").glue(JSON.stringify(modalities ?? ["text", "audio"]));
  if (audio !== undefined) writeRaw(encoding.member("audio"), audio);
}

function encodeFormat(encoding: ChatEncoding, format: OutputFormat): void {
  const { issues, profile, capabilities, isOwn } = encoding;
  const at = encoding.originOf("format");
  if (format.kind === "text") return;
  if (format.kind === "enum") {
    issues.reject("response_format_unsupported", at, "Servers of this dialect have no enum output.");
    return;
  }
  if (format.kind === "json-object") {
    if (capabilities.structured.jsonObject && profile.responseFormats.includes("json_object")) {
      const writer = encoding.member("response_format").glue('{"type":"json_object"');
      writeExtensions(writer, encoding.innerExtensions("response_format"), "response_format.");
      writer.glue("}");
    } else issues.reject("response_format_unsupported", at, "The server has no JSON output.");
    return;
  }
  if (!capabilities.structured.jsonSchema || !profile.responseFormats.includes("json_schema")) {
    issues.reject("response_format_unsupported", at, "The server cannot hold its output to a schema.");
    return;
  }
  const { schema } = format;
  if (format.schemaDialect === "openapi" || (schema === undefined && !isOwn)) {
    issues.reject("schema_unsupported", at, "The output format must have a JSON Schema.");
    return;
  }
  const writer = encoding
    .member("response_format")
    .glue('{"type":"json_schema","json_schema":{"name":')
    .token(format.name ?? "response");
  if (format.description !== undefined) writer.glue(',"description":').token(format.description);
  if (schema !== undefined) {
    writer.glue(',"schema":');
    writeRaw(writer, schema);
  }
  const strict = format.strict ?? (isOwn || schema === undefined ? undefined : satisfiesStrictRules(schema));
  if (strict !== undefined) writer.glue(`,"strict":${strict}`);
  writeExtensions(writer, encoding.innerExtensions("response_format.json_schema"), "response_format.json_schema.");
  writer.glue("}");
  writeExtensions(writer, encoding.innerExtensions("response_format"), "response_format.");
  writer.glue("}");
}
