// What decoders ask of a value that may be a string.
import type { Document, NodeIndex } from "@dragoman/core";

/** The text, or undefined for an absent value and one of another kind. */
export function stringOf(document: Document, node: NodeIndex): string | undefined {
  return document.isString(node) ? document.string(node) : undefined;
}

/** Whether it is a string with something between its quotes; nothing is decoded. */
export function hasText(document: Document, node: NodeIndex): boolean {
  return document.isString(node) && document.end(node) - document.start(node) > 2;
}
