// Tools, the choice among them and parallel calls for a chat server. Free-text tools become functions where the server knows functions
// only; a choice from a subset becomes the subset where the server cannot choose.
import { encodeString, rawToValue, textEquals, textToString } from "@dragoman/core";
import type { CustomTool, FunctionTool, Raw, ServerTool, Text, Tool, ToolChoice } from "@dragoman/core";

import { satisfiesStrictRules } from "../shared/schema-rules.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import type { ChatEncoding } from "./encoding.ts";
import { writeExtensions, writeRaw } from "./raw-json.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Schema of a function that stands for a free-text tool. */
const WRAPPED_SCHEMA =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

/** Whether the server takes a name. */
export function isLegalToolName(name: string): boolean {
  return TOOL_NAME.test(name);
}

/** Writes `tools`, `tool_choice` and `parallel_tool_calls`, as far as there is something to say. */
export function encodeTools(encoding: ChatEncoding): void {
  const { request, issues, capabilities, writer } = encoding;
  const tools = keptTools(encoding);
  if (tools.length === 0) {
    refuseChoiceWithoutTools(encoding);
    return;
  }
  if (!capabilities.tools.function) issues.reject("capability_missing", "/tools", "The model calls no tools.");
  const { max } = capabilities.tools;
  if (max !== undefined && tools.length > max)
    issues.reject("capability_missing", "/tools", `The server takes at most ${max} tools.`);
  refuseDuplicates(encoding, tools);
  encoding.member("tools").glue("[");
  tools.forEach((tool, index) => {
    if (index > 0) writer.glue(",");
    if (tool.kind === "function") writeFunction(encoding, tool);
    else if (tool.kind === "custom") writeCustom(encoding, tool);
    else writeRaw(writer, tool.raw);
  });
  writer.glue("]");
  if (request.toolChoice !== undefined) encodeChoice(encoding, request.toolChoice, tools);
  if (request.parallelTools === false && request.toolChoice?.mode !== "none") encodeParallelOff(encoding);
}

/** The tools that go out: hosted tools of others fall out where that is allowed, and a subset may be all that is left. */
function keptTools(encoding: ChatEncoding): readonly Tool[] {
  const { request, issues, profile } = encoding;
  const hosted = request.tools.filter(
    (tool): tool is ServerTool => tool.kind === "server" && tool.dialect !== OPENAI_CHAT,
  );
  for (const tool of hosted) dropHosted(encoding, tool, hosted.length);
  const tools = request.tools.filter((tool) => tool.kind !== "server" || tool.dialect === OPENAI_CHAT);
  const choice = request.toolChoice;
  if (choice?.mode !== "allowed" || profile.toolChoices.includes("allowed")) return tools;
  issues.adapt("tools_filtered", encoding.originOf("toolChoice"), "Only the allowed tools are sent.");
  return tools.filter((tool) => tool.kind !== "server" && choice.names.some((name) => textEquals(name, tool.name)));
}

/** A tool that another provider hosts can be lost only where nothing else depends on it. */
function dropHosted({ request, issues }: ChatEncoding, tool: ServerTool, hostedCount: number): void {
  const choice = request.toolChoice;
  const isNamed =
    choice?.mode === "server" ||
    (choice?.mode === "tool" && tool.name !== undefined && textEquals(choice.name, tool.name));
  const isForced = choice?.mode === "required" && request.tools.length === hostedCount;
  if (tool.clientExecuted) issues.reject("server_tool_unsupported", tool.at, "The model was not trained on this tool.");
  else if (isNamed || isForced)
    issues.reject("server_tool_unsupported", tool.at, "The tool choice needs a tool that another provider hosts.");
  else issues.drop("server_tool_unsupported", tool.at, "Another provider hosts this tool.");
}

/** Without tools only `none` and `auto` mean something, and they mean nothing to send. */
function refuseChoiceWithoutTools(encoding: ChatEncoding): void {
  const { request, issues } = encoding;
  const mode = request.toolChoice?.mode;
  if (mode === undefined || mode === "none" || mode === "auto") return;
  const at = encoding.originOf("toolChoice");
  issues.reject("tool_choice_unsupported", at, "The tool choice names a tool, but there is none.");
}

function refuseDuplicates(encoding: ChatEncoding, tools: readonly Tool[]): void {
  const kinds = new Map<string, Tool["kind"]>();
  for (const tool of tools) {
    if (tool.name === undefined) continue;
    const name = encoding.toolName(tool.name, tool.kind === "function" ? tool.namespace : undefined, tool.at);
    const kind = kinds.get(name);
    if (kind !== undefined) {
      const code = kind === tool.kind ? "tool_name_invalid" : "tool_kind_unsupported";
      encoding.issues.reject(code, tool.at, "Two tools have the same name.");
    } else if (tool.kind !== "server" && !isLegalToolName(name))
      encoding.issues.reject(
        "tool_name_invalid",
        tool.at,
        "A tool's name has letters, digits, _ and - only, at most 64.",
      );
    kinds.set(name, tool.kind);
  }
}

function writeFunction(encoding: ChatEncoding, tool: FunctionTool): void {
  const { writer, issues } = encoding;
  const own = encoding.ownExtensions(tool.extensions);
  const name = encoding.toolName(tool.name, tool.namespace, tool.at);
  if (tool.cacheBreakpoint !== undefined)
    issues.drop("cache_hint", tool.at, "Tools of this dialect carry no cache marks.");
  writer.glue(`{"type":"function","function":{"name":${encodeString(name)}`);
  if (tool.description !== undefined) writer.glue(',"description":').token(tool.description);
  if (tool.schema !== undefined) {
    writer.glue(',"parameters":');
    writeRaw(writer, tool.schema);
  }
  const strict = strictOf(encoding, tool);
  if (strict !== undefined) writer.glue(`,"strict":${strict}`);
  writeExtensions(
    writer,
    own.filter((extension) => extension.path.startsWith("function.")),
    "function.",
  );
  writer.glue("}");
  writeExtensions(
    writer,
    own.filter((extension) => !extension.path.startsWith("function.")),
  );
  writer.glue("}");
}

/** What `strict` says, or undefined for nothing. Schemas of others must meet this vendor's rules before the word is given. */
function strictOf(encoding: ChatEncoding, tool: FunctionTool): boolean | undefined {
  const { issues, profile, capabilities, isOwn } = encoding;
  if (tool.strict !== true) return profile.strictTools ? tool.strict : undefined;
  const isKnown = profile.strictTools && capabilities.tools.strict;
  if (isKnown && (isOwn || (tool.schema !== undefined && satisfiesStrictRules(tool.schema)))) return true;
  const detail = isKnown
    ? "The schema does not meet the server's rules for strict tools."
    : "The server has no strict tools.";
  issues.drop("strict_unsupported", tool.at, detail);
  return undefined;
}

function writeCustom(encoding: ChatEncoding, tool: CustomTool): void {
  const { writer, profile, capabilities } = encoding;
  if (!profile.customTools || !capabilities.tools.custom) {
    writeWrapped(encoding, tool);
    return;
  }
  const own = encoding.ownExtensions(tool.extensions);
  writer.glue('{"type":"custom","custom":{"name":').token(tool.name);
  if (tool.description !== undefined) writer.glue(',"description":').token(tool.description);
  if (tool.format !== undefined) {
    writer.glue(',"format":');
    writeRaw(writer, tool.format);
  }
  writeExtensions(
    writer,
    own.filter((extension) => extension.path.startsWith("custom.")),
    "custom.",
  );
  writer.glue("}");
  writeExtensions(
    writer,
    own.filter((extension) => !extension.path.startsWith("custom.")),
  );
  writer.glue("}");
}

/** A free-text tool as a function with one text argument; the answer's call is turned back by the tool map. */
function writeWrapped(encoding: ChatEncoding, tool: CustomTool): void {
  const { writer, issues, profile, capabilities } = encoding;
  issues.adapt("custom_tool_wrapped", tool.at, "The server knows function tools only.");
  encoding.wrappedCustom.add(textToString(tool.name));
  for (const extension of tool.extensions) encoding.foreignExtension(extension);
  const grammar = tool.format === undefined ? null : grammarText(tool.format);
  if (grammar !== null)
    issues.drop("tool_grammar_unenforced", tool.at, "The server cannot hold the tool's input to a grammar.");
  writer.glue('{"type":"function","function":{"name":').token(tool.name);
  if (tool.description !== undefined || grammar !== null) {
    const description = tool.description === undefined ? [] : [textToString(tool.description)];
    writer.glue(',"description":').string([...description, ...(grammar === null ? [] : [grammar])].join("\n\n"));
  }
  writer.glue(`,"parameters":${WRAPPED_SCHEMA}`);
  if (profile.strictTools && capabilities.tools.strict) writer.glue(',"strict":true');
  writer.glue("}}");
}

/** A grammar in words: the syntax's name, then the definition. */
function grammarText(format: Raw): string | null {
  const value = rawToValue(format);
  if (!isRecord(value) || value["type"] === "text") return null;
  const nested = value["grammar"];
  const grammar = isRecord(nested) ? nested : value;
  const wordOf = (name: string): string => (typeof grammar[name] === "string" ? grammar[name] : "");
  return `The input must follow this ${wordOf("syntax")} grammar:\n${wordOf("definition")}`;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function encodeChoice(encoding: ChatEncoding, choice: ToolChoice, tools: readonly Tool[]): void {
  const { issues, profile, capabilities } = encoding;
  const at = encoding.originOf("toolChoice");
  const refuse = (detail: string): void => issues.reject("tool_choice_unsupported", at, detail);
  switch (choice.mode) {
    case "auto":
    case "none":
      if (profile.toolChoices.includes(choice.mode)) encoding.member("tool_choice").string(choice.mode);
      else if (choice.mode === "none") refuse("The server cannot be told not to call tools.");
      return;
    case "required":
      writeRequired(encoding, at);
      return;
    case "tool":
      if (!tools.some((tool) => tool.name !== undefined && textEquals(tool.name, choice.name)))
        refuse("The tool choice names no tool of this request.");
      else if (!profile.toolChoices.includes("tool") || !capabilities.tools.forcedChoice)
        refuse("The server cannot be made to call a tool.");
      else writeNamed(encoding, choice.name, choice.kind);
      return;
    case "allowed":
      if (profile.toolChoices.includes("allowed")) writeAllowed(encoding, choice.required, choice.names, tools);
      else if (choice.required) writeRequired(encoding, at);
      return;
    case "server":
      if (choice.dialect === OPENAI_CHAT) writeRaw(encoding.member("tool_choice"), choice.raw);
      else refuse("The tool choice names a tool that another provider hosts.");
  }
}

function writeRequired(encoding: ChatEncoding, at: string): void {
  const { issues, profile, capabilities } = encoding;
  if (profile.toolChoices.includes("required") && capabilities.tools.forcedChoice)
    encoding.member("tool_choice").string(profile.toolChoiceRequiredWord);
  else issues.reject("tool_choice_unsupported", at, "The server cannot be made to call a tool.");
}

function writeNamed(encoding: ChatEncoding, name: Text, kind: "function" | "custom"): void {
  const isCustom = kind === "custom" && !encoding.wrappedCustom.has(textToString(name));
  const word = isCustom ? "custom" : "function";
  const writer = encoding.member("tool_choice").glue(`{"type":"${word}","${word}":{"name":`).token(name);
  writeExtensions(writer, encoding.innerExtensions(`tool_choice.${word}`), `tool_choice.${word}.`);
  writer.glue("}");
  writeExtensions(writer, encoding.innerExtensions("tool_choice"), "tool_choice.");
  writer.glue("}");
}

function writeAllowed(
  encoding: ChatEncoding,
  isRequired: boolean,
  names: readonly Text[],
  tools: readonly Tool[],
): void {
  const { wrappedCustom } = encoding;
  const writer = encoding.member("tool_choice");
  writer.glue(`{"type":"allowed_tools","allowed_tools":{"mode":"${isRequired ? "required" : "auto"}","tools":[`);
  names.forEach((name, index) => {
    const tool = tools.find((candidate) => candidate.name !== undefined && textEquals(candidate.name, name));
    const isCustom = tool?.kind === "custom" && !wrappedCustom.has(textToString(name));
    const word = isCustom ? "custom" : "function";
    writer
      .glue(`${index === 0 ? "" : ","}{"type":"${word}","${word}":{"name":`)
      .token(name)
      .glue("}}");
  });
  writer.glue("]");
  writeExtensions(writer, encoding.innerExtensions("tool_choice.allowed_tools"), "tool_choice.allowed_tools.");
  writer.glue("}");
  writeExtensions(writer, encoding.innerExtensions("tool_choice"), "tool_choice.");
  writer.glue("}");
}

function encodeParallelOff(encoding: ChatEncoding): void {
  const { issues, profile, capabilities } = encoding;
  if (profile.parallelToolCalls && capabilities.tools.parallelOff) encoding.member("parallel_tool_calls").glue("false");
  else
    issues.drop(
      "parallel_control_unsupported",
      encoding.originOf("parallelTools"),
      "The server cannot be held to one call at a time.",
    );
}
