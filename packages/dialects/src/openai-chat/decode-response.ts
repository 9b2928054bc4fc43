// A complete chat answer in the neutral form. Texts reference the answer's bytes; what only this dialect has stays as extensions.
import { ABSENT, textToString } from "@dragoman/core";
import type {
  Candidate,
  DecodeContext,
  DecodedResponse,
  Document,
  Extension,
  NodeIndex,
  Part,
  Text,
  ToolCallPart,
} from "@dragoman/core";

import { protocolError } from "../shared/neutral-error.ts";
import { hasText, stringOf } from "../shared/string-value.ts";
import { base62Digest } from "../shared/tool-ids.ts";
import { classifyErrorNode } from "./classify-error.ts";
import { googleSignature } from "./decode-stream.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";
import { asChatProfile } from "./profiles.ts";
import type { ChatProfile } from "./profiles.ts";
import { decodeStop } from "./stop.ts";
import { MAX_CHOICES } from "./stream-record.ts";
import { UsageReader } from "./usage.ts";

const ANSWER_MEMBERS: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "service_tier",
]);
const CHOICE_MEMBERS: ReadonlySet<string> = new Set(["index", "message", "logprobs", "finish_reason"]);
const MESSAGE_MEMBERS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "refusal",
  "annotations",
  "audio",
  "tool_calls",
  "function_call",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
]);

/** Decodes a complete answer. An error with status 200, and an answer without choices or finish words, is no answer. */
export function decodeResponse(document: Document, context: DecodeContext): DecodedResponse {
  const root = document.root;
  if (!document.isObject(root)) return { ok: false, error: protocolError("The provider's answer is no object.") };
  const error = document.member(root, "error");
  if (error !== ABSENT && !document.isNull(error))
    return { ok: false, error: classifyErrorNode(document, root, context) };
  const choices = document.member(root, "choices");
  if (!document.isArray(choices) || document.count(choices) === 0)
    return { ok: false, error: protocolError("The provider's answer has no choices.") };
  if (document.count(choices) > MAX_CHOICES)
    return { ok: false, error: protocolError("The provider's answer has too many choices.") };
  const profile = asChatProfile(context.profile);
  const id = stringOf(document, document.member(root, "id"));
  const candidates: Candidate[] = [];
  for (let node = document.firstElement(choices); node !== ABSENT; node = document.nextElement(node)) {
    const candidate = decodeChoice(document, node, candidates.length, id ?? "", context, profile);
    if (candidate === null)
      return {
        ok: false,
        error: protocolError("A choice of the provider's answer has no message or no finish_reason."),
      };
    candidates.push(candidate);
  }
  const reader = new UsageReader(profile, (name) => context.count(name));
  const usage = reader.read(document, reader.find(document, root), true);
  const model = stringOf(document, document.member(root, "model"));
  const created = document.member(root, "created");
  const serviceTier = stringOf(document, document.member(root, "service_tier"));
  return {
    ok: true,
    response: {
      ...(id === undefined ? null : { id }),
      ...(model === undefined ? null : { model }),
      ...(document.isNumber(created) ? { created: document.number(created) } : null),
      candidates,
      ...(usage === null ? null : { usage }),
      ...(serviceTier === undefined ? null : { serviceTier }),
      extensions: extensionsOf(document, root, ANSWER_MEMBERS, ""),
    },
  };
}

function decodeChoice(
  document: Document,
  node: NodeIndex,
  position: number,
  answerId: string,
  context: DecodeContext,
  profile: ChatProfile,
): Candidate | null {
  const message = document.member(node, "message");
  const word = document.member(node, "finish_reason");
  if (!document.isObject(message)) return null;
  if (!document.isString(word) && profile.finishReasonRequired) return null;
  const indexNode = document.member(node, "index");
  const index = document.isNumber(indexNode) ? document.number(indexNode) : position;
  const parts = decodeMessage(document, message, answerId, index, context, profile);
  const logprobs = document.member(node, "logprobs");
  const extensions = [
    ...extensionsOf(document, node, CHOICE_MEMBERS, ""),
    ...extensionsOf(document, message, MESSAGE_MEMBERS, "message."),
  ];
  const contents = {
    hasCalls: parts.some((part) => part.type === "tool-call"),
    hasText: parts.some((part) => part.type === "text"),
    hasRefusal: parts.some((part) => part.type === "refusal"),
  };
  return {
    index,
    parts,
    stop: decodeStop(stringOf(document, word) ?? null, contents, profile),
    ...(document.isObject(logprobs) ? { logprobs: document.raw(logprobs) } : null),
    ...(extensions.length === 0 ? null : { extensions }),
  };
}

function decodeMessage(
  document: Document,
  message: NodeIndex,
  answerId: string,
  index: number,
  context: DecodeContext,
  profile: ChatProfile,
): readonly Part[] {
  const at = `/choices/${index}/message`;
  const parts: Part[] = [];
  for (const name of profile.reasoningFields) {
    const node = document.member(message, name);
    if (!hasText(document, node)) continue;
    parts.push({ type: "reasoning", form: "raw", texts: [document.text(node)], at: `${at}/${name}` });
    break;
  }
  const content = document.member(message, "content");
  if (hasText(document, content)) parts.push({ type: "text", text: document.text(content), at: `${at}/content` });
  else decodeContentParts(document, content, `${at}/content`, parts, context);
  addAnnotations(document, document.member(message, "annotations"), parts);
  const refusal = document.member(message, "refusal");
  if (hasText(document, refusal)) parts.push({ type: "refusal", text: document.text(refusal), at: `${at}/refusal` });
  const audio = document.member(message, "audio");
  if (document.isObject(audio)) parts.push(audioPart(document, audio, `${at}/audio`));
  const calls = document.member(message, "tool_calls");
  const seen = new Set<string>();
  for (let node = document.firstElement(calls); node !== ABSENT; node = document.nextElement(node)) {
    const call = decodeCall(document, node, `${answerId}/${index}`, seen, `${at}/tool_calls/${seen.size}`);
    if (call !== null) parts.push(call);
  }
  const deprecated = document.member(message, "function_call");
  if (document.isObject(deprecated)) {
    const call = callOf(
      document,
      deprecated,
      "arguments",
      madeUpId(`${answerId}/${index}`, seen.size),
      "function",
      `${at}/function_call`,
    );
    if (call !== null) parts.push(call);
  }
  return parts;
}

/** Content as a list: text, and the thinking parts of one vendor. Other kinds have no place in an answer. */
function decodeContentParts(
  document: Document,
  content: NodeIndex,
  at: string,
  parts: Part[],
  context: DecodeContext,
): void {
  for (let node = document.firstElement(content); node !== ABSENT; node = document.nextElement(node)) {
    const type = document.member(node, "type");
    const text = document.member(node, "text");
    const thinking = document.member(node, "thinking");
    if (document.stringEquals(type, "text") && document.isString(text)) {
      if (hasText(document, text)) parts.push({ type: "text", text: document.text(text), at });
    } else if (document.stringEquals(type, "thinking")) {
      const texts = thinkingTexts(document, thinking);
      if (texts.length > 0) parts.push({ type: "reasoning", form: "raw", texts, at });
    } else context.count("response_extra_omitted");
  }
}

/** A thinking part's pieces follow each other without a separator, so they are one text. */
function thinkingTexts(document: Document, thinking: NodeIndex): readonly Text[] {
  if (hasText(document, thinking)) return [document.text(thinking)];
  const texts: Text[] = [];
  for (let node = document.firstElement(thinking); node !== ABSENT; node = document.nextElement(node)) {
    const text = document.member(node, "text");
    if (hasText(document, text)) texts.push(document.text(text));
  }
  return texts.length < 2 ? texts : [texts.map((text) => textToString(text)).join("")];
}

/** Citations belong to the answer's last text. */
function addAnnotations(document: Document, annotations: NodeIndex, parts: Part[]): void {
  if (!document.isArray(annotations) || document.count(annotations) === 0) return;
  const place = parts.findLastIndex((part) => part.type === "text");
  const part = parts[place];
  if (part?.type === "text") parts[place] = { ...part, annotations: document.raw(annotations) };
}

function audioPart(document: Document, audio: NodeIndex, at: string): Part {
  const data = document.member(audio, "data");
  const raw = document.raw(audio);
  return {
    type: "audio",
    media: { from: "base64", data: document.isString(data) ? document.text(data) : "" },
    extensions: [{ dialect: OPENAI_CHAT, path: "audio", raw, at }],
    at,
  };
}

const madeUpId = (seed: string, place: number): string => `call_${base62Digest(`${seed}/${place}`, 24)}`;

function decodeCall(
  document: Document,
  node: NodeIndex,
  seed: string,
  seen: Set<string>,
  at: string,
): ToolCallPart | null {
  const custom = document.member(node, "custom");
  const isCustom = document.isObject(custom);
  const body = isCustom ? custom : document.member(node, "function");
  const own = stringOf(document, document.member(node, "id")) ?? "";
  const id = own === "" || seen.has(own) ? madeUpId(seed, seen.size) : own;
  seen.add(id);
  const call = callOf(document, body, isCustom ? "input" : "arguments", id, isCustom ? "custom" : "function", at);
  const signature = googleSignature(document, document.member(node, "extra_content"));
  return call === null || signature === null ? call : { ...call, signature };
}

/** A call without a name cannot be made; it is left out. Arguments may be an object where a server forgot to encode them. */
function callOf(
  document: Document,
  body: NodeIndex,
  member: "arguments" | "input",
  id: string,
  kind: "function" | "custom",
  at: string,
): ToolCallPart | null {
  const name = document.member(body, "name");
  if (!hasText(document, name)) return null;
  const node = document.member(body, member);
  const text = document.isString(node) ? document.text(node) : document.isObject(node) ? document.raw(node) : "";
  const encoded = !document.isObject(node);
  return { type: "tool-call", id, name: document.text(name), kind, arguments: { text, encoded }, at };
}

function extensionsOf(
  document: Document,
  object: NodeIndex,
  known: ReadonlySet<string>,
  prefix: string,
): readonly Extension[] {
  const extensions: Extension[] = [];
  for (let key = document.firstMember(object); key !== ABSENT; key = document.nextMember(key)) {
    const name = document.memberName(key);
    const value = document.memberValue(key);
    if (known.has(name) || document.isNull(value)) continue;
    extensions.push({ dialect: OPENAI_CHAT, path: `${prefix}${name}`, raw: document.raw(value), at: `/${name}` });
  }
  return extensions;
}
