// A chat request in the neutral form. Members at their neutral value count as absent; members without a neutral place become extensions
// with the reason that stands against dropping them. References point into the client's body.
import { ABSENT, numToNumber } from "@dragoman/core";
import type {
  DecodedRequest,
  Document,
  Effort,
  Extension,
  NeutralRequest,
  NodeIndex,
  Num,
  OutputFormat,
  RequestHead,
  ServiceTier,
  Text,
} from "@dragoman/core";

import { decodeMessages } from "./decode-messages.ts";
import { decodeFunctionChoice, decodeToolChoice, decodeTools } from "./decode-tools.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import { DROP_CODES, KNOWN_MEMBERS } from "./members.ts";
import { isNeutralMember } from "./neutral-values.ts";
import type { ChatFacts } from "./read-head.ts";
import { escapePointer, RequestReader } from "./request-reader.ts";

const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const TIERS: readonly ServiceTier[] = ["default", "flex", "scale", "priority", "fast"];
const MODALITIES = ["text", "audio", "image"] as const;

const FORMAT_MEMBERS: ReadonlySet<string> = new Set(["type", "json_schema"]);
const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(["name", "description", "schema", "strict"]);
const CHOICE_MEMBERS: ReadonlySet<string> = new Set(["type", "function", "custom", "allowed_tools"]);
const CHOSEN_MEMBERS: ReadonlySet<string> = new Set(["name", "mode", "tools"]);

/** Members with a place in the neutral request; the others become extensions. */
const PLACED: ReadonlySet<string> = new Set(
  [...KNOWN_MEMBERS].filter((name) => !["moderation", "prediction", "web_search_options"].includes(name)),
);

/** Options of streams that are read or say nothing. */
const STREAM_OPTIONS: ReadonlySet<string> = new Set(["include_usage", "include_obfuscation"]);

/** Where members came from when their neutral name is another. */
const ORIGINS: Readonly<Record<string, string>> = {
  topP: "/top_p",
  presencePenalty: "/presence_penalty",
  frequencyPenalty: "/frequency_penalty",
  logitBias: "/logit_bias",
  toolChoice: "/tool_choice",
  parallelTools: "/parallel_tool_calls",
  format: "/response_format",
  reasoning: "/reasoning_effort",
  cacheMode: "/prompt_cache_options",
  cacheKey: "/prompt_cache_key",
  cacheRetention: "/prompt_cache_retention",
  endUser: "/user",
  safetyId: "/safety_identifier",
  serviceTier: "/service_tier",
  streamOptions: "/stream_options",
};

/** Decodes a request. The first thing that is wrong is the error, with its place. */
export function decodeRequest(document: Document, head: RequestHead<ChatFacts>): DecodedRequest {
  const reader = new RequestReader(document);
  const decoder = new RequestDecoder(reader);
  const request = decoder.decode(head);
  return reader.error === null ? { ok: true, request } : { ok: false, error: reader.error };
}

class RequestDecoder {
  readonly #reader: RequestReader;
  readonly #document: Document;
  /** Values of the known members by name, found in one walk: a request may have very many unknown ones. */
  readonly #members: Map<string, NodeIndex>;

  constructor(reader: RequestReader) {
    const { document } = reader;
    this.#reader = reader;
    this.#document = document;
    this.#members = new Map();
    for (let key = document.firstMember(document.root); key !== ABSENT; key = document.nextMember(key)) {
      const name = document.memberName(key);
      if (KNOWN_MEMBERS.has(name)) this.#members.set(name, document.memberValue(key));
    }
  }

  decode(head: RequestHead<ChatFacts>): NeutralRequest {
    const reader = this.#reader;
    const tools = decodeTools(reader, this.#raw("tools"), this.#raw("functions"));
    const hasTools = tools.length > 0;
    const limit = this.#limit();
    const choice =
      decodeToolChoice(reader, this.#raw("tool_choice"), hasTools) ??
      decodeFunctionChoice(reader, this.#raw("function_call"), hasTools);
    const parallelTools = reader.boolean(this.#member("parallel_tool_calls"), "/parallel_tool_calls");
    const n = reader.integer(this.#member("n"), "/n", 1);
    const stop = this.#stop();
    const logprobs = this.#logprobs();
    const effort = reader.word(this.#member("reasoning_effort"), "/reasoning_effort", EFFORTS);
    const metadata = this.#metadata();
    const tier = this.#tier();
    const store = reader.boolean(this.#member("store"), "/store");
    return {
      source: OPENAI_CHAT,
      operation: "generate",
      model: head.model,
      stream: head.stream,
      messages: decodeMessages(reader, this.#raw("messages")),
      tools,
      ...(choice === undefined ? null : { toolChoice: choice }),
      ...(parallelTools === undefined ? null : { parallelTools }),
      ...(limit === undefined ? null : { maxOutputTokens: limit }),
      ...(n === undefined ? null : { n }),
      ...(stop === undefined ? null : { stop }),
      sampling: this.#sampling(),
      ...(logprobs === undefined ? null : { logprobs }),
      output: this.#output(),
      ...(effort === undefined ? null : { reasoning: effort === "none" ? { mode: "off", effort } : { effort } }),
      cache: this.#cache(),
      identity: this.#identity(),
      ...(metadata === undefined ? null : { metadata }),
      ...(tier === undefined ? null : { serviceTier: tier }),
      ...(store === undefined ? null : { store }),
      streamOptions: { includeUsage: head.facts.includeUsage },
      origins: this.#origins(),
      extensions: this.#extensions(),
    };
  }

  #raw(name: string): NodeIndex {
    return this.#members.get(name) ?? ABSENT;
  }

  /** A member's value, or ABSENT when it says nothing. */
  #member(name: string): NodeIndex {
    const node = this.#raw(name);
    return isNeutralMember(this.#document, name, node) ? ABSENT : node;
  }

  /** The newer of the two limits counts; that they differ was refused with the head. */
  #limit(): Num | undefined {
    const reader = this.#reader;
    const current = reader.integer(this.#raw("max_completion_tokens"), "/max_completion_tokens", 1);
    const deprecated = reader.integer(this.#raw("max_tokens"), "/max_tokens", 1);
    return current ?? deprecated;
  }

  #origins(): Readonly<Record<string, string>> {
    const limitName = this.#raw("max_completion_tokens") === ABSENT ? "max_tokens" : "max_completion_tokens";
    const choice = this.#raw("tool_choice") === ABSENT ? { toolChoice: "/function_call" } : null;
    return { ...ORIGINS, maxOutputTokens: `/${limitName}`, ...choice };
  }

  #stop(): readonly Text[] | undefined {
    const node = this.#member("stop");
    const document = this.#document;
    if (node === ABSENT) return undefined;
    if (document.isString(node)) return [document.text(node)];
    if (!this.#reader.isArray(node, "/stop")) return undefined;
    const texts: Text[] = [];
    for (let item = document.firstElement(node); item !== ABSENT; item = document.nextElement(item)) {
      const text = this.#reader.text(item, `/stop/${texts.length}`);
      if (text === undefined) this.#reader.fail("A stop sequence must be a string.", "/stop");
      texts.push(text ?? "");
    }
    return texts;
  }

  #sampling(): NeutralRequest["sampling"] {
    const reader = this.#reader;
    const number = (name: string): Num | undefined => reader.number(this.#member(name), `/${name}`);
    const temperature = number("temperature");
    const topP = number("top_p");
    const presencePenalty = number("presence_penalty");
    const frequencyPenalty = number("frequency_penalty");
    const seed = number("seed");
    const bias = this.#member("logit_bias");
    return {
      ...(temperature === undefined ? null : { temperature }),
      ...(topP === undefined ? null : { topP }),
      ...(presencePenalty === undefined ? null : { presencePenalty }),
      ...(frequencyPenalty === undefined ? null : { frequencyPenalty }),
      ...(seed === undefined ? null : { seed }),
      ...(reader.isObject(bias, "/logit_bias") ? { logitBias: this.#document.raw(bias) } : null),
    };
  }

  #logprobs(): { readonly top: number } | undefined {
    const isWanted = this.#reader.boolean(this.#member("logprobs"), "/logprobs") ?? false;
    const top = this.#reader.integer(this.#member("top_logprobs"), "/top_logprobs", 0);
    if (isWanted) return { top: top === undefined ? 0 : numToNumber(top) };
    if (top !== undefined) this.#reader.fail("top_logprobs needs logprobs to be true.", "/top_logprobs");
    return undefined;
  }

  #output(): NeutralRequest["output"] {
    const reader = this.#reader;
    const format = this.#format();
    const verbosity = reader.word(this.#member("verbosity"), "/verbosity", ["low", "medium", "high"]);
    const modalities = this.#modalities();
    const audio = this.#raw("audio");
    return {
      ...(format === undefined ? null : { format }),
      ...(verbosity === undefined ? null : { verbosity }),
      ...(modalities === undefined ? null : { modalities }),
      ...(reader.isObject(audio, "/audio") ? { audio: this.#document.raw(audio) } : null),
    };
  }

  #modalities(): readonly ("text" | "audio" | "image")[] | undefined {
    const node = this.#member("modalities");
    if (!this.#reader.isArray(node, "/modalities")) return undefined;
    const words: ("text" | "audio" | "image")[] = [];
    for (let item = this.#document.firstElement(node); item !== ABSENT; item = this.#document.nextElement(item)) {
      const word = this.#reader.word(item, "/modalities", MODALITIES);
      if (word !== undefined) words.push(word);
    }
    return words;
  }

  #format(): OutputFormat | undefined {
    const at = "/response_format";
    const reader = this.#reader;
    const document = this.#document;
    const node = this.#member("response_format");
    if (!reader.isObject(node, at)) return undefined;
    const type = reader.word(document.member(node, "type"), `${at}/type`, ["json_object", "json_schema"]);
    if (type === undefined) reader.fail("The response format must have a type.", `${at}/type`);
    if (type !== "json_schema") return { kind: "json-object" };
    const body = document.member(node, "json_schema");
    if (!reader.isObject(body, `${at}/json_schema`))
      reader.fail("A json_schema format must have the member json_schema.", `${at}/json_schema`);
    const name = reader.text(document.member(body, "name"), `${at}/json_schema/name`);
    const description = reader.text(document.member(body, "description"), `${at}/json_schema/description`);
    const schema = document.member(body, "schema");
    const strict = reader.boolean(document.member(body, "strict"), `${at}/json_schema/strict`);
    return {
      kind: "json-schema",
      ...(name === undefined ? null : { name }),
      ...(description === undefined ? null : { description }),
      ...(reader.isObject(schema, `${at}/json_schema/schema`) ? { schema: document.raw(schema) } : null),
      ...(strict === undefined ? null : { strict }),
      schemaDialect: "json-schema",
    };
  }

  /** `ttl` has no neutral place: options that name one stay whole, as an extension. */
  #cache(): NeutralRequest["cache"] {
    const reader = this.#reader;
    const options = this.#raw("prompt_cache_options");
    const isObject = reader.isObject(options, "/prompt_cache_options");
    const mode = isObject
      ? reader.word(this.#document.member(options, "mode"), "/prompt_cache_options/mode", ["implicit", "explicit"])
      : undefined;
    const key = reader.text(this.#raw("prompt_cache_key"), "/prompt_cache_key");
    const retention = reader.string(this.#raw("prompt_cache_retention"), "/prompt_cache_retention");
    return {
      ...(mode !== "explicit" || this.#hasOtherCacheOptions() ? null : { mode }),
      ...(key === undefined ? null : { key }),
      ...(retention === undefined ? null : { retention }),
    };
  }

  #hasOtherCacheOptions(): boolean {
    const options = this.#raw("prompt_cache_options");
    return this.#document.count(options) > (this.#document.member(options, "mode") === ABSENT ? 0 : 1);
  }

  #identity(): NeutralRequest["identity"] {
    const endUser = this.#reader.text(this.#raw("user"), "/user");
    const safetyId = this.#reader.text(this.#raw("safety_identifier"), "/safety_identifier");
    return { ...(endUser === undefined ? null : { endUser }), ...(safetyId === undefined ? null : { safetyId }) };
  }

  #metadata(): readonly (readonly [Text, Text])[] | undefined {
    const node = this.#member("metadata");
    const document = this.#document;
    if (!this.#reader.isObject(node, "/metadata")) return undefined;
    const pairs: (readonly [Text, Text])[] = [];
    for (let key = document.firstMember(node); key !== ABSENT; key = document.nextMember(key)) {
      const value = this.#reader.text(document.memberValue(key), "/metadata");
      if (value !== undefined) pairs.push([document.text(key), value]);
    }
    return pairs;
  }

  /** Words of other servers are kept as an extension, see `#extensions`. */
  #tier(): ServiceTier | undefined {
    const word = this.#reader.string(this.#member("service_tier"), "/service_tier");
    return TIERS.find((tier) => tier === word);
  }

  #extensions(): readonly Extension[] {
    const reader = this.#reader;
    const document = this.#document;
    const extensions: Extension[] = [];
    for (let key = document.firstMember(document.root); key !== ABSENT; key = document.nextMember(key)) {
      if (reader.hasTooManyExtensions) break;
      const name = document.memberName(key);
      const value = document.memberValue(key);
      if (document.isNull(value) || !this.#isExtension(name, value)) continue;
      extensions.push(reader.extension(name, value, `/${escapePointer(name)}`, DROP_CODES[name]));
    }
    const options = reader.unknownMembers(this.#raw("stream_options"), STREAM_OPTIONS, "/stream_options");
    return [
      ...extensions,
      ...options.map((option) => ({ ...option, path: `stream_options.${option.path}` })),
      ...this.#innerExtensions(),
    ];
  }

  /** Unknown members of the objects that are read member by member. */
  #innerExtensions(): readonly Extension[] {
    const document = this.#document;
    const format = this.#raw("response_format");
    const choice = this.#raw("tool_choice");
    return [
      ...this.#inner(format, FORMAT_MEMBERS, "response_format"),
      ...this.#inner(document.member(format, "json_schema"), SCHEMA_MEMBERS, "response_format.json_schema"),
      ...this.#inner(choice, CHOICE_MEMBERS, "tool_choice"),
      ...["function", "custom", "allowed_tools"].flatMap((kind) =>
        this.#inner(document.member(choice, kind), CHOSEN_MEMBERS, `tool_choice.${kind}`),
      ),
      // The deprecated form of the choice goes on in the present one.
      ...this.#inner(this.#raw("function_call"), CHOSEN_MEMBERS, "function_call").map((extension) => ({
        ...extension,
        path: `tool_choice.function.${extension.path.slice("function_call.".length)}`,
      })),
    ];
  }

  #inner(object: NodeIndex, known: ReadonlySet<string>, path: string): readonly Extension[] {
    if (!this.#document.isObject(object)) return [];
    return this.#reader
      .unknownMembers(object, known, `/${path.replaceAll(".", "/")}`)
      .map((extension) => ({ ...extension, path: `${path}.${extension.path}` }));
  }

  #isExtension(name: string, value: NodeIndex): boolean {
    if (name === "prompt_cache_options") return this.#hasOtherCacheOptions();
    if (name === "service_tier") return !isNeutralMember(this.#document, name, value) && this.#tier() === undefined;
    return !PLACED.has(name);
  }
}
