// Watches a chat stream that is forwarded as it is: what is content, what is the usage chunk, whether it ended. States of a choice:
// unseen → open → finished; states of the stream: running → ended. Nothing is encoded, and after the end nothing counts.
import { ABSENT, RecordFlag, Scanner } from "@dragoman/core";
import type {
  DecodeContext,
  Document,
  NeutralError,
  NodeIndex,
  RequestHead,
  StreamObserver,
  StreamRecord,
  Usage,
} from "@dragoman/core";

import { protocolError, truncatedError } from "../shared/neutral-error.ts";
import { hasText } from "../shared/string-value.ts";
import { classifyErrorNode } from "./classify-error.ts";
import { asChatProfile } from "./profiles.ts";
import type { ChatFacts } from "./read-head.ts";
import { isDoneRecord, MAX_CHOICES } from "./stream-record.ts";
import { UsageReader } from "./usage.ts";

const OPEN = 1;
const FINISHED = 2;

/** Members of a delta whose text or list is content. */
const CONTENT_MEMBERS: readonly string[] = [
  "content",
  "tool_calls",
  "reasoning_content",
  "reasoning",
  "refusal",
  "function_call",
  "audio",
];

/** Observer of one forwarded chat stream. */
export class ChatStreamObserver implements StreamObserver {
  readonly #context: DecodeContext;
  readonly #scanner: Scanner;
  readonly #usageReader: UsageReader;
  readonly #includeUsage: boolean;
  readonly #mayLackFinish: boolean;
  readonly #choices: Uint8Array;
  #open: number;
  #seen: number;
  #isEnded: boolean;
  usage: Usage | null;
  stopWord: string | null;
  error: NeutralError | null;

  constructor(context: DecodeContext, head: RequestHead) {
    const profile = asChatProfile(context.profile);
    this.#context = context;
    this.#scanner = new Scanner({ duplicates: "last-wins" });
    this.#usageReader = new UsageReader(profile, (name) => context.count(name));
    // The contract says that the head is one that this room's client dialect made.
    this.#includeUsage = (head.facts as ChatFacts).includeUsage;
    this.#mayLackFinish = !profile.finishReasonRequired;
    this.#choices = new Uint8Array(MAX_CHOICES);
    this.#open = 0;
    this.#seen = 0;
    this.#isEnded = false;
    this.usage = null;
    this.stopWord = null;
    this.error = null;
  }

  get isStopped(): boolean {
    return this.#seen > 0 && this.#open === 0 && !this.#isEnded;
  }

  observe(record: StreamRecord): number {
    const { bytes, dataStart, dataEnd } = record;
    if (this.#isEnded || dataStart >= dataEnd) return 0;
    if (isDoneRecord(bytes, dataStart, dataEnd)) return this.#observeDone();
    const document = this.#scanner.scan(bytes, dataStart, dataEnd);
    if (document === null)
      return this.#fail(
        protocolError(`A record of the provider's stream is not valid JSON (byte ${this.#offsetIn(dataStart)}).`),
      );
    if (!document.isObject(document.root))
      return this.#fail(protocolError("A record of the provider's stream is no object."));
    const error = document.member(document.root, "error");
    if (record.event === "error" || (error !== ABSENT && !document.isNull(error))) {
      this.error = classifyErrorNode(document, document.root, this.#context);
      this.#isEnded = true;
      return RecordFlag.error | RecordFlag.forward;
    }
    return this.#observeChunk(document);
  }

  finish(): NeutralError | null {
    if (this.error !== null) return this.error;
    if (this.#isEnded) return null;
    this.#isEnded = true;
    if (this.#seen > 0 && this.#open === 0) return null;
    this.error = truncatedError();
    return this.error;
  }

  #observeDone(): number {
    if ((this.#seen === 0 || this.#open > 0) && !this.#mayLackFinish) return this.#fail(truncatedError());
    this.#isEnded = true;
    return RecordFlag.forward | RecordFlag.end;
  }

  #observeChunk(document: Document): number {
    const root = document.root;
    const choices = document.member(root, "choices");
    const usageNode = this.#usageReader.find(document, root);
    let flags: number = RecordFlag.forward;
    for (let choice = document.firstElement(choices); choice !== ABSENT; choice = document.nextElement(choice))
      flags |= this.#observeChoice(document, choice);
    if (usageNode !== ABSENT) {
      const usage = this.#usageReader.read(document, usageNode, this.isStopped);
      if (usage !== null) this.usage = usage;
      if (!this.#includeUsage && document.isArray(choices) && document.count(choices) === 0)
        flags &= ~RecordFlag.forward;
    }
    return flags;
  }

  /** Tracks one choice; tells what it carries. */
  #observeChoice(document: Document, choice: NodeIndex): number {
    if (!document.isObject(choice)) return 0;
    const indexNode = document.member(choice, "index");
    const index = document.isNumber(indexNode) ? document.number(indexNode) : 0;
    if (!(index >= 0 && index < MAX_CHOICES)) return 0;
    const word = document.member(choice, "finish_reason");
    const isFinish = document.isString(word);
    const state = this.#choices[index] as number;
    if (state === 0) {
      this.#seen++;
      this.#open++;
      this.#choices[index] = OPEN;
    }
    if (isFinish && state !== FINISHED) {
      this.#open--;
      this.#choices[index] = FINISHED;
      this.stopWord ??= document.string(word);
    }
    if (hasContent(document, document.member(choice, "delta"))) return RecordFlag.content | RecordFlag.output;
    return isFinish ? RecordFlag.content : 0;
  }

  #fail(error: NeutralError): number {
    this.error = error;
    this.#isEnded = true;
    return RecordFlag.error;
  }

  #offsetIn(dataStart: number): number {
    return (this.#scanner.error?.offset ?? dataStart) - dataStart;
  }
}

/**
 * Whether a delta holds text or a call. A role, an empty string and an empty list are none. One walk: a delta has one member or two,
 * and only those with something in them need their name looked at.
 */
function hasContent(document: Document, delta: NodeIndex): boolean {
  for (let key = document.firstMember(delta); key !== ABSENT; key = document.nextMember(key)) {
    const value = document.memberValue(key);
    const isFilled = hasText(document, value) || document.count(value) > 0;
    if (isFilled && isContentMember(document, key)) return true;
  }
  return false;
}

function isContentMember(document: Document, key: NodeIndex): boolean {
  for (const name of CONTENT_MEMBERS) if (document.nameEquals(key, name)) return true;
  return false;
}
