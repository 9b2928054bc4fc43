// JSON as comparable values that keep how numbers are spelled and forget the order of members.
import { scan } from "@dragoman/core";
import type { Document, NodeIndex } from "@dragoman/core";

/** A JSON value as generators make it. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** A JSON object as generators make it. */
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/** Scans bytes or text. Throws on invalid JSON, with the scanner's message. */
export function documentOf(source: Uint8Array | string): Document {
  const bytes = typeof source === "string" ? Buffer.from(source, "utf8") : source;
  const result = scan(bytes);
  if (!result.ok) throw new Error(`invalid JSON: ${result.error.message}`);
  return result.document;
}

/** The value of a JSON text with members sorted by name; numbers become strings that hold their spelling. */
export function spelledJson(source: Uint8Array | string): JsonValue {
  const document = documentOf(source);
  return spelledValue(document, document.root);
}

/** Marks a spelled number, so that it never equals a string with the same characters. */
const NUMBER_MARK = "\u0000number ";

function spelledValue(document: Document, node: NodeIndex): JsonValue {
  if (document.isObject(node)) {
    const members: [string, JsonValue][] = [];
    for (let key = document.firstMember(node); key >= 0; key = document.nextMember(key)) {
      members.push([document.memberName(key), spelledValue(document, document.memberValue(key))]);
    }
    members.sort(([left], [right]) => (left < right ? -1 : 1));
    return Object.fromEntries(members);
  }
  if (document.isArray(node)) {
    const elements: JsonValue[] = [];
    for (let element = document.firstElement(node); element >= 0; element = document.nextElement(element)) {
      elements.push(spelledValue(document, element));
    }
    return elements;
  }
  if (document.isString(node)) return document.string(node);
  if (document.isNumber(node)) {
    const { bytes, start, end } = document.raw(node);
    return `${NUMBER_MARK}${Buffer.from(bytes.subarray(start, end)).toString("latin1")}`;
  }
  return document.isNull(node) ? null : document.boolean(node);
}
