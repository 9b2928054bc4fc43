/**
 * A guess at a request's input tokens from its bytes, for holds and routing; never a tokenizer. Media count by what they are, not
 * by the length of their base64.
 */
import type { Document, NodeIndex } from "@dragoman/core";

const BYTES_PER_TOKEN = 4;
/** An image of the largest size that is not scaled down (vision documentation: width × height / 750). */
const TOKENS_PER_IMAGE = 1600;
/** A page costs its text and its picture, about 3,000 tokens; pages of 75 KB are typical. */
const BASE64_BYTES_PER_PDF_TOKEN = 33;

/** What the media of a request weigh. */
class MediaWeight {
  readonly #document: Document;
  bytes = 0;
  tokens = 0;

  constructor(document: Document) {
    this.#document = document;
  }

  addContent(content: NodeIndex): void {
    const document = this.#document;
    for (let block = document.firstElement(content); block >= 0; block = document.nextElement(block)) {
      const source = document.member(block, "source");
      if (document.isObject(source)) this.#addSource(block, source);
      const inner = document.member(block, "content");
      if (document.isArray(inner)) this.addContent(inner);
    }
  }

  #addSource(block: NodeIndex, source: NodeIndex): void {
    const document = this.#document;
    const isImage = document.stringEquals(document.member(block, "type"), "image");
    const data = document.member(source, "data");
    if (document.isString(data) && document.stringEquals(document.member(source, "type"), "base64")) {
      const length = document.end(data) - document.start(data);
      this.bytes += length;
      this.tokens += isImage ? TOKENS_PER_IMAGE : Math.ceil(length / BASE64_BYTES_PER_PDF_TOKEN);
    } else if (isImage) this.tokens += TOKENS_PER_IMAGE;
  }
}

/** Estimates the input tokens of a request. */
export function estimateInputTokens(document: Document): number {
  const { root } = document;
  const media = new MediaWeight(document);
  const messages = document.member(root, "messages");
  for (let message = document.firstElement(messages); message >= 0; message = document.nextElement(message)) {
    media.addContent(document.member(message, "content"));
  }
  const textBytes = document.end(root) - document.start(root) - media.bytes;
  return Math.ceil(textBytes / BYTES_PER_TOKEN) + media.tokens;
}
