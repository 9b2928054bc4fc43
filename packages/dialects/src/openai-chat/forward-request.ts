// Same dialect on both sides: the client's bytes go upstream with the few edits that the server's profile needs. Every edit replaces
// or removes single nodes; all other bytes stay as the client wrote them.
import { ABSENT, Edits, IssueList, encodeString } from "@dragoman/core";
import type { Document, EncodeResult, EncodeTarget, NodeIndex, Operation, RequestHead } from "@dragoman/core";

import { forwardMessages } from "./forward-messages.ts";
import { isNeutralMember } from "./neutral-values.ts";
import { acceptsMember, asChatProfile } from "./profiles.ts";
import type { ChatProfile } from "./profiles.ts";
import { DROP_CODES, KNOWN_MEMBERS } from "./members.ts";
import { escapePointer } from "./request-reader.ts";
import { upstreamHeaders } from "./upstream-headers.ts";

/** Path of chat calls below a provider's base URL. */
export const CHAT_PATH = "/chat/completions";

/** Forwards a chat request. Also the dry run: an issue that is not allowed refuses the deployment. */
export function forwardRequest(
  document: Document,
  head: RequestHead,
  operation: Operation,
  target: EncodeTarget,
): EncodeResult {
  const issues = new IssueList(target.lossyAllow);
  if (operation !== "generate") {
    issues.reject("capability_missing", "", `Providers of this dialect have no call for ${operation}.`);
    return { ok: false, issues: issues.issues };
  }
  const profile = asChatProfile(target.profile);
  const edits = new Edits(document);
  edits.replace(head.modelNode, encodeString(target.model));
  forwardRoot(document, profile, target, edits, issues);
  forwardStreamOptions(document, profile, head.stream, edits);
  forwardMessages(document, document.member(document.root, "messages"), profile, edits, issues);
  if (issues.isRefused) return { ok: false, issues: issues.issues };
  const encoded = { body: edits.finish(), path: CHAT_PATH, headers: upstreamHeaders(target.options), toolMap: null };
  return { ok: true, encoded, issues: issues.issues };
}

/** Members of the root that the profile spells otherwise or does not take. */
function forwardRoot(
  document: Document,
  profile: ChatProfile,
  target: EncodeTarget,
  edits: Edits,
  issues: IssueList,
): void {
  forwardLimit(document, profile, target, edits);
  forwardSeed(document, profile, edits);
  const choice = document.member(document.root, "tool_choice");
  if (profile.toolChoiceRequiredWord !== "required" && document.stringEquals(choice, "required"))
    edits.replace(choice, encodeString(profile.toolChoiceRequiredWord));
  if (profile.accepts === null) return;
  const spelled = new Set([renamedLimit(profile, target), profile.seedField === "seed" ? null : "seed", "tool_choice"]);
  for (let key = document.firstMember(document.root); key !== ABSENT; key = document.nextMember(key))
    if (!spelled.has(document.memberName(key))) forwardClosed(document, key, profile, edits, issues);
}

/** The name of the limit that the server refuses, or null when it takes both. */
function renamedLimit(profile: ChatProfile, target: EncodeTarget): string | null {
  const isRefused =
    profile.otherMaxTokensField === "refused" ||
    (profile.otherMaxTokensField === "reasoning-refuses" && isReasoningModel(target));
  if (!isRefused) return null;
  return profile.maxTokensField === "max_tokens" ? "max_completion_tokens" : "max_tokens";
}

/** Both limits present and different is refused when the request is read; equal ones need to go only once. */
function forwardLimit(document: Document, profile: ChatProfile, target: EncodeTarget, edits: Edits): void {
  const name = renamedLimit(profile, target);
  if (name !== null) renameMember(document, name, profile.maxTokensField, edits);
}

function forwardSeed(document: Document, profile: ChatProfile, edits: Edits): void {
  if (profile.seedField !== "seed") renameMember(document, "seed", profile.seedField, edits);
}

/** Gives a root member another name; one that says nothing, or whose other name is there already, goes. */
function renameMember(document: Document, name: string, otherName: string, edits: Edits): void {
  const key = document.memberKey(document.root, name);
  if (key === ABSENT) return;
  const isNeedless = document.isNull(document.memberValue(key)) || document.member(document.root, otherName) !== ABSENT;
  if (isNeedless) edits.remove(key);
  else edits.replace(key, encodeString(otherName));
}

const isReasoningModel = (target: EncodeTarget): boolean =>
  target.capabilities.reasoning.support && target.capabilities.sampling === "only-when-reasoning-off";

/** A member that a closed schema lacks goes when it says nothing; else losing it must be allowed. */
function forwardClosed(
  document: Document,
  key: NodeIndex,
  profile: ChatProfile,
  edits: Edits,
  issues: IssueList,
): void {
  const name = document.memberName(key);
  if (name === "stream_options" || acceptsMember(profile, name)) return;
  const value = document.memberValue(key);
  if (isNeutralMember(document, name, value)) {
    edits.remove(key);
    return;
  }
  const code = KNOWN_MEMBERS.has(name) ? (DROP_CODES[name] ?? "unknown_field") : "unknown_field";
  if (issues.drop(code, `/${escapePointer(name)}`, `The server refuses the member ${name}.`)) edits.remove(key);
}

/** Usage is always wanted, also where the client said no; a server that gives it unasked may refuse the question. */
function forwardStreamOptions(document: Document, profile: ChatProfile, isStream: boolean, edits: Edits): void {
  const root = document.root;
  const key = document.memberKey(root, "stream_options");
  if (profile.streamUsage !== "stream_options") {
    if (key !== ABSENT && !acceptsMember(profile, "stream_options")) edits.remove(key);
    return;
  }
  if (!isStream) return;
  if (key === ABSENT) {
    edits.insertMember(root, "stream_options", '{"include_usage":true}');
    return;
  }
  const options = document.memberValue(key);
  if (!document.isObject(options)) {
    edits.replace(options, '{"include_usage":true}');
    return;
  }
  const asked = document.member(options, "include_usage");
  if (asked === ABSENT) edits.insertMember(options, "include_usage", "true");
  else if (!document.boolean(asked)) edits.replace(asked, "true");
}
