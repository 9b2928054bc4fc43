/**
 * Watches a stream that is forwarded as it is: usage, stop reason, errors, and where content begins. States: open → stopped (a stop
 * reason was seen) → ended (`message_stop` or an error); after that every record is withheld.
 */
import {
  RecordFlag,
  Scanner,
  type DecodeContext,
  type Document,
  type NeutralError,
  type NodeIndex,
  type ObservedResponse,
  type StreamObserver,
  type StreamRecord,
  type Usage,
} from "@dragoman/core";

import { protocolError, truncatedError } from "../shared/neutral-error.ts";
import { hasText, stringOf } from "../shared/string-value.ts";
import { classifyErrorEvent } from "./classify-error.ts";
import { profileOf } from "./profiles.ts";
import { UsageTally } from "./usage.ts";

/** Whether a delta brings anything that a client waits for. */
function deltaHasContent(document: Document, delta: NodeIndex): boolean {
  for (let key = document.firstMember(delta); key >= 0; key = document.nextMember(key)) {
    if (document.nameEquals(key, "type")) continue;
    const value = document.memberValue(key);
    if (hasText(document, value) || document.isObject(value)) return true;
  }
  return false;
}

/** Whether a block begins with something: a text or thinking block does so only when it is not empty. */
function blockHasContent(document: Document, block: NodeIndex): boolean {
  const type = document.member(block, "type");
  if (document.stringEquals(type, "text")) return hasText(document, document.member(block, "text"));
  if (document.stringEquals(type, "thinking")) return hasText(document, document.member(block, "thinking"));
  return true;
}

const FORWARD_OUTPUT = RecordFlag.forward | RecordFlag.content | RecordFlag.output;

class AnthropicStreamObserver implements StreamObserver {
  readonly #scanner = new Scanner({ duplicates: "last-wins" });
  readonly #context: DecodeContext;
  readonly #tally = new UsageTally();
  #usageIsFinal = false;
  #stopWord: string | null = null;
  #error: NeutralError | null = null;
  #isEnded = false;

  constructor(context: DecodeContext) {
    this.#context = context;
  }

  get usage(): Usage | null {
    return this.#tally.toUsage(this.#usageIsFinal);
  }

  get stopWord(): string | null {
    return this.#stopWord;
  }

  get error(): NeutralError | null {
    return this.#error;
  }

  /** A stop reason alone is enough only where the profile says that the terminal event may be missing. */
  get isStopped(): boolean {
    return this.#isEnded || (this.#stopWord !== null && profileOf(this.#context.profile).lenientTerminal);
  }

  observe(record: StreamRecord): number {
    if (this.#isEnded) return 0;
    const document = this.#scanner.scan(record.bytes, record.dataStart, record.dataEnd);
    if (document === null) {
      const offset = (this.#scanner.error?.offset ?? record.dataStart) - record.dataStart;
      return this.#fail(
        protocolError(`The provider sent a stream event that is no JSON (byte ${offset} of its data).`),
        0,
      );
    }
    if (!document.isObject(document.root))
      return this.#fail(protocolError("The provider sent a stream event that is no object."), 0);
    const type = document.member(document.root, "type");
    if (document.stringEquals(type, "content_block_delta")) {
      const hasContent = deltaHasContent(document, document.member(document.root, "delta"));
      return hasContent ? FORWARD_OUTPUT : RecordFlag.forward;
    }
    return this.#observeOther(document, type, record);
  }

  finish(): NeutralError | null {
    if (this.#isEnded) return this.#error;
    if (this.isStopped) return null;
    this.#error = truncatedError();
    return this.#error;
  }

  #observeOther(document: Document, type: NodeIndex, record: StreamRecord): number {
    const { root } = document;
    if (document.stringEquals(type, "content_block_start")) {
      const hasContent = blockHasContent(document, document.member(root, "content_block"));
      return hasContent ? FORWARD_OUTPUT : RecordFlag.forward;
    }
    if (document.stringEquals(type, "message_start")) {
      this.#tally.read(document, document.member(document.member(root, "message"), "usage"));
      return RecordFlag.forward;
    }
    if (document.stringEquals(type, "message_delta")) return this.#observeMessageDelta(document);
    if (document.stringEquals(type, "message_stop")) {
      if (this.#stopWord === null && !profileOf(this.#context.profile).lenientTerminal)
        return this.#fail(protocolError("The provider's answer has no stop reason."), 0);
      this.#isEnded = true;
      return RecordFlag.forward | RecordFlag.end;
    }
    if (document.stringEquals(type, "error") || isForeignError(document, type, record)) {
      return this.#fail(classifyErrorEvent(document, this.#context), RecordFlag.forward);
    }
    // Unknown event types are the client's to ignore.
    return RecordFlag.forward;
  }

  #observeMessageDelta(document: Document): number {
    const hasOutputCount = this.#tally.read(document, document.member(document.root, "usage"));
    const reason = document.member(document.member(document.root, "delta"), "stop_reason");
    if (!document.isString(reason)) return RecordFlag.forward;
    this.#stopWord = document.string(reason);
    this.#usageIsFinal = hasOutputCount;
    return RecordFlag.forward | RecordFlag.content;
  }

  #fail(error: NeutralError, flags: number): number {
    this.#error = error;
    this.#isEnded = true;
    return flags | RecordFlag.error;
  }
}

/** Proxies put errors of other envelopes into streams. */
export function isForeignError(document: Document, type: NodeIndex, record: StreamRecord): boolean {
  return !document.isString(type) && (record.event === "error" || document.member(document.root, "error") >= 0);
}

/** Creates the observer of one forwarded stream. */
export function createStreamObserver(context: DecodeContext): StreamObserver {
  return new AnthropicStreamObserver(context);
}

/** Reads usage and stop reason of a whole answer that is forwarded as it is. */
export function observeResponse(document: Document, context: DecodeContext): ObservedResponse {
  const { root } = document;
  if (
    document.stringEquals(document.member(root, "type"), "error") ||
    document.isObject(document.member(root, "error"))
  ) {
    return { ok: false, error: classifyErrorEvent(document, context) };
  }
  if (!document.isArray(document.member(root, "content"))) {
    return {
      ok: false,
      error: protocolError("The provider's answer is not a message: `content` is missing or no list."),
    };
  }
  const reason = document.member(root, "stop_reason");
  if (!document.isString(reason) && !profileOf(context.profile).lenientTerminal)
    return { ok: false, error: protocolError("The provider's answer has no stop reason.") };
  const tally = new UsageTally();
  tally.read(document, document.member(root, "usage"));
  return {
    ok: true,
    usage: tally.toUsage(true),
    stopWord: stringOf(document, reason) ?? null,
  };
}

/** Reads the counts out of an object that has a `usage` member and perhaps nothing else. */
export function readUsage(document: Document): Usage | null {
  const tally = new UsageTally();
  tally.read(document, document.member(document.root, "usage"));
  return tally.toUsage(true);
}
