// Messages of a request in the neutral form. Calls, results and reasoning become parts; what only this dialect has stays as an extension.
import { ABSENT } from "@dragoman/core";
import type { Extension, Message, NodeIndex, Part, ReasoningPart, Text, ToolResultPart } from "@dragoman/core";

import { decodeEnvelope } from "../shared/signature-envelope.ts";
import { hasText } from "../shared/string-value.ts";
import { googleSignature } from "./decode-stream.ts";
import { decodeBreakpoint, decodeContent } from "./decode-parts.ts";
import { MessageList } from "./message-list.ts";
import type { RequestReader } from "./request-reader.ts";

const INSTRUCTION_MEMBERS: ReadonlySet<string> = new Set(["role", "content", "name", "cache_control"]);
const USER_MEMBERS: ReadonlySet<string> = INSTRUCTION_MEMBERS;
const TOOL_MEMBERS: ReadonlySet<string> = new Set(["role", "content", "name", "tool_call_id", "cache_control"]);
// `annotations`, and empty echoes of an answer, say nothing in history.
const ASSISTANT_MEMBERS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "name",
  "refusal",
  "tool_calls",
  "function_call",
  "audio",
  "annotations",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "extra_content",
  "cache_control",
]);
const CALL_MEMBERS: ReadonlySet<string> = new Set(["id", "type", "index", "function", "custom", "extra_content"]);
const FUNCTION_CALL_MEMBERS: ReadonlySet<string> = new Set(["name", "arguments"]);
const CUSTOM_CALL_MEMBERS: ReadonlySet<string> = new Set(["name", "input"]);
const ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

/** Decodes `messages`. Wrong ones are noted at the reader. */
export function decodeMessages(reader: RequestReader, messages: NodeIndex): readonly Message[] {
  const { document } = reader;
  const list = new MessageList();
  if (!reader.isArray(messages, "/messages")) reader.fail("The member messages must be an array.", "/messages");
  else if (document.count(messages) === 0) reader.fail("There must be at least one message.", "/messages");
  let index = 0;
  let lastFunctionCallId: string | null = null;
  for (let node = document.firstElement(messages); node !== ABSENT; node = document.nextElement(node)) {
    const at = `/messages/${index}`;
    if (document.isObject(node)) lastFunctionCallId = decodeMessage(reader, node, at, index, list, lastFunctionCallId);
    else reader.fail(`A message must be an object, not ${reader.kindOf(node)}.`, at);
    index++;
  }
  return list.finish();
}

/** Decodes one message; returns the id that a following `function` message answers. */
function decodeMessage(
  reader: RequestReader,
  node: NodeIndex,
  at: string,
  index: number,
  list: MessageList,
  lastFunctionCallId: string | null,
): string | null {
  const { document } = reader;
  const role = reader.word(document.member(node, "role"), `${at}/role`, ROLES);
  switch (role) {
    case undefined:
      reader.fail("A message must have a role.", `${at}/role`);
      return lastFunctionCallId;
    case "system":
    case "developer":
      list.addInstruction(decodeInstruction(reader, node, at, role, list.hasConversation));
      return lastFunctionCallId;
    case "user": {
      needContent(reader, node, at);
      const name = reader.text(document.member(node, "name"), `${at}/name`);
      const parts = markedParts(
        reader,
        node,
        decodeContent(reader, document.member(node, "content"), `${at}/content`),
        at,
      );
      list.add({ role: "user", name, parts, extensions: reader.unknownMembers(node, USER_MEMBERS, at), at });
      return lastFunctionCallId;
    }
    case "assistant":
      return decodeAssistant(reader, node, at, index, list) ?? lastFunctionCallId;
    case "tool":
    case "function": {
      const result = decodeResult(reader, node, at, role, lastFunctionCallId);
      if (result !== null) list.add({ role: "user", parts: [result], extensions: [], at });
      return lastFunctionCallId;
    }
  }
}

function needContent(reader: RequestReader, node: NodeIndex, at: string): void {
  if (!reader.has(reader.document.member(node, "content")))
    reader.fail("This message must have content.", `${at}/content`);
}

function decodeInstruction(
  reader: RequestReader,
  node: NodeIndex,
  at: string,
  authority: "system" | "developer",
  isMid: boolean,
): Message {
  const { document } = reader;
  needContent(reader, node, at);
  const name = reader.text(document.member(node, "name"), `${at}/name`);
  const parts = markedParts(reader, node, decodeContent(reader, document.member(node, "content"), `${at}/content`), at);
  const extensions = reader.unknownMembers(node, INSTRUCTION_MEMBERS, at);
  return {
    role: "instruction",
    authority,
    position: isMid ? "mid" : "leading",
    ...(name === undefined ? null : { name }),
    parts,
    ...(extensions.length === 0 ? null : { extensions }),
    at,
  };
}

/** A cache mark on a whole message belongs to its last part. */
function markedParts(reader: RequestReader, node: NodeIndex, parts: Part[], at: string): Part[] {
  const last = parts.at(-1);
  if (last === undefined || reader.document.member(node, "cache_control") === ABSENT) return parts;
  const cacheBreakpoint = decodeBreakpoint(reader, node, at);
  if (cacheBreakpoint !== null) parts[parts.length - 1] = { ...last, cacheBreakpoint };
  return parts;
}

function decodeAssistant(
  reader: RequestReader,
  node: NodeIndex,
  at: string,
  index: number,
  list: MessageList,
): string | null {
  const { document } = reader;
  const content = document.member(node, "content");
  const name = reader.text(document.member(node, "name"), `${at}/name`);
  const parts: Part[] = decodeReasoning(reader, node, at);
  const decoded = markedParts(reader, node, decodeContent(reader, content, `${at}/content`), at);
  // Never spread into a call: a body has room for more parts than a call has for arguments.
  for (const part of decoded) parts.push(part);
  const refusal = reader.text(document.member(node, "refusal"), `${at}/refusal`);
  if (refusal !== undefined && document.count(node) > 0 && !isEmpty(refusal))
    parts.push({ type: "refusal", text: refusal, at: `${at}/refusal` });
  decodeCalls(reader, document.member(node, "tool_calls"), `${at}/tool_calls`, parts);
  const functionCall = document.member(node, "function_call");
  const callId = reader.has(functionCall) ? `call_fn_${index}` : null;
  if (callId !== null) decodeFunctionCall(reader, functionCall, `${at}/function_call`, callId, parts);
  const extensions = decodeAssistantExtensions(reader, node, at);
  if (parts.length === 0 && extensions.length === 0 && !reader.has(content))
    reader.fail("An assistant message must have content, a refusal or tool calls.", `${at}/content`);
  list.add({ role: "assistant", name, parts, extensions, at });
  return callId;
}

const isEmpty = (text: Text): boolean => typeof text !== "string" && text.start === text.end;

function decodeAssistantExtensions(reader: RequestReader, node: NodeIndex, at: string): readonly Extension[] {
  const { document } = reader;
  const extensions = reader.unknownMembers(node, ASSISTANT_MEMBERS, at);
  const audio = document.member(node, "audio");
  if (reader.has(audio)) extensions.push(reader.extension("audio", audio, `${at}/audio`, "file_reference_foreign"));
  const extra = document.member(node, "extra_content");
  if (reader.isObject(extra, `${at}/extra_content`)) {
    for (let key = document.firstMember(extra); key !== ABSENT; key = document.nextMember(key)) {
      const name = document.memberName(key);
      if (name === "gateway") continue;
      extensions.push(
        reader.extension(`extra_content.${name}`, document.memberValue(key), `${at}/extra_content/${name}`),
      );
    }
  }
  return extensions;
}

/** Signed reasoning out of the gateway's carrier, else the bare text of the first reasoning member that has some. */
function decodeReasoning(reader: RequestReader, node: NodeIndex, at: string): Part[] {
  const { document } = reader;
  const parts: Part[] = [];
  const gateway = document.member(document.member(node, "extra_content"), "gateway");
  const entries = document.member(gateway, "reasoning");
  let index = 0;
  for (let entry = document.firstElement(entries); entry !== ABSENT; entry = document.nextElement(entry)) {
    const part = decodeCarried(reader, entry, `${at}/extra_content/gateway/reasoning/${index}`);
    if (part !== null) parts.push(part);
    index++;
  }
  if (parts.length > 0) return parts;
  for (const name of ["reasoning_content", "reasoning"]) {
    const text = document.member(node, name);
    if (!hasText(document, text)) continue;
    parts.push({ type: "reasoning", form: "raw", texts: [document.text(text)], at: `${at}/${name}` });
    break;
  }
  return parts;
}

/** An entry whose envelope does not parse is reasoning without a proof: foreign to every provider. */
function decodeCarried(reader: RequestReader, entry: NodeIndex, at: string): ReasoningPart | null {
  const { document } = reader;
  const text = document.member(entry, "text");
  const sig = document.member(entry, "sig");
  const envelope = document.isString(sig) ? decodeEnvelope(document.string(sig)) : null;
  const beside: readonly Text[] = document.isString(text) ? [document.text(text)] : [];
  if (envelope === null) return beside.length === 0 ? null : { type: "reasoning", form: "raw", texts: beside, at };
  const { origin, model, data } = envelope;
  return {
    type: "reasoning",
    form: origin === "ar" ? "opaque" : "summary",
    texts: envelope.text === undefined ? beside : [envelope.text],
    ...(origin === "ar" ? { redacted: data } : null),
    signature: { origin, model, data },
    at,
  };
}

function decodeCalls(reader: RequestReader, calls: NodeIndex, at: string, parts: Part[]): void {
  const { document } = reader;
  if (!reader.isArray(calls, at)) return;
  let index = 0;
  for (let node = document.firstElement(calls); node !== ABSENT; node = document.nextElement(node)) {
    const callAt = `${at}/${index}`;
    const part = document.isObject(node) ? decodeCall(reader, node, callAt) : null;
    if (part !== null) parts.push(part);
    else reader.fail("A tool call must be an object with an id and a function.", callAt);
    index++;
  }
}

function decodeCall(reader: RequestReader, node: NodeIndex, at: string): Part | null {
  const { document } = reader;
  const id = reader.text(document.member(node, "id"), `${at}/id`);
  const custom = document.member(node, "custom");
  const isCustom = document.stringEquals(document.member(node, "type"), "custom") || document.isObject(custom);
  const body = isCustom ? custom : document.member(node, "function");
  const bodyAt = isCustom ? `${at}/custom` : `${at}/function`;
  const name = reader.text(document.member(body, "name"), `${bodyAt}/name`);
  if (id === undefined || name === undefined) {
    reader.fail(
      `A tool call must have ${id === undefined ? "an id" : "a name"}.`,
      id === undefined ? `${at}/id` : `${bodyAt}/name`,
    );
    return null;
  }
  const argument = document.member(body, isCustom ? "input" : "arguments");
  const isText = !document.isObject(argument);
  const text = isText
    ? (reader.text(argument, `${bodyAt}/${isCustom ? "input" : "arguments"}`) ?? "")
    : document.raw(argument);
  const signature = googleSignature(document, document.member(node, "extra_content"));
  const extensions = document.count(node) > 3 ? reader.unknownMembers(node, CALL_MEMBERS, at) : [];
  if (document.count(body) > 2) {
    const holder = isCustom ? "custom" : "function";
    for (const inner of reader.unknownMembers(body, isCustom ? CUSTOM_CALL_MEMBERS : FUNCTION_CALL_MEMBERS, bodyAt))
      extensions.push({ ...inner, path: `${holder}.${inner.path}` });
  }
  return {
    type: "tool-call",
    id,
    name,
    kind: isCustom ? "custom" : "function",
    arguments: { text, encoded: isText },
    ...(signature === null ? null : { signature }),
    ...(extensions.length === 0 ? null : { extensions }),
    at,
  };
}

/** The deprecated form of one call; its id is made of the message's place, so that the same body gives the same ids. */
function decodeFunctionCall(reader: RequestReader, node: NodeIndex, at: string, id: string, parts: Part[]): void {
  const { document } = reader;
  if (!reader.isObject(node, at)) return;
  const name = reader.text(document.member(node, "name"), `${at}/name`);
  if (name === undefined) reader.fail("A function call must have a name.", `${at}/name`);
  const text = reader.text(document.member(node, "arguments"), `${at}/arguments`) ?? "";
  if (name === undefined) return;
  const extensions = reader
    .unknownMembers(node, FUNCTION_CALL_MEMBERS, at)
    .map((extension) => ({ ...extension, path: `function.${extension.path}` }));
  parts.push({
    type: "tool-call",
    id,
    name,
    kind: "function",
    arguments: { text, encoded: true },
    ...(extensions.length === 0 ? null : { extensions }),
    at,
  });
}

function decodeResult(
  reader: RequestReader,
  node: NodeIndex,
  at: string,
  role: "tool" | "function",
  lastFunctionCallId: string | null,
): ToolResultPart | null {
  const { document } = reader;
  const name = reader.text(document.member(node, "name"), `${at}/name`);
  const callId =
    role === "function"
      ? (lastFunctionCallId ?? "")
      : reader.text(document.member(node, "tool_call_id"), `${at}/tool_call_id`);
  if (callId === undefined) {
    reader.fail("A tool message must name the call that it answers.", `${at}/tool_call_id`);
    return null;
  }
  const content = decodeContent(reader, document.member(node, "content"), `${at}/content`);
  const cacheBreakpoint = decodeBreakpoint(reader, node, at);
  const extensions = reader.unknownMembers(node, TOOL_MEMBERS, at);
  return {
    type: "tool-result",
    callId,
    ...(name === undefined ? null : { name }),
    content,
    ...(cacheBreakpoint === null ? null : { cacheBreakpoint }),
    ...(extensions.length === 0 ? null : { extensions }),
    at,
  };
}
