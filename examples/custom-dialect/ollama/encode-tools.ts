/** Tools for Ollama: functions, from which the model chooses freely. It cannot be made to call one, or to call one at a time. */
import { textEquals } from "@dragoman/core";
import type { FunctionTool, Tool } from "@dragoman/core";

import type { Encoding } from "./encoding.ts";

/** Writes the member `tools`, as far as there are some. */
export function encodeTools(encoding: Encoding): void {
  const { request, issues, writer, target } = encoding;
  const tools = choose(encoding).flatMap((tool) => asFunction(encoding, tool) ?? []);
  if (request.parallelTools === false && request.tools.length > 0)
    issues.drop("parallel_control_unsupported", encoding.placeOf("parallelTools"), "Ollama calls tools as it likes.");
  if (tools.length === 0) return;
  if (!target.capabilities.tools.function) issues.reject("capability_missing", "/tools", "The model calls no tools.");
  tools.forEach((tool, index) => {
    writer.glue(index === 0 ? ',"tools":[' : ",");
    writeFunction(encoding, tool);
  });
  writer.glue("]");
}

/** The tools that the client's choice leaves. */
function choose(encoding: Encoding): readonly Tool[] {
  const { issues, request } = encoding;
  const { toolChoice, tools } = request;
  const at = encoding.placeOf("toolChoice");
  switch (toolChoice?.mode) {
    case undefined:
    case "auto":
      return tools;
    case "none":
      if (tools.length > 0) issues.adapt("tools_filtered", at, "No tools are sent, since none may be called.");
      return [];
    case "required":
    case "tool":
    case "server":
      issues.reject("tool_choice_unsupported", at, "Ollama cannot be made to call a tool.");
      return tools;
    case "allowed":
      if (toolChoice.required) issues.reject("tool_choice_unsupported", at, "Ollama cannot be made to call a tool.");
      issues.adapt("tools_filtered", at, "Only the allowed tools are sent.");
      return tools.filter(({ name }) => name !== undefined && toolChoice.names.some((each) => textEquals(each, name)));
  }
}

function asFunction({ issues }: Encoding, tool: Tool): FunctionTool | null {
  if (tool.kind === "function") return tool;
  if (tool.kind === "custom") issues.reject("tool_kind_unsupported", tool.at, "Ollama knows function tools only.");
  else if (tool.clientExecuted)
    issues.reject("server_tool_unsupported", tool.at, "The model was not trained on this tool.");
  else issues.drop("server_tool_unsupported", tool.at, "Another provider hosts this tool.");
  return null;
}

function writeFunction(encoding: Encoding, tool: FunctionTool): void {
  const { issues, writer } = encoding;
  if (tool.namespace !== undefined) issues.reject("tool_kind_unsupported", tool.at, "Ollama has no namespaces.");
  if (tool.strict === true) issues.drop("strict_unsupported", tool.at, "Ollama holds no call to its schema.");
  if (tool.cacheBreakpoint !== undefined) issues.drop("cache_hint", tool.at, "Ollama caches prefixes by itself.");
  encoding.dropExtensions(tool.extensions);
  writer.glue('{"type":"function","function":{"name":').token(tool.name);
  if (tool.description !== undefined) writer.glue(',"description":').token(tool.description);
  if (tool.schema !== undefined) {
    writer.glue(',"parameters":');
    encoding.writeRaw(tool.schema);
  }
  writer.glue("}}");
}
