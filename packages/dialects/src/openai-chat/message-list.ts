// Assembles decoded messages under the neutral order rules: results of tools come first in a user message and in the order of the calls
// that they answer; neighbours with one role, name and phase become one message. Instructions are never merged.
import { isEmptyText, textEquals, textToString } from "@dragoman/core";
import type { Extension, Message, Part, Text, ToolResultPart } from "@dragoman/core";

interface OpenMessage {
  readonly role: "user" | "assistant";
  readonly name: Text | undefined;
  readonly parts: Part[];
  readonly results: ToolResultPart[];
  readonly extensions: Extension[];
  readonly at: string;
}

/** What a decoder hands over for one message of the source. */
export interface SourceMessage {
  readonly role: "user" | "assistant";
  readonly name?: Text | undefined;
  readonly parts: readonly Part[];
  readonly extensions: readonly Extension[];
  readonly at: string;
}

/** Collects messages in source order. */
export class MessageList {
  readonly #messages: Message[] = [];
  #open: OpenMessage | null = null;
  #hasConversation = false;
  /** Ids of the latest assistant message's calls, by their place. */
  #callOrder: Map<string, number> = new Map();

  /** Whether a user or assistant message was seen; instructions before that are leading. */
  get hasConversation(): boolean {
    return this.#hasConversation;
  }

  addInstruction(message: Message): void {
    this.#close();
    this.#messages.push(message);
  }

  add(source: SourceMessage): void {
    this.#hasConversation = true;
    const open = this.#openFor(source);
    for (const part of source.parts) {
      if (part.type === "tool-result") open.results.push(part);
      else open.parts.push(part);
    }
    for (const extension of source.extensions) open.extensions.push(extension);
  }

  finish(): readonly Message[] {
    this.#close();
    return this.#messages;
  }

  #openFor({ role, name, at }: SourceMessage): OpenMessage {
    const open = this.#open;
    const joins = open !== null && open.role === role && isSameName(open, name);
    if (joins) return open;
    this.#close();
    this.#open = { role, name, parts: [], results: [], extensions: [], at };
    return this.#open;
  }

  #close(): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    const { role, name, extensions, at } = open;
    const parts = open.results.length === 0 ? open.parts : [...this.#inCallOrder(open.results), ...open.parts];
    if (role === "assistant") this.#rememberCalls(parts);
    this.#messages.push({
      role,
      ...(name === undefined || isEmptyText(name) ? null : { name }),
      parts,
      ...(extensions.length === 0 ? null : { extensions }),
      at,
    });
  }

  /** Results of unknown calls stay behind the others, in source order; whether they may stay at all is the encoder's question. */
  #inCallOrder(results: readonly ToolResultPart[]): readonly ToolResultPart[] {
    if (results.length < 2) return results;
    const placeOf = (result: ToolResultPart): number =>
      this.#callOrder.get(textToString(result.callId)) ?? this.#callOrder.size;
    return results
      .map((result) => ({ result, place: placeOf(result) }))
      .toSorted((left, right) => left.place - right.place)
      .map(({ result }) => result);
  }

  #rememberCalls(parts: readonly Part[]): void {
    const order = new Map<string, number>();
    for (const part of parts) if (part.type === "tool-call") order.set(textToString(part.id), order.size);
    this.#callOrder = order;
  }
}

function isSameName(open: OpenMessage, name: Text | undefined): boolean {
  if (open.name === undefined || name === undefined) return open.name === name;
  return textEquals(open.name, name);
}
