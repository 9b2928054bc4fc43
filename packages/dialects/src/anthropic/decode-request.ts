/** The request of a client as the neutral request. Neutral values are left out; nothing else is: what has no place is an extension. */
import {
  ABSENT,
  numToNumber,
  type DecodedRequest,
  type Document,
  type Effort,
  type Extension,
  type HeaderList,
  type NeutralRequest,
  type NodeIndex,
  type Num,
  type OutputFormat,
  type Reasoning,
  type RequestHead,
  type RouteMatch,
  type Sampling,
  type Text,
} from "@dragoman/core";

import { BodyReader, type Mutable } from "./body-reader.ts";
import { decodeMessages } from "./decode-messages.ts";
import { decodeToolChoice, decodeTools } from "./decode-tools.ts";
import {
  ANTHROPIC,
  COUNT_MEMBERS,
  FORMAT_MEMBERS,
  METADATA_MEMBERS,
  OUTPUT_CONFIG_MEMBERS,
  REQUEST_EXTENSIONS,
  REQUEST_MEMBERS,
  THINKING_MEMBERS,
  TOOL_CHOICE_MEMBERS,
} from "./members.ts";
import { readApiVersion, readBetas } from "./version-headers.ts";

const EFFORTS: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

/** Where the members of this dialect stand, by their neutral names. */
const ORIGINS: Readonly<Record<string, string>> = {
  maxOutputTokens: "/max_tokens",
  stop: "/stop_sequences",
  topP: "/top_p",
  topK: "/top_k",
  toolChoice: "/tool_choice",
  parallelTools: "/tool_choice/disable_parallel_tool_use",
  cacheAuto: "/cache_control",
  prewarm: "/max_tokens",
  endUser: "/metadata/user_id",
  serviceTier: "/service_tier",
  betas: "header:anthropic-beta",
  state: "/thread",
};

type OpenRequest = Mutable<NeutralRequest>;

/** Decodes a request. References point into the document's bytes. */
export function decodeRequest(
  document: Document,
  head: RequestHead,
  route: RouteMatch,
  headers: HeaderList,
): DecodedRequest {
  const reader = new BodyReader(document);
  const { root } = document;
  const isCount = route.operation === "count-tokens";
  const tools = decodeTools(reader);
  const { choice, parallelTools } = decodeToolChoice(reader, tools);
  const outputConfig = reader.object(root, "output_config", "");
  const format = decodeFormat(reader, outputConfig);
  const reasoning = decodeReasoning(reader, outputConfig);
  const request: OpenRequest = {
    source: ANTHROPIC,
    operation: isCount ? "count-tokens" : "generate",
    model: document.text(head.modelNode),
    stream: head.stream && !isCount,
    messages: decodeMessages(reader),
    tools,
    sampling: isCount ? {} : decodeSampling(reader),
    output: format.format === undefined ? {} : { format: format.format },
    cache: {},
    identity: {},
    streamOptions: {},
    origins: { ...ORIGINS, format: format.at, reasoning: reasoning?.at ?? "/thinking" },
    extensions: decodeExtensions(reader, outputConfig, isCount),
    apiVersion: readApiVersion(headers),
  };
  if (choice !== undefined) request.toolChoice = choice;
  if (parallelTools !== undefined) request.parallelTools = parallelTools;
  if (reasoning !== null) request.reasoning = reasoning.reasoning;
  const betas = readBetas(headers);
  if (betas.length > 0) request.betas = betas;
  decodeCacheAndSpeed(reader, request);
  if (!isCount) decodeLimitsAndIdentity(reader, request);
  return reader.error === null ? { ok: true, request } : { ok: false, error: reader.error };
}

function decodeSampling(reader: BodyReader): Sampling {
  const { root } = reader.document;
  const sampling: Mutable<Sampling> = {};
  const temperature = reader.number(root, "temperature", "");
  const topP = reader.number(root, "top_p", "");
  const topK = reader.number(root, "top_k", "");
  if (temperature !== undefined) sampling.temperature = temperature;
  if (topP !== undefined) sampling.topP = topP;
  if (topK !== undefined) sampling.topK = topK;
  return sampling;
}

function decodeFormat(
  reader: BodyReader,
  outputConfig: NodeIndex,
): { readonly format?: OutputFormat; readonly at: string } {
  const { document } = reader;
  const inConfig = reader.object(outputConfig, "format", "/output_config");
  // The deprecated beta spelling stands at the top level.
  const node = inConfig === ABSENT ? reader.object(document.root, "output_format", "") : inConfig;
  const at = inConfig === ABSENT ? "/output_format" : "/output_config/format";
  if (node === ABSENT) return { at: "/output_config/format" };
  if (!document.stringEquals(document.member(node, "type"), "json_schema")) {
    reader.refuse(document.member(node, "type"), `${at}/type`, "json_schema");
  }
  const schema = reader.object(node, "schema", at);
  const format: OutputFormat = { kind: "json-schema", schemaDialect: "json-schema" };
  return { format: schema === ABSENT ? format : { ...format, schema: document.raw(schema) }, at };
}

function decodeReasoning(
  reader: BodyReader,
  outputConfig: NodeIndex,
): { readonly reasoning: Reasoning; readonly at: string } | null {
  const thinking = reader.object(reader.document.root, "thinking", "");
  const effort = reader.word(outputConfig, "effort", "/output_config", EFFORTS);
  if (thinking === ABSENT) return effort === undefined ? null : { reasoning: { effort }, at: "/output_config/effort" };
  const reasoning: Mutable<Reasoning> = {};
  if (effort !== undefined) reasoning.effort = effort;
  decodeThinking(reader, thinking, reasoning);
  return { reasoning, at: "/thinking" };
}

function decodeThinking(reader: BodyReader, thinking: NodeIndex, reasoning: Mutable<Reasoning>): void {
  const at = "/thinking";
  const type = reader.word(thinking, "type", at, ["adaptive", "enabled", "disabled", "between_tools"]);
  switch (type) {
    case "enabled": {
      const budget = reader.number(thinking, "budget_tokens", at);
      if (budget === undefined) reader.refuse(ABSENT, `${at}/budget_tokens`, "a number");
      else reasoning.budgetTokens = budget;
      reasoning.mode = "budget";
      break;
    }
    case "disabled":
      reasoning.mode = "off";
      break;
    case "between_tools":
      reasoning.mode = "between-tools";
      break;
    case "adaptive":
      reasoning.mode = "adaptive";
      break;
    case undefined:
      reader.refuse(reader.document.member(thinking, "type"), `${at}/type`, "a kind of thinking");
      break;
  }
  const display = reader.word(thinking, "display", at, ["summarized", "omitted", "updates"]);
  if (display !== undefined) reasoning.show = display === "omitted" ? "none" : "summary";
}

function decodeCacheAndSpeed(reader: BodyReader, request: OpenRequest): void {
  const { root } = reader.document;
  const auto = reader.cacheControl(root, "");
  if (auto !== undefined) request.cache = { ...request.cache, auto };
  if (reader.word(root, "speed", "", ["standard", "fast"]) === "fast") request.speed = "fast";
}

/** Token counts are whole and not negative; `1e3` is a legal spelling. */
function isTokenCount(number: Num): boolean {
  const value = numToNumber(number);
  return Number.isInteger(value) && value >= 0;
}

function decodeLimitsAndIdentity(reader: BodyReader, request: OpenRequest): void {
  const { document } = reader;
  const { root } = document;
  const maxTokens = reader.number(root, "max_tokens", "");
  if (maxTokens === undefined) reader.refuse(reader.member(root, "max_tokens"), "/max_tokens", "a number");
  else if (!isTokenCount(maxTokens)) reader.refuseValue("/max_tokens", "expected a whole number that is not negative.");
  // Zero tokens of output: the request only fills the prompt cache.
  else if (numToNumber(maxTokens) === 0) request.cache = { ...request.cache, prewarm: true };
  else request.maxOutputTokens = maxTokens;
  const stop = decodeStop(reader);
  if (stop.length > 0) request.stop = stop;
  const metadata = reader.object(root, "metadata", "");
  const endUser = reader.string(metadata, "user_id", "/metadata");
  if (endUser !== undefined) request.identity = { endUser };
  if (reader.word(root, "service_tier", "", ["auto", "standard_only"]) === "standard_only")
    request.serviceTier = "default";
  const thread = reader.member(root, "thread");
  if (thread !== ABSENT) request.state = { thread: document.raw(thread) };
}

function decodeStop(reader: BodyReader): readonly Text[] {
  const { document } = reader;
  const list = reader.list(document.root, "stop_sequences", "");
  const stop: Text[] = [];
  let index = 0;
  for (let node = document.firstElement(list); node !== ABSENT; node = document.nextElement(node)) {
    if (document.isString(node)) stop.push(document.text(node));
    else reader.refuse(node, `/stop_sequences/${index}`, "a string");
    index++;
  }
  return stop;
}

function decodeExtensions(reader: BodyReader, outputConfig: NodeIndex, isCount: boolean): readonly Extension[] {
  const { document } = reader;
  const { root } = document;
  const thinking = document.member(root, "thinking");
  const inside = [
    ...reader.extensions(
      thinking,
      "/thinking",
      { known: THINKING_MEMBERS, codes: { block_binding: "unknown_field" } },
      "thinking",
    ),
    ...reader.extensions(
      outputConfig,
      "/output_config",
      { known: OUTPUT_CONFIG_MEMBERS, codes: { task_budget: "unknown_field" } },
      "output_config",
    ),
    ...reader.extensions(
      document.member(outputConfig, "format"),
      "/output_config/format",
      { known: FORMAT_MEMBERS, codes: {} },
      "output_config.format",
    ),
    ...reader.innerExtensions(root, "", ["cache_control"]),
    ...reader.extensions(
      document.member(root, "tool_choice"),
      "/tool_choice",
      { known: TOOL_CHOICE_MEMBERS, codes: {} },
      "tool_choice",
    ),
    ...reader.extensions(
      document.member(root, "metadata"),
      "/metadata",
      { known: METADATA_MEMBERS, codes: {} },
      "metadata",
    ),
  ];
  const top = reader.extensions(root, "", { known: REQUEST_MEMBERS, codes: REQUEST_EXTENSIONS });
  // The counting call ignores what it does not know.
  return isCount ? inside.filter(({ path }) => COUNT_MEMBERS.has(path.split(".")[0] as string)) : [...top, ...inside];
}
