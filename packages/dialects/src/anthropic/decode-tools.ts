/** Tools and tool choice of requests. */
import {
  ABSENT,
  textEquals,
  textToString,
  type FunctionTool,
  type NodeIndex,
  type ServerTool,
  type Tool,
  type ToolChoice,
} from "@dragoman/core";

import type { BodyReader, Mutable } from "./body-reader.ts";
import { ANTHROPIC, CLIENT_EXECUTED_TOOLS, TOOL_EXTENSIONS, TOOL_MEMBERS } from "./members.ts";

const TOOL_TABLE = { known: TOOL_MEMBERS, codes: TOOL_EXTENSIONS };

/** Decodes `tools`. */
export function decodeTools(reader: BodyReader): readonly Tool[] {
  const { document } = reader;
  const tools: Tool[] = [];
  const list = reader.list(document.root, "tools", "");
  let index = 0;
  for (let node = document.firstElement(list); node !== ABSENT; node = document.nextElement(node)) {
    const at = `/tools/${index}`;
    if (document.isObject(node)) tools.push(decodeTool(reader, node, at));
    else reader.refuse(node, at, "a tool object");
    index++;
  }
  return tools;
}

function decodeTool(reader: BodyReader, node: NodeIndex, at: string): Tool {
  const type = reader.string(node, "type", at);
  return type === undefined || textEquals(type, "custom")
    ? decodeFunctionTool(reader, node, at)
    : decodeServerTool(reader, node, at, textToString(type));
}

function decodeServerTool(reader: BodyReader, node: NodeIndex, at: string, toolType: string): ServerTool {
  const name = reader.string(node, "name", at);
  const tool: Mutable<ServerTool> = {
    kind: "server",
    dialect: ANTHROPIC,
    toolType,
    clientExecuted: CLIENT_EXECUTED_TOOLS.some((prefix) => toolType.startsWith(prefix)),
    raw: reader.document.raw(node),
    at,
  };
  if (name !== undefined) tool.name = name;
  return tool;
}

function decodeFunctionTool(reader: BodyReader, node: NodeIndex, at: string): FunctionTool {
  const { document } = reader;
  const tool: Mutable<FunctionTool> = {
    kind: "function",
    name: reader.requiredString(node, "name", at),
    extensions: reader
      .extensions(node, at, TOOL_TABLE)
      .filter(({ path }) => !isDefaultExtra(reader, node, path))
      .concat(reader.innerExtensions(node, at, ["cache_control"])),
    at,
  };
  const description = reader.string(node, "description", at);
  const schema = reader.object(node, "input_schema", at);
  const strict = reader.boolean(node, "strict", at);
  const cacheBreakpoint = reader.cacheControl(node, at);
  if (description !== undefined) tool.description = description;
  if (schema !== ABSENT) tool.schema = document.raw(schema);
  if (strict !== undefined) tool.strict = strict;
  if (cacheBreakpoint !== undefined) tool.cacheBreakpoint = cacheBreakpoint;
  return tool;
}

/** Extras at their default change nothing: `defer_loading:false`, `allowed_callers:["direct"]`. */
function isDefaultExtra(reader: BodyReader, tool: NodeIndex, name: string): boolean {
  const { document } = reader;
  const value = document.member(tool, name);
  if (name === "defer_loading") return document.isBoolean(value) && !document.boolean(value);
  return (
    name === "allowed_callers" &&
    document.count(value) === 1 &&
    document.stringEquals(document.firstElement(value), "direct")
  );
}

/** What `tool_choice` says. */
export interface DecodedToolChoice {
  readonly choice: ToolChoice | undefined;
  readonly parallelTools: boolean | undefined;
}

/** Decodes `tool_choice`; naming a tool that the request does not have is refused. */
export function decodeToolChoice(reader: BodyReader, tools: readonly Tool[]): DecodedToolChoice {
  const { document } = reader;
  const at = "/tool_choice";
  const node = reader.object(document.root, "tool_choice", "");
  if (node === ABSENT) return { choice: undefined, parallelTools: undefined };
  const parallelTools = reader.boolean(node, "disable_parallel_tool_use", at) === true ? false : undefined;
  const type = reader.word(node, "type", at, ["auto", "any", "none", "tool"]);
  switch (type) {
    case "none":
      return { choice: { mode: "none" }, parallelTools: undefined };
    case "any":
      return { choice: { mode: "required" }, parallelTools };
    case "tool":
      return { choice: decodeNamedChoice(reader, node, tools), parallelTools };
    default:
      if (type === undefined)
        reader.refuse(document.member(node, "type"), `${at}/type`, "one of auto, any, none, tool");
      // `auto` is what an absent choice means.
      return { choice: undefined, parallelTools };
  }
}

function decodeNamedChoice(reader: BodyReader, node: NodeIndex, tools: readonly Tool[]): ToolChoice {
  const name = reader.requiredString(node, "name", "/tool_choice");
  const tool = tools.find((candidate) => candidate.name !== undefined && textEquals(candidate.name, name));
  if (tool?.kind === "server") return { mode: "server", dialect: ANTHROPIC, raw: reader.document.raw(node) };
  if (tool === undefined) reader.refuseValue("/tool_choice/name", "expected the name of a tool in `tools`.");
  return { mode: "tool", name, kind: "function" };
}
