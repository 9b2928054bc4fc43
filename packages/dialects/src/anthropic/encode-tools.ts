/** Writes tools and tool choice: which tools go, under which names, with which schemas. */
import {
  isSlice,
  scanRange,
  textToString,
  type CustomTool,
  type FunctionTool,
  type Raw,
  type SegmentWriter,
  type ServerTool,
  type Text,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolMap,
} from "@dragoman/core";

import { withObjectType } from "../shared/schema-rules.ts";
import { stringOf } from "../shared/string-value.ts";
import { base62Digest } from "../shared/tool-ids.ts";
import type { CacheMarks } from "./cache-marks.ts";
import type { Encoding } from "./encoding.ts";
import { ANTHROPIC } from "./members.ts";
import { fitSchema } from "./schema-subset.ts";

const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_NAME_LENGTH = 64;
const WRAPPED_SCHEMA =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

type NamedTool = FunctionTool | CustomTool;

/** The names under which tools go to the provider, and the way back. */
export class ToolNames {
  readonly #encoding: Encoding;
  readonly #byTool = new Map<NamedTool, Text>();
  readonly #custom = new Set<string>();
  readonly #namespaces = new Map<string, { readonly namespace: string; readonly name: string }>();

  constructor(encoding: Encoding) {
    this.#encoding = encoding;
    const kinds = new Map<string, NamedTool["kind"]>();
    for (const tool of encoding.request.tools) {
      if (tool.kind === "server") continue;
      const name = this.#resolve(tool);
      this.#byTool.set(tool, name);
      const decoded = textToString(name);
      const other = kinds.get(decoded);
      if (other !== undefined) {
        const code = other === tool.kind ? "tool_name_invalid" : "tool_kind_unsupported";
        encoding.issues.reject(code, tool.at, "Two tools have the same name.");
      }
      kinds.set(decoded, tool.kind);
      if (tool.kind === "custom") this.#custom.add(decoded);
    }
  }

  /** The name of a tool of the request. */
  nameOf(tool: NamedTool): Text {
    return this.#byTool.get(tool) ?? tool.name;
  }

  #resolve(tool: NamedTool): Text {
    const namespace = tool.kind === "function" ? tool.namespace : undefined;
    if (namespace === undefined) return this.#checked(tool.name, tool.at);
    this.#encoding.issues.adapt("namespace_flattened", tool.at, "The namespace became part of the name.");
    return this.#checked(this.#flatten(namespace, tool.name), tool.at);
  }

  /** The name that a call in the history has. */
  nameOfCall(call: ToolCallPart): Text {
    return this.#checked(call.namespace === undefined ? call.name : this.#flatten(call.namespace, call.name), call.at);
  }

  /** What answers need to give the client its own names back, or null. */
  toolMap(): ToolMap | null {
    if (this.#custom.size === 0 && this.#namespaces.size === 0) return null;
    return { wrappedCustom: this.#custom, namespaces: this.#namespaces };
  }

  #flatten(namespace: Text, name: Text): string {
    const pair = { namespace: textToString(namespace), name: textToString(name) };
    const full = `${pair.namespace}__${pair.name}`;
    const flat =
      full.length <= MAX_NAME_LENGTH ? full : `${full.slice(0, MAX_NAME_LENGTH - 9)}_${base62Digest(full, 8)}`;
    this.#namespaces.set(flat, pair);
    return flat;
  }

  #checked(name: Text, at: string): Text {
    if (!LEGAL_NAME.test(textToString(name))) {
      this.#encoding.issues.reject(
        "tool_name_invalid",
        at,
        "A tool's name is 1 to 64 letters, digits, underscores or hyphens.",
      );
    }
    return name;
  }
}

/** The tools that go: hosted ones of others are left out where that is allowed, and those outside an allowed subset. */
export function selectTools(encoding: Encoding): readonly Tool[] {
  const { request, issues } = encoding;
  const { toolChoice } = request;
  const kept = request.tools.filter(
    (tool) => tool.kind !== "server" || tool.dialect === ANTHROPIC || !dropHosted(encoding, tool),
  );
  if (kept.length === 0 && request.tools.length > 0 && toolChoice?.mode === "required") {
    issues.reject(
      "server_tool_unsupported",
      encoding.originOf("toolChoice"),
      "A call is required, but no tool is left.",
    );
  }
  if (toolChoice?.mode !== "allowed") return kept;
  const names = new Set(toolChoice.names.map(textToString));
  issues.adapt("tools_filtered", encoding.originOf("toolChoice"), "Only the allowed tools are sent.");
  return kept.filter((tool) => tool.name !== undefined && names.has(textToString(tool.name)));
}

/** True when the tool must be left out. */
function dropHosted({ issues, request }: Encoding, tool: ServerTool): boolean {
  const isChosen = request.toolChoice?.mode === "server";
  if (tool.clientExecuted || isChosen) {
    issues.reject("server_tool_unsupported", tool.at, "The tool is known to its own provider's models only.");
    return true;
  }
  issues.drop("server_tool_unsupported", tool.at, "The tool is hosted by another provider.");
  return true;
}

/** Writes `,"tools":[…]`. */
export class ToolWriter {
  readonly #encoding: Encoding;
  readonly #marks: CacheMarks;
  readonly #names: ToolNames;
  readonly #writer: SegmentWriter;

  constructor(encoding: Encoding, marks: CacheMarks, names: ToolNames, writer: SegmentWriter) {
    this.#encoding = encoding;
    this.#marks = marks;
    this.#names = names;
    this.#writer = writer;
  }

  write(tools: readonly Tool[]): void {
    if (tools.length === 0) return;
    const { capabilities } = this.#encoding.target;
    const isTooMany = capabilities.tools.max !== undefined && tools.length > capabilities.tools.max;
    if (!capabilities.tools.function || isTooMany) {
      this.#encoding.issues.reject(
        "capability_missing",
        this.#encoding.originOf("tools"),
        "The model does not take these tools.",
      );
    }
    this.#writer.glue(',"tools":[');
    tools.forEach((tool, index) => {
      if (index > 0) this.#writer.glue(",");
      if (tool.kind === "server") this.#writeRaw(tool.raw);
      else if (tool.kind === "custom") this.#writeWrapped(tool);
      else this.#writeFunction(tool);
    });
    this.#writer.glue("]");
  }

  #writeFunction(tool: FunctionTool): void {
    const writer = this.#writer;
    writer.glue('{"name":').token(this.#names.nameOf(tool));
    if (tool.description !== undefined) writer.glue(',"description":').token(tool.description);
    writer.glue(',"input_schema":');
    const strict = this.#fitStrict(tool);
    if (strict.schema === null) this.#writeSchema(tool);
    else for (const part of strict.schema) writer.bytes(part);
    if (strict.isStrict) writer.glue(',"strict":true');
    this.#marks.write(writer, tool);
    this.#encoding.writeExtensions(writer, tool.extensions);
    writer.glue("}");
  }

  /** Whether the provider enforces the tool's schema, and that schema where it has to be spelled otherwise. */
  #fitStrict(tool: FunctionTool): { readonly isStrict: boolean; readonly schema: readonly Uint8Array[] | null } {
    if (tool.strict !== true) return { isStrict: false, schema: null };
    const { issues, target } = this.#encoding;
    const fit = tool.schema === undefined || !target.capabilities.tools.strict ? null : fitSchema(tool.schema);
    if (fit?.fits === "exactly") return { isStrict: true, schema: null };
    if (fit?.fits === "changed") {
      issues.adapt("schema_adapted", tool.at, "oneOf is written as anyOf.");
      return { isStrict: true, schema: fit.schema };
    }
    issues.drop("strict_unsupported", tool.at, "The deployment cannot enforce the tool's schema.");
    return { isStrict: false, schema: null };
  }

  #writeSchema(tool: FunctionTool): void {
    const rooted = withObjectType(tool.schema);
    if (!rooted.ok) {
      this.#encoding.issues.reject("schema_unsupported", tool.at, "The schema's root is not an object schema.");
      this.#writer.glue("{}");
      return;
    }
    if (rooted.changed && tool.schema !== undefined) {
      this.#encoding.issues.adapt("schema_adapted", tool.at, 'The schema\'s root got "type":"object".');
    }
    this.#writeRaw(rooted.schema);
  }

  #writeWrapped(tool: CustomTool): void {
    const { issues, target } = this.#encoding;
    issues.adapt("custom_tool_wrapped", tool.at, "The free-text tool goes as a function tool.");
    const grammar = grammarOf(tool);
    if (grammar !== null) issues.drop("tool_grammar_unenforced", tool.at, "The tool's grammar cannot be enforced.");
    const description = [tool.description === undefined ? "" : textToString(tool.description), grammar ?? ""].filter(
      (text) => text !== "",
    );
    this.#writer.glue('{"name":').token(this.#names.nameOf(tool));
    if (description.length > 0) this.#writer.glue(',"description":').string(description.join("\n\n"));
    this.#writer.glue(`,"input_schema":${WRAPPED_SCHEMA}`);
    if (target.capabilities.tools.strict) this.#writer.glue(',"strict":true');
    this.#encoding.writeExtensions(this.#writer, tool.extensions);
    this.#writer.glue("}");
  }

  #writeRaw(raw: Raw): void {
    if (isSlice(raw)) this.#writer.raw(raw);
    else this.#writer.glue(JSON.stringify(raw.value));
  }
}

/** A custom tool's grammar as a sentence and its definition, or null for plain text. */
function grammarOf(tool: CustomTool): string | null {
  if (tool.format === undefined || !isSlice(tool.format)) return null;
  const { bytes, start, end } = tool.format;
  const result = scanRange(bytes, start, end);
  if (!result.ok) return null;
  const { document } = result;
  if (!document.stringEquals(document.member(document.root, "type"), "grammar")) return null;
  const nested = document.member(document.root, "grammar");
  const grammar = document.isObject(nested) ? nested : document.root;
  const syntax = document.member(grammar, "syntax");
  const definition = document.member(grammar, "definition");
  const name = stringOf(document, syntax) ?? "given";
  return `The input must match this ${name} grammar.\n${stringOf(document, definition) ?? ""}`;
}

/** Writes `,"tool_choice":…`; there is none without tools. */
export function writeToolChoice(
  encoding: Encoding,
  names: ToolNames,
  writer: SegmentWriter,
  state: { readonly hasTools: boolean; readonly isThinkingBudgeted: boolean },
): void {
  const { request, issues, target } = encoding;
  const { toolChoice, parallelTools } = request;
  if (!state.hasTools) return;
  const close = (): void => {
    encoding.writeInner(writer, request.extensions, "tool_choice");
    writer.glue("}");
  };
  if (toolChoice?.mode === "none") {
    writer.glue(',"tool_choice":{"type":"none"');
    close();
    return;
  }
  if (toolChoice?.mode === "server" && toolChoice.dialect === ANTHROPIC && isSlice(toolChoice.raw)) {
    writer.glue(',"tool_choice":').raw(toolChoice.raw);
    return;
  }
  const isForced =
    toolChoice?.mode === "required" ||
    toolChoice?.mode === "tool" ||
    (toolChoice?.mode === "allowed" && toolChoice.required);
  if (isForced && (!target.capabilities.tools.forcedChoice || state.isThinkingBudgeted)) {
    issues.reject(
      "tool_choice_unsupported",
      encoding.originOf("toolChoice"),
      "The model cannot be forced to call a tool here.",
    );
  }
  let isSerial = parallelTools === false;
  if (isSerial && !target.capabilities.tools.parallelOff) {
    issues.drop(
      "parallel_control_unsupported",
      encoding.originOf("parallelTools"),
      "The model always may call tools in parallel.",
    );
    isSerial = false;
  }
  const isExtended = request.extensions.some(
    ({ dialect, path }) => dialect === ANTHROPIC && path.startsWith("tool_choice."),
  );
  if (!isForced && !isSerial && !isExtended) return;
  writer.glue(`,"tool_choice":{"type":"${isForced ? forcedWord(toolChoice) : "auto"}"`);
  if (toolChoice?.mode === "tool") writer.glue(',"name":').token(chosenName(encoding, names, toolChoice.name));
  if (isSerial) writer.glue(',"disable_parallel_tool_use":true');
  close();
}

const forcedWord = (choice: ToolChoice | undefined): "tool" | "any" => (choice?.mode === "tool" ? "tool" : "any");

/** The name that the chosen tool goes by. */
function chosenName({ request }: Encoding, names: ToolNames, chosen: Text): Text {
  const wanted = textToString(chosen);
  const tool = request.tools.find(
    (candidate) => candidate.name !== undefined && textToString(candidate.name) === wanted,
  );
  return tool === undefined || tool.kind === "server" ? chosen : names.nameOf(tool);
}
