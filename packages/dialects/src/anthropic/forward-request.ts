/**
 * Same-dialect requests: the client's bytes with the few edits that are prescribed. The model is renamed, carriers of reasoning
 * that another provider's turn left in the history are restored or cut, a counting call is cut to what it knows.
 */
import {
  ABSENT,
  decodeText,
  Edits,
  encodeString,
  IssueList,
  type Document,
  type EncodeResult,
  type EncodeTarget,
  type HeaderList,
  type NodeIndex,
  type Operation,
  type RequestHead,
} from "@dragoman/core";

import { decodeEnvelope, ENVELOPE_PREFIX } from "../shared/signature-envelope.ts";
import { COUNT_MEMBERS } from "./members.ts";
import { acceptsReasoningOf } from "./model-family.ts";
import { profileOf } from "./profiles.ts";
import { allowedBetas, readApiVersion, readBetas, versionHeaders } from "./version-headers.ts";

const ENVELOPE_BYTES = Buffer.from(ENVELOPE_PREFIX, "latin1");

/** Path below the provider's base URL. */
export function requestPath(operation: Operation): string {
  return operation === "count-tokens" ? "/messages/count_tokens" : "/messages";
}

/** One forwarding: collects edits and issues over a document. */
class Forwarding {
  readonly #document: Document;
  readonly #target: EncodeTarget;
  readonly #edits: Edits;
  readonly issues: IssueList;

  constructor(document: Document, target: EncodeTarget) {
    this.#document = document;
    this.#target = target;
    this.#edits = new Edits(document);
    this.issues = new IssueList(target.lossyAllow);
  }

  renameModel(head: RequestHead): void {
    if (head.model !== this.#target.model) this.#edits.replace(head.modelNode, encodeString(this.#target.model));
  }

  /** A server-side thread lives at one account; only a request that can go nowhere else may name it. */
  checkThread(): void {
    const thread = this.#document.member(this.#document.root, "thread");
    if (thread === ABSENT || this.#document.isNull(thread) || this.#target.isOnlyAccount) return;
    this.issues.reject(
      "stateful_unsupported",
      "/thread",
      "A thread lives at one upstream account, and others could serve this.",
    );
  }

  cutToCount(): void {
    const document = this.#document;
    for (let key = document.firstMember(document.root); key !== ABSENT; key = document.nextMember(key)) {
      if (!COUNT_MEMBERS.has(document.memberName(key))) this.#edits.remove(key);
    }
  }

  restoreReasoning(): void {
    const document = this.#document;
    let index = 0;
    const messages = document.member(document.root, "messages");
    for (let message = document.firstElement(messages); message !== ABSENT; message = document.nextElement(message)) {
      if (document.stringEquals(document.member(message, "role"), "assistant")) this.#restoreMessage(message, index);
      index++;
    }
  }

  #restoreMessage(message: NodeIndex, index: number): void {
    const document = this.#document;
    const content = document.member(message, "content");
    const cut: NodeIndex[] = [];
    let position = 0;
    for (let block = document.firstElement(content); block !== ABSENT; block = document.nextElement(block)) {
      if (document.stringEquals(document.member(block, "type"), "thinking") && !this.#restoreBlock(block)) {
        const at = `/messages/${index}/content/${position}`;
        this.issues.drop(
          "reasoning_history_foreign",
          at,
          "The thinking block was made elsewhere and would be refused.",
        );
        cut.push(block);
      }
      position++;
    }
    if (cut.length === 0) return;
    // A message without content is refused upstream; its neighbours are combined there.
    if (cut.length === position) this.#edits.remove(message);
    else for (const block of cut) this.#edits.remove(block);
  }

  /** False when the block must not be sent. */
  #restoreBlock(block: NodeIndex): boolean {
    const document = this.#document;
    const signature = document.member(block, "signature");
    // A block without the member at all is the provider's to judge.
    if (!document.isString(signature)) return true;
    if (document.stringEquals(signature, "")) return false;
    if (!startsWithEnvelope(document, signature)) return true;
    const envelope = decodeEnvelope(document.string(signature));
    if (envelope === null || !acceptsReasoningOf(envelope.model, this.#target.model, this.#target.options))
      return false;
    if (envelope.origin === "ar") {
      this.#edits.replace(block, `{"type":"redacted_thinking","data":${encodeString(envelope.data)}}`);
      return true;
    }
    if (envelope.origin !== "a") return false;
    this.#edits.replace(signature, encodeString(envelope.data));
    if (envelope.text === undefined) return true;
    const thinking = document.member(block, "thinking");
    if (thinking === ABSENT) this.#edits.insertMember(block, "thinking", encodeString(envelope.text));
    else this.#edits.replace(thinking, encodeString(envelope.text));
    return true;
  }

  finish(operation: Operation, headers: HeaderList): EncodeResult {
    const { issues } = this.issues;
    if (this.issues.isRefused) return { ok: false, issues };
    const { profile, options } = this.#target;
    const version = profileOf(profile).apiVersion ?? readApiVersion(headers);
    return {
      ok: true,
      encoded: {
        body: this.#edits.finish(),
        path: requestPath(operation),
        headers: versionHeaders(version, allowedBetas(readBetas(headers), options)),
        toolMap: null,
      },
      issues,
    };
  }
}

function startsWithEnvelope(document: Document, node: NodeIndex): boolean {
  // An escaped spelling of the prefix is legal JSON too.
  if (document.hasEscape(node)) return decodeText(document.text(node)).startsWith(ENVELOPE_PREFIX);
  const { bytes, start, end } = document.text(node);
  if (end - start < ENVELOPE_BYTES.length) return false;
  for (let offset = 0; offset < ENVELOPE_BYTES.length; offset++) {
    if (bytes[start + offset] !== ENVELOPE_BYTES[offset]) return false;
  }
  return true;
}

/** Edits a request for an upstream of the same dialect. */
export function forwardRequest(
  document: Document,
  head: RequestHead,
  operation: Operation,
  headers: HeaderList,
  target: EncodeTarget,
): EncodeResult {
  const forwarding = new Forwarding(document, target);
  forwarding.renameModel(head);
  if (operation === "count-tokens") forwarding.cutToCount();
  else forwarding.checkThread();
  forwarding.restoreReasoning();
  return forwarding.finish(operation, headers);
}
