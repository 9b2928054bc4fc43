/**
 * System instructions and messages of requests. Establishes the neutral order: neighbours of one role become one message, and in a
 * user message the tool results come first, in the order of the calls that they answer.
 */
import {
  ABSENT,
  textToString,
  type Extension,
  type Message,
  type NodeIndex,
  type Part,
  type ToolResultPart,
} from "@dragoman/core";

import type { BodyReader, Mutable } from "./body-reader.ts";
import { ContentDecoder } from "./decode-content.ts";
import { MESSAGE_MEMBERS } from "./members.ts";

type OpenMessage = Mutable<Omit<Message, "parts" | "extensions">> & { parts: Part[]; extensions?: Extension[] };

const MESSAGE_TABLE = { known: MESSAGE_MEMBERS, codes: {} };

/** Decodes `system` and `messages`. */
export function decodeMessages(reader: BodyReader): readonly Message[] {
  const { document } = reader;
  const content = new ContentDecoder(reader);
  const messages: OpenMessage[] = [];
  const system = reader.member(document.root, "system");
  if (system !== ABSENT) {
    const parts: Part[] = [];
    content.decode(system, "/system", parts);
    if (parts.length > 0) messages.push({ role: "instruction", position: "leading", parts, at: "/system" });
  }
  const list = document.member(document.root, "messages");
  if (!document.isArray(list)) {
    reader.refuse(list, "/messages", "a list of messages");
    return [];
  }
  let index = 0;
  for (let node = document.firstElement(list); node !== ABSENT; node = document.nextElement(node)) {
    appendMessage(reader, content, node, `/messages/${index}`, messages);
    index++;
  }
  if (index === 0) reader.refuseValue("/messages", "expected at least one message, found an empty list.");
  orderResults(messages);
  return messages;
}

function appendMessage(
  reader: BodyReader,
  content: ContentDecoder,
  node: NodeIndex,
  at: string,
  messages: OpenMessage[],
): void {
  if (!reader.document.isObject(node)) {
    reader.refuse(node, at, "a message object");
    return;
  }
  const role = reader.word(node, "role", at, ["user", "assistant", "system"]);
  if (role === undefined) {
    reader.refuse(reader.document.member(node, "role"), `${at}/role`, "one of user, assistant, system");
    return;
  }
  const target = openMessage(role, at, messages);
  content.decode(reader.document.member(node, "content"), `${at}/content`, target.parts);
  const extensions = reader.extensions(node, at, MESSAGE_TABLE);
  // Pushed one by one: neighbours of one role can be as many as the body has room for, and a copy for each would be quadratic.
  if (extensions.length > 0) target.extensions ??= [];
  for (const extension of extensions) target.extensions?.push(extension);
}

/** The message to which content of this role goes: the last one when it has the same role, else a new one. */
function openMessage(role: "user" | "assistant" | "system", at: string, messages: OpenMessage[]): OpenMessage {
  const last = messages.at(-1);
  if (last !== undefined && last.role === role) return last;
  const message: OpenMessage =
    role === "system" ? { role: "instruction", position: "mid", parts: [], at } : { role, parts: [], at };
  messages.push(message);
  return message;
}

function orderResults(messages: readonly OpenMessage[]): void {
  let calls: readonly Part[] = [];
  for (const message of messages) {
    if (message.role === "assistant") calls = message.parts;
    else if (message.role === "user" && message.parts.some((part) => part.type === "tool-result")) {
      message.parts = resultsFirst(message.parts, calls);
    }
  }
}

/** Parts with the tool results in front, in the order of their calls; results of no call come last among them. */
export function resultsFirst(parts: readonly Part[], calls: readonly Part[]): Part[] {
  const positions = new Map<string, number>();
  for (const call of calls) if (call.type === "tool-call") positions.set(textToString(call.id), positions.size);
  const results: { readonly part: ToolResultPart; readonly position: number }[] = [];
  const others: Part[] = [];
  for (const part of parts) {
    if (part.type !== "tool-result") others.push(part);
    else results.push({ part, position: positions.get(textToString(part.callId)) ?? positions.size });
  }
  results.sort((left, right) => left.position - right.position);
  return [...results.map((result) => result.part), ...others];
}
