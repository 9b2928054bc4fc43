// Tools and the choice among them in the neutral form, in today's members and in the deprecated `functions`.
import { ABSENT } from "@dragoman/core";
import type { FunctionTool, NodeIndex, Text, Tool, ToolChoice } from "@dragoman/core";

import { OPENAI_CHAT } from "./dialect-id.ts";
import { decodeBreakpoint } from "./decode-parts.ts";
import type { RequestReader } from "./request-reader.ts";

const TOOL_MEMBERS: ReadonlySet<string> = new Set([
  "type",
  "function",
  "custom",
  "cache_control",
  "prompt_cache_breakpoint",
]);
const FUNCTION_MEMBERS: ReadonlySet<string> = new Set(["name", "description", "parameters", "strict", "cache_control"]);
const CUSTOM_MEMBERS: ReadonlySet<string> = new Set(["name", "description", "format"]);
const MODES = ["auto", "required"] as const;

/** Decodes `tools`, and `functions` after them. */
export function decodeTools(reader: RequestReader, tools: NodeIndex, functions: NodeIndex): readonly Tool[] {
  const { document } = reader;
  const decoded: Tool[] = [];
  if (reader.isArray(tools, "/tools")) {
    let index = 0;
    for (let node = document.firstElement(tools); node !== ABSENT; node = document.nextElement(node)) {
      const tool = decodeTool(reader, node, `/tools/${index}`);
      if (tool !== null) decoded.push(tool);
      index++;
    }
  }
  if (reader.isArray(functions, "/functions")) {
    let index = 0;
    for (let node = document.firstElement(functions); node !== ABSENT; node = document.nextElement(node)) {
      const at = `/functions/${index}`;
      const tool = reader.isObject(node, at) ? decodeFunction(reader, node, ABSENT, at, at) : null;
      if (tool !== null) decoded.push(tool);
      index++;
    }
  }
  return decoded;
}

function decodeTool(reader: RequestReader, node: NodeIndex, at: string): Tool | null {
  const { document } = reader;
  if (!document.isObject(node)) {
    reader.fail(`A tool must be an object, not ${reader.kindOf(node)}.`, at);
    return null;
  }
  const type = reader.string(document.member(node, "type"), `${at}/type`);
  const body = document.member(node, "function");
  if (type === "function" || (type === undefined && document.isObject(body))) {
    if (reader.isObject(body, `${at}/function`)) return decodeFunction(reader, body, node, `${at}/function`, at);
    reader.fail("A function tool must have the member function.", `${at}/function`);
    return null;
  }
  if (type === "custom") return decodeCustom(reader, document.member(node, "custom"), node, at);
  if (type === undefined) {
    reader.fail("A tool must have a type.", `${at}/type`);
    return null;
  }
  const raw = document.raw(node);
  return { kind: "server", dialect: OPENAI_CHAT, toolType: type, clientExecuted: false, raw, at };
}

function decodeFunction(
  reader: RequestReader,
  body: NodeIndex,
  tool: NodeIndex,
  bodyAt: string,
  at: string,
): FunctionTool | null {
  const { document } = reader;
  const name = reader.text(document.member(body, "name"), `${bodyAt}/name`);
  if (name === undefined) {
    reader.fail("A function must have a name.", `${bodyAt}/name`);
    return null;
  }
  const description = reader.text(document.member(body, "description"), `${bodyAt}/description`);
  const parameters = document.member(body, "parameters");
  const hasSchema = reader.isObject(parameters, `${bodyAt}/parameters`);
  const strict = reader.boolean(document.member(body, "strict"), `${bodyAt}/strict`);
  const mark = decodeBreakpoint(reader, tool, at) ?? decodeBreakpoint(reader, body, bodyAt);
  const inner = reader
    .unknownMembers(body, FUNCTION_MEMBERS, bodyAt, "tool_extra_unsupported")
    .map((extension) => (tool === ABSENT ? extension : { ...extension, path: `function.${extension.path}` }));
  return {
    kind: "function",
    name,
    ...(description === undefined ? null : { description }),
    ...(hasSchema ? { schema: document.raw(parameters) } : null),
    ...(strict === undefined ? null : { strict }),
    ...(mark === null ? null : { cacheBreakpoint: mark }),
    extensions: [...inner, ...reader.unknownMembers(tool, TOOL_MEMBERS, at, "tool_extra_unsupported")],
    at,
  };
}

function decodeCustom(reader: RequestReader, body: NodeIndex, tool: NodeIndex, at: string): Tool | null {
  const { document } = reader;
  const name = reader.text(document.member(body, "name"), `${at}/custom/name`);
  if (name === undefined) {
    reader.fail("A custom tool must have a name.", `${at}/custom/name`);
    return null;
  }
  const description = reader.text(document.member(body, "description"), `${at}/custom/description`);
  const format = document.member(body, "format");
  const hasFormat =
    reader.isObject(format, `${at}/custom/format`) && !document.stringEquals(document.member(format, "type"), "text");
  return {
    kind: "custom",
    name,
    ...(description === undefined ? null : { description }),
    ...(hasFormat ? { format: document.raw(format) } : null),
    extensions: reader
      .unknownMembers(body, CUSTOM_MEMBERS, `${at}/custom`, "tool_extra_unsupported")
      .map((extension) => ({ ...extension, path: `custom.${extension.path}` }))
      .concat(reader.unknownMembers(tool, TOOL_MEMBERS, at, "tool_extra_unsupported")),
    at,
  };
}

/** Decodes `tool_choice`; undefined when it says nothing. */
export function decodeToolChoice(reader: RequestReader, node: NodeIndex, hasTools: boolean): ToolChoice | undefined {
  const { document } = reader;
  const at = "/tool_choice";
  if (!reader.has(node)) return undefined;
  if (document.isString(node)) {
    const mode = reader.word(node, at, ["none", "auto", "required"]);
    const isNeutral = hasTools ? mode === "auto" : mode === "none";
    return mode === undefined || isNeutral ? undefined : { mode };
  }
  if (!reader.isObject(node, at)) return undefined;
  const type = reader.string(document.member(node, "type"), `${at}/type`);
  if (type === "function" || type === "custom") {
    const name = reader.text(document.member(document.member(node, type), "name"), `${at}/${type}/name`);
    if (name === undefined) reader.fail("The choice must name a tool.", `${at}/${type}/name`);
    return name === undefined ? undefined : { mode: "tool", name, kind: type };
  }
  if (type === "allowed_tools")
    return decodeAllowed(reader, document.member(node, "allowed_tools"), `${at}/allowed_tools`);
  if (type === undefined) reader.fail("The choice must have a type.", `${at}/type`);
  return { mode: "server", dialect: OPENAI_CHAT, raw: document.raw(node) };
}

function decodeAllowed(reader: RequestReader, node: NodeIndex, at: string): ToolChoice | undefined {
  const { document } = reader;
  if (!reader.isObject(node, at)) return undefined;
  const mode = reader.word(document.member(node, "mode"), `${at}/mode`, MODES);
  const names: Text[] = [];
  const tools = document.member(node, "tools");
  if (!reader.isArray(tools, `${at}/tools`)) reader.fail("The allowed tools must be an array.", `${at}/tools`);
  let index = 0;
  for (let tool = document.firstElement(tools); tool !== ABSENT; tool = document.nextElement(tool)) {
    const body = document.member(
      tool,
      document.stringEquals(document.member(tool, "type"), "custom") ? "custom" : "function",
    );
    const name = reader.text(document.member(body, "name"), `${at}/tools/${index}`);
    if (name === undefined) reader.fail("An allowed tool must have a name.", `${at}/tools/${index}`);
    else names.push(name);
    index++;
  }
  return { mode: "allowed", required: mode === "required", names };
}

/** Decodes the deprecated `function_call` of a request. */
export function decodeFunctionChoice(
  reader: RequestReader,
  node: NodeIndex,
  hasTools: boolean,
): ToolChoice | undefined {
  const { document } = reader;
  const at = "/function_call";
  if (!reader.has(node)) return undefined;
  if (document.isString(node)) {
    const mode = reader.word(node, at, ["none", "auto"]);
    const isNeutral = hasTools ? mode === "auto" : mode === "none";
    return mode === undefined || isNeutral ? undefined : { mode };
  }
  if (!reader.isObject(node, at)) return undefined;
  const name = reader.text(document.member(node, "name"), `${at}/name`);
  if (name === undefined) reader.fail("The choice must name a function.", `${at}/name`);
  return name === undefined ? undefined : { mode: "tool", name, kind: "function" };
}
