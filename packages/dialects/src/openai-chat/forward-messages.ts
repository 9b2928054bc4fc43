// Edits of forwarded messages: instruction roles, reasoning that belongs to another provider, tool-call ids, joined text lists. Messages
// that need none of these are only walked over.
import { ABSENT, SegmentWriter, concat, encodeString } from "@dragoman/core";
import type { Document, Edits, IssueList, NodeIndex } from "@dragoman/core";

import { legalToolId } from "../shared/tool-ids.ts";
import type { ToolIdRule } from "../shared/tool-ids.ts";
import { REASONING_MEMBERS } from "./members.ts";
import type { ChatProfile } from "./profiles.ts";
import { compileIdRule } from "./tool-id-rule.ts";

interface Forwarding {
  readonly document: Document;
  readonly profile: ChatProfile;
  readonly edits: Edits;
  readonly issues: IssueList;
  /** Null where every id is taken. */
  readonly idRule: ToolIdRule | null;
}

/** Walks over the messages of a forwarded request once and records the edits that its profile needs. */
export function forwardMessages(
  document: Document,
  messages: NodeIndex,
  profile: ChatProfile,
  edits: Edits,
  issues: IssueList,
): void {
  // Standard servers take any id that they could have made; only a stricter rule is worth looking for.
  const idRule = profile.toolCallIdRule.maxLength < 64 ? compileIdRule(profile) : null;
  const forwarding: Forwarding = { document, profile, edits, issues, idRule };
  let index = 0;
  for (let message = document.firstElement(messages); message !== ABSENT; message = document.nextElement(message)) {
    forwardMessage(forwarding, message, index);
    index++;
  }
}

function forwardMessage(forwarding: Forwarding, message: NodeIndex, index: number): void {
  const { document, profile, edits, issues, idRule } = forwarding;
  if (profile.reasoningHistory === "required") requireReasoning(forwarding, message, index);
  for (let key = document.firstMember(message); key !== ABSENT; key = document.nextMember(key)) {
    const value = document.memberValue(key);
    if (document.nameEquals(key, "role")) {
      if (profile.instructionRole === "system" && document.stringEquals(value, "developer"))
        edits.replace(value, '"system"');
    } else if (document.nameEquals(key, "content")) {
      if (profile.textLists === "join") joinTextList(forwarding, value, `/messages/${index}/content`);
    } else if (document.nameEquals(key, "extra_content")) {
      cutGatewayContent(forwarding, key, index);
    } else if (isForeignReasoning(forwarding, key)) {
      edits.remove(key);
      if (!document.isNull(value))
        issues.adapt("content_reshaped", `/messages/${index}`, "Reasoning text in history is not sent to this server.");
    } else if (profile.accepts !== null && isEcho(document, key)) {
      edits.remove(key);
    } else if (idRule !== null && document.nameEquals(key, "tool_call_id")) {
      rewriteId(forwarding, idRule, value, `/messages/${index}/tool_call_id`);
    } else if (idRule !== null && document.nameEquals(key, "tool_calls")) {
      let call = 0;
      for (let node = document.firstElement(value); node !== ABSENT; node = document.nextElement(node)) {
        rewriteId(forwarding, idRule, document.member(node, "id"), `/messages/${index}/tool_calls/${call}/id`);
        call++;
      }
    }
  }
}

/** Members of an answer that clients replay empty; a closed schema refuses them. */
const ECHOES: readonly string[] = ["refusal", "annotations", "audio", "function_call"];

function isEcho(document: Document, key: NodeIndex): boolean {
  const value = document.memberValue(key);
  const isEmpty = document.isNull(value) || (document.isArray(value) && document.count(value) === 0);
  return isEmpty && ECHOES.some((name) => document.nameEquals(key, name));
}

/** Some servers want the member on every assistant turn; empty text says that there was no reasoning. */
function requireReasoning({ document, profile, edits, issues }: Forwarding, message: NodeIndex, index: number): void {
  const name = profile.reasoningFields[0];
  if (name === undefined || !document.stringEquals(document.member(message, "role"), "assistant")) return;
  if (document.member(message, name) !== ABSENT) return;
  edits.insertMember(message, name, '""');
  issues.adapt("content_reshaped", `/messages/${index}`, "The server wants reasoning text on every assistant message.");
}

function isForeignReasoning({ document, profile }: Forwarding, key: NodeIndex): boolean {
  for (const name of REASONING_MEMBERS) if (document.nameEquals(key, name)) return !profile.extraAccepts.includes(name);
  return false;
}

/** No server of this dialect made a gateway envelope, so none can verify it: it is cut, and the member around it when it is alone. */
function cutGatewayContent({ document, edits, issues }: Forwarding, key: NodeIndex, index: number): void {
  const extra = document.memberValue(key);
  for (let inner = document.firstMember(extra); inner !== ABSENT; inner = document.nextMember(inner)) {
    if (!document.nameEquals(inner, "gateway")) continue;
    const detail = "Reasoning of another provider cannot be replayed to this server.";
    issues.drop("reasoning_history_foreign", `/messages/${index}/extra_content/gateway`, detail);
    edits.remove(document.count(extra) === 1 ? key : inner);
    return;
  }
}

function rewriteId({ document, edits, issues }: Forwarding, rule: ToolIdRule, node: NodeIndex, at: string): void {
  if (!document.isString(node)) return;
  const { id, rewritten } = legalToolId(document.string(node), rule);
  if (!rewritten) return;
  edits.replace(node, encodeString(id));
  issues.adapt("id_rewritten", at, "The server takes tool-call ids of another form only.");
}

/** Members of a text part that only mark a place for the provider's cache. */
const CACHE_MARKS: readonly string[] = ["cache_control", "prompt_cache_breakpoint"];

/** A list of texts becomes one string, joined with line ends. Any other part, and any member without a place, keeps the list. */
function joinTextList({ document, edits, issues }: Forwarding, content: NodeIndex, at: string): void {
  if (document.count(content) === 0 || !document.isArray(content)) return;
  let hasMarks = false;
  for (let part = document.firstElement(content); part !== ABSENT; part = document.nextElement(part)) {
    const isText = document.stringEquals(document.member(part, "type"), "text");
    if (!isText || !document.isString(document.member(part, "text"))) return;
    const marks = CACHE_MARKS.filter((name) => document.member(part, name) !== ABSENT);
    if (document.count(part) !== 2 + marks.length) return;
    hasMarks ||= marks.some((name) => !document.isNull(document.member(part, name)));
  }
  if (hasMarks) issues.drop("cache_hint", at, "Content that is one string has no place for cache marks.");
  const writer = new SegmentWriter().glue('"');
  let isFirst = true;
  for (let part = document.firstElement(content); part !== ABSENT; part = document.nextElement(part)) {
    if (!isFirst) writer.glue(String.raw`\n`);
    writer.inside(document.text(document.member(part, "text")));
    isFirst = false;
  }
  edits.replace(content, concat(writer.glue('"').finish()));
  issues.adapt("text_joined", at, "The server takes text content as one string.");
}
