// Reads a chat stream into neutral events. A choice is idle → open → finished; at most one text-like part of a choice is open at a time,
// calls may overlap. The stream is running → ended; after the end records are ignored. Event references live as long as the record.
import { ABSENT, Scanner, retainText } from "@dragoman/core";
import type {
  DecodeContext,
  Document,
  NeutralError,
  NodeIndex,
  Signature,
  StreamDecoder,
  StreamEvent,
  StreamRecord,
} from "@dragoman/core";

import { protocolError, truncatedError } from "../shared/neutral-error.ts";
import { hasText, stringOf } from "../shared/string-value.ts";
import { ChoiceState } from "./choice-state.ts";
import { classifyErrorNode } from "./classify-error.ts";
import { asChatProfile } from "./profiles.ts";
import type { ChatProfile } from "./profiles.ts";
import { decodeStop } from "./stop.ts";
import { isDoneRecord, MAX_CHOICES, MAX_PENDING_BYTES } from "./stream-record.ts";
import type { TrackedCall } from "./tool-call-track.ts";
import { UsageReader } from "./usage.ts";

/** Decoder of one chat stream. */
export class ChatStreamDecoder implements StreamDecoder {
  readonly #context: DecodeContext;
  readonly #profile: ChatProfile;
  readonly #emit: (event: StreamEvent) => void;
  readonly #scanner: Scanner;
  readonly #usageReader: UsageReader;
  readonly #choices: Map<number, ChoiceState>;
  #open: number;
  #isStarted: boolean;
  #isEnded: boolean;
  #answerId: string;
  #pendingBytes: number;

  constructor(context: DecodeContext, emit: (event: StreamEvent) => void) {
    this.#context = context;
    this.#profile = asChatProfile(context.profile);
    this.#emit = emit;
    this.#scanner = new Scanner({ duplicates: "last-wins" });
    this.#usageReader = new UsageReader(this.#profile, (name) => context.count(name));
    this.#choices = new Map();
    this.#open = 0;
    this.#isStarted = false;
    this.#isEnded = false;
    this.#answerId = "";
    this.#pendingBytes = 0;
  }

  get isStopped(): boolean {
    return this.#choices.size > 0 && this.#open === 0 && !this.#isEnded;
  }

  push(record: StreamRecord): void {
    const { bytes, dataStart, dataEnd } = record;
    if (this.#isEnded || dataStart >= dataEnd) return;
    if (isDoneRecord(bytes, dataStart, dataEnd)) {
      this.#done();
      return;
    }
    const document = this.#scanner.scan(bytes, dataStart, dataEnd);
    if (document === null) {
      const offset = (this.#scanner.error?.offset ?? dataStart) - dataStart;
      this.#fail(protocolError(`A record of the provider's stream is not valid JSON (byte ${offset}).`));
      return;
    }
    if (!document.isObject(document.root)) {
      this.#fail(protocolError("A record of the provider's stream is no object."));
      return;
    }
    const error = document.member(document.root, "error");
    if (record.event === "error" || (error !== ABSENT && !document.isNull(error)))
      this.#fail(classifyErrorNode(document, document.root, this.#context));
    else this.#chunk(document);
  }

  finish(): void {
    if (this.#isEnded) return;
    if (this.#choices.size > 0 && this.#open === 0) this.#end();
    else this.#fail(truncatedError());
  }

  #done(): void {
    if (this.#choices.size > 0 && this.#open === 0) {
      this.#end();
      return;
    }
    if (this.#profile.finishReasonRequired) {
      this.#fail(truncatedError());
      return;
    }
    for (const choice of this.#choices.values()) if (!choice.isFinished) this.#stop(choice, null);
    this.#end();
  }

  #end(): void {
    this.#isEnded = true;
    this.#emit({ type: "end" });
  }

  #fail(error: NeutralError): void {
    this.#isEnded = true;
    this.#emit({ type: "error", error });
  }

  #chunk(document: Document): void {
    const root = document.root;
    if (!this.#isStarted) this.#start(document);
    const choices = document.member(root, "choices");
    for (let node = document.firstElement(choices); node !== ABSENT; node = document.nextElement(node)) {
      if (document.isObject(node)) this.#choice(document, node);
      if (this.#isEnded) return;
    }
    const usage = this.#usageReader.read(document, this.#usageReader.find(document, root), this.isStopped);
    if (usage !== null) this.#emit({ type: "usage", usage });
  }

  #start(document: Document): void {
    const root = document.root;
    this.#isStarted = true;
    const id = stringOf(document, document.member(root, "id"));
    const model = stringOf(document, document.member(root, "model"));
    const serviceTier = stringOf(document, document.member(root, "service_tier"));
    this.#answerId = id ?? "";
    this.#emit({
      type: "start",
      ...(id === undefined ? null : { id }),
      ...(model === undefined ? null : { model }),
      ...(serviceTier === undefined ? null : { serviceTier }),
    });
  }

  #choice(document: Document, node: NodeIndex): void {
    const indexNode = document.member(node, "index");
    const index = document.isNumber(indexNode) ? document.number(indexNode) : 0;
    if (!Number.isInteger(index) || index < 0 || index >= MAX_CHOICES) {
      this.#fail(protocolError(`A choice of the provider's stream has an index outside 0 to ${MAX_CHOICES - 1}.`));
      return;
    }
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = new ChoiceState(index, this.#emit);
      this.#choices.set(index, choice);
      this.#open++;
    }
    if (choice.isFinished) return;
    const delta = document.member(node, "delta");
    if (document.isObject(delta)) this.#delta(document, delta, choice);
    const logprobs = document.member(node, "logprobs");
    if (document.isObject(logprobs))
      this.#emit({ type: "logprobs-delta", candidate: index, raw: document.raw(logprobs) });
    const word = document.member(node, "finish_reason");
    if (document.isString(word) && !this.#isEnded) this.#stop(choice, document.string(word));
  }

  /** Inside one chunk the order is reasoning, content, refusal, calls, whatever the order of the members. */
  #delta(document: Document, delta: NodeIndex, choice: ChoiceState): void {
    for (const name of this.#profile.reasoningFields) {
      const node = document.member(delta, name);
      if (!hasText(document, node)) continue;
      choice.reasoning(document.text(node));
      break;
    }
    const content = document.member(delta, "content");
    if (hasText(document, content)) choice.text(document.text(content));
    else if (document.isArray(content)) this.#contentParts(document, content, choice);
    const refusal = document.member(delta, "refusal");
    if (hasText(document, refusal)) choice.refusal(document.text(refusal));
    const annotations = document.member(delta, "annotations");
    for (let node = document.firstElement(annotations); node !== ABSENT; node = document.nextElement(node))
      choice.citation(document.raw(node));
    const audio = document.member(delta, "audio");
    if (document.isObject(audio)) choice.audio(document.raw(audio));
    const calls = document.member(delta, "tool_calls");
    for (let node = document.firstElement(calls); node !== ABSENT; node = document.nextElement(node))
      this.#fragment(document, node, choice);
    const deprecated = document.member(delta, "function_call");
    if (document.isObject(deprecated)) this.#deprecatedFragment(document, deprecated, choice);
  }

  /** Content as a list of parts: text, and the thinking parts of one vendor. */
  #contentParts(document: Document, content: NodeIndex, choice: ChoiceState): void {
    for (let part = document.firstElement(content); part !== ABSENT; part = document.nextElement(part)) {
      const type = document.member(part, "type");
      const text = document.member(part, "text");
      const thinking = document.member(part, "thinking");
      if (document.stringEquals(type, "text") && hasText(document, text)) choice.text(document.text(text));
      else if (!document.stringEquals(type, "thinking")) this.#context.count("response_extra_omitted");
      else if (hasText(document, thinking)) choice.reasoning(document.text(thinking));
      else this.#thinkingParts(document, thinking, choice);
    }
  }

  #thinkingParts(document: Document, thinking: NodeIndex, choice: ChoiceState): void {
    for (let part = document.firstElement(thinking); part !== ABSENT; part = document.nextElement(part)) {
      const text = document.member(part, "text");
      if (hasText(document, text)) choice.reasoning(document.text(text));
    }
  }

  #fragment(document: Document, node: NodeIndex, choice: ChoiceState): void {
    if (!document.isObject(node) || this.#isEnded) return;
    const indexNode = document.member(node, "index");
    const idText = stringOf(document, document.member(node, "id"));
    const id = idText === undefined || idText === "" ? null : idText;
    const call = choice.calls.callOf(document.isNumber(indexNode) ? document.number(indexNode) : -1, id);
    const signature = googleSignature(document, document.member(node, "extra_content"));
    if (signature !== null) choice.signature(call, signature);
    const custom = document.member(node, "custom");
    if (document.isObject(custom)) {
      call.kind = "custom";
      this.#advance(document, choice, call, document.member(custom, "name"), document.member(custom, "input"));
    } else {
      const body = document.member(node, "function");
      this.#advance(document, choice, call, document.member(body, "name"), document.member(body, "arguments"));
    }
  }

  #deprecatedFragment(document: Document, node: NodeIndex, choice: ChoiceState): void {
    // One call per choice in this form; its fragments carry no index.
    const call = choice.calls.callOf(0, null);
    this.#advance(document, choice, call, document.member(node, "name"), document.member(node, "arguments"));
  }

  /** Starts a call as soon as its name is known, then passes its arguments on. */
  #advance(document: Document, choice: ChoiceState, call: TrackedCall, name: NodeIndex, argument: NodeIndex): void {
    if (call.part === -1 && hasText(document, name)) {
      call.name = document.string(name);
      choice.startCall(call, this.#answerId);
    }
    const encoded = document.isString(argument);
    if (encoded ? !hasText(document, argument) : !document.isObject(argument)) return;
    const text = encoded ? document.text(argument) : document.raw(argument);
    if (call.part !== -1) {
      choice.argument(call, text, encoded);
      return;
    }
    this.#pendingBytes += choice.calls.keep(call, text, encoded);
    if (this.#pendingBytes > MAX_PENDING_BYTES)
      this.#fail(protocolError("The provider's stream held back a tool call's name for too long."));
  }

  #stop(choice: ChoiceState, word: string | null): void {
    choice.close();
    this.#open--;
    this.#emit({ type: "stop", candidate: choice.index, stop: decodeStop(word, choice.contents(), this.#profile) });
  }
}

/** The signature that Google's compatible endpoint puts on a tool call. */
export function googleSignature(document: Document, extraContent: NodeIndex): Signature | null {
  const node = document.member(document.member(extraContent, "google"), "thought_signature");
  if (!hasText(document, node)) return null;
  return { origin: "g", data: retainText(document.text(node)) };
}
