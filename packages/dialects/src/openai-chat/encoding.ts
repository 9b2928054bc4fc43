// One request on its way to one server: what the encoders of this room share while they write it. Issues never stop the writing, so that
// a client learns everything at once; a refused encoding's bytes are thrown away.
import { IssueList, SegmentWriter, textToString } from "@dragoman/core";
import type {
  CacheBreakpoint,
  Capabilities,
  EncodeTarget,
  Extension,
  Message,
  NeutralRequest,
  Part,
  ReasonCode,
  Text,
} from "@dragoman/core";

import { base62Digest, legalToolId } from "../shared/tool-ids.ts";
import type { ToolIdRule } from "../shared/tool-ids.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import { NEVER_DROPPED } from "./members.ts";
import { acceptsMember, asChatProfile } from "./profiles.ts";
import type { ChatProfile } from "./profiles.ts";
import { compileIdRule } from "./tool-id-rule.ts";

/** Longest tool name of this dialect. */
const MAX_NAME_LENGTH = 64;

/** State of one encoding. */
export class ChatEncoding {
  readonly request: NeutralRequest;
  readonly target: EncodeTarget;
  readonly capabilities: Capabilities;
  readonly profile: ChatProfile;
  readonly issues: IssueList;
  readonly writer: SegmentWriter;
  /** The client speaks this dialect: what only this dialect has can be written. */
  readonly isOwn: boolean;
  /** Free-text tools that go out as functions, by name. */
  readonly wrappedCustom: Set<string>;
  /** Flattened names, and what they stand for. */
  readonly namespaces: Map<string, { readonly namespace: string; readonly name: string }>;
  readonly #idRule: ToolIdRule;
  #isFirstMember: boolean;
  #surplusMarks: number;

  constructor(request: NeutralRequest, target: EncodeTarget) {
    this.request = request;
    this.target = target;
    this.capabilities = target.capabilities;
    this.profile = asChatProfile(target.profile);
    this.issues = new IssueList(target.lossyAllow);
    this.writer = new SegmentWriter();
    this.isOwn = request.source === OPENAI_CHAT;
    this.wrappedCustom = new Set();
    this.namespaces = new Map();
    this.#idRule = compileIdRule(this.profile);
    this.#isFirstMember = true;
    // A client of this dialect may write more: its server takes the last ones by itself.
    this.#surplusMarks = this.isOwn ? 0 : Math.max(0, countMarks(request.messages) - MAX_MARKS);
  }

  /** A cache mark that is written, or undefined: the server must know marks, and takes the last four only. */
  takeMark(mark: CacheBreakpoint | undefined, at: string): CacheBreakpoint | undefined {
    if (mark === undefined) return undefined;
    const isWritable = this.profile.promptCaching && this.capabilities.explicitCache;
    if (isWritable && this.#surplusMarks === 0) return mark;
    if (isWritable) this.#surplusMarks--;
    const detail = isWritable ? "The server takes four cache marks." : "The server takes no cache marks.";
    this.issues.drop("cache_hint", at, detail);
    return undefined;
  }

  /** Where a member of the neutral request stood in the client's body. */
  originOf(member: string): string {
    return this.request.origins?.[member] ?? `/${member}`;
  }

  /** Begins a member of the root. */
  member(name: string): SegmentWriter {
    const separator = this.#isFirstMember ? "{" : ",";
    this.#isFirstMember = false;
    return this.writer.glue(`${separator}"${name}":`);
  }

  /**
   * Begins a member that a closed schema may lack; then losing it must be allowed. Returns null when it must not be written.
   */
  optionalMember(name: string, code: ReasonCode, at: string): SegmentWriter | null {
    if (acceptsMember(this.profile, name)) return this.member(name);
    this.issues.drop(code, at, `The server refuses the member ${name}.`);
    return null;
  }

  /** An id that the server takes; the same for a call and its result. */
  toolId(id: Text, at: string): string {
    const legal = legalToolId(textToString(id), this.#idRule);
    if (legal.rewritten) this.issues.adapt("id_rewritten", at, "The server does not take this tool-call id.");
    return legal.id;
  }

  /** The name under which the server knows a tool; tools of a namespace get a flat one. */
  toolName(name: Text, namespace: Text | undefined, at: string): string {
    const plain = textToString(name);
    if (namespace === undefined) return plain;
    const space = textToString(namespace);
    const flat = `${space}__${plain}`;
    const known = this.namespaces.get(flat);
    const isTaken = known !== undefined && (known.namespace !== space || known.name !== plain);
    const isTooLong = flat.length > MAX_NAME_LENGTH;
    const short = isTooLong || isTaken ? `${flat.slice(0, MAX_NAME_LENGTH - 9)}_${base62Digest(flat, 8)}` : flat;
    if (!this.namespaces.has(short))
      this.issues.adapt("namespace_flattened", at, "The server knows no tool namespaces.");
    this.namespaces.set(short, { namespace: space, name: plain });
    return short;
  }

  /** An issue for something that only another dialect has. */
  foreignExtension(extension: Extension): void {
    const code = (extension.code ?? "unknown_field") as ReasonCode;
    const detail = "This server has no place for it.";
    if (NEVER_DROPPED.has(code)) this.issues.reject(code, extension.at, detail);
    else this.issues.drop(code, extension.at, detail);
  }

  /** This dialect's own extensions directly inside an object of the request, which the object's writer writes. */
  innerExtensions(holder: string): readonly Extension[] {
    return this.request.extensions.filter(({ dialect, path }) => {
      if (dialect !== OPENAI_CHAT || !path.startsWith(`${holder}.`)) return false;
      return holderOf(path) === holder;
    });
  }

  /** Issues for every foreign extension of a list; those of this dialect are returned. */
  ownExtensions(extensions: readonly Extension[] | undefined): readonly Extension[] {
    if (extensions === undefined) return [];
    const own: Extension[] = [];
    for (const extension of extensions) {
      if (extension.dialect === OPENAI_CHAT && extension.header !== true) own.push(extension);
      else this.foreignExtension(extension);
    }
    return own;
  }
}

/** Objects of the request that are written member by member, inner ones first. */
const INNER_OBJECTS = [
  "response_format.json_schema",
  "tool_choice.function",
  "tool_choice.custom",
  "tool_choice.allowed_tools",
  "response_format",
  "tool_choice",
  "stream_options",
] as const;

/** The object that a path of the request leads into, or null for a member of the request, whose own name may hold dots. */
export function holderOf(path: string): string | null {
  return INNER_OBJECTS.find((holder) => path.startsWith(`${holder}.`)) ?? null;
}

/** Cache marks that one request may carry (OpenAI prompt caching guide). */
const MAX_MARKS = 4;

function countMarks(messages: readonly Message[]): number {
  let count = 0;
  for (const message of messages) for (const part of message.parts) count += marksOf(part);
  return count;
}

function marksOf(part: Part): number {
  const own = part.cacheBreakpoint === undefined ? 0 : 1;
  if (part.type !== "tool-result") return own;
  return part.content.reduce((sum, inner) => sum + marksOf(inner), own);
}
