// An estimate of a request's input tokens from its bytes. Media count by their kind, not by the length of their base64.
import { ABSENT } from "@dragoman/core";
import type { Document, NodeIndex } from "@dragoman/core";

/** Bytes of text a token takes on average; for text that is not Latin it is closer to this in characters, so the estimate is high. */
const BYTES_PER_TOKEN = 4;
const MESSAGE_TOKENS = 4;
/** A large image in full detail (vendors' tile rules give 765 to 1,105). */
const IMAGE_TOKENS = 1_100;
const LOW_DETAIL_IMAGE_TOKENS = 85;
/** Base64 characters of compressed sound that make a token: about 10 tokens and 8 kB a second. */
const AUDIO_CHARACTERS_PER_TOKEN = 1_000;
/** Base64 characters of a document that make a token: layout and fonts are most of a file. */
const FILE_CHARACTERS_PER_TOKEN = 60;

/** Estimates the input tokens of a chat request. */
export function estimateInputTokens(document: Document): number {
  const root = document.root;
  let tokens = 0;
  const messages = document.member(root, "messages");
  for (let message = document.firstElement(messages); message !== ABSENT; message = document.nextElement(message))
    tokens += MESSAGE_TOKENS + messageTokens(document, message);
  for (const name of ["tools", "functions", "response_format"])
    tokens += byteLength(document, document.member(root, name)) / BYTES_PER_TOKEN;
  return Math.ceil(tokens);
}

function messageTokens(document: Document, message: NodeIndex): number {
  let tokens = 0;
  for (let key = document.firstMember(message); key !== ABSENT; key = document.nextMember(key)) {
    const value = document.memberValue(key);
    if (!document.nameEquals(key, "content") || !document.isArray(value)) {
      if (!document.nameEquals(key, "role")) tokens += byteLength(document, value) / BYTES_PER_TOKEN;
      continue;
    }
    for (let part = document.firstElement(value); part !== ABSENT; part = document.nextElement(part))
      tokens += partTokens(document, part);
  }
  return tokens;
}

function partTokens(document: Document, part: NodeIndex): number {
  const image = document.member(part, "image_url");
  if (image !== ABSENT)
    return document.stringEquals(document.member(image, "detail"), "low") ? LOW_DETAIL_IMAGE_TOKENS : IMAGE_TOKENS;
  const audio = document.member(document.member(part, "input_audio"), "data");
  if (audio !== ABSENT) return byteLength(document, audio) / AUDIO_CHARACTERS_PER_TOKEN;
  const file = document.member(document.member(part, "file"), "file_data");
  if (file !== ABSENT) return byteLength(document, file) / FILE_CHARACTERS_PER_TOKEN;
  const text = document.member(part, "text");
  return byteLength(document, text === ABSENT ? part : text) / BYTES_PER_TOKEN;
}

const byteLength = (document: Document, node: NodeIndex): number =>
  node === ABSENT ? 0 : document.end(node) - document.start(node);
