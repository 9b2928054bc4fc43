// Reading a client's request member by member: the first thing that is wrong is kept with its place, and reading goes on, so that
// callers need no exception and no early return at every step.
import { ABSENT } from "@dragoman/core";
import type { Document, Extension, NeutralError, NodeIndex, Num, ReasonCode, Text } from "@dragoman/core";

import { MAX_EXTENSIONS, TOO_MANY_EXTENSIONS } from "../shared/extension-bound.ts";
import { invalidMember } from "../shared/neutral-error.ts";
import { OPENAI_CHAT } from "./dialect-id.ts";

/** A document being decoded, and what is wrong with it. */
export class RequestReader {
  readonly document: Document;
  #error: NeutralError | null;
  #extensions: number;

  constructor(document: Document) {
    this.document = document;
    this.#error = null;
    this.#extensions = 0;
  }

  get error(): NeutralError | null {
    return this.#error;
  }

  /** Notes what is wrong at a JSON Pointer; only the first note counts. */
  fail(message: string, at: string): void {
    this.#error ??= invalidMember(message, at);
  }

  /** Whether a member is there and not null. */
  has(node: NodeIndex): boolean {
    return node !== ABSENT && !this.document.isNull(node);
  }

  /** The reference of a string member; undefined when it is absent, null, or wrong and noted. */
  text(node: NodeIndex, at: string): Text | undefined {
    if (!this.has(node)) return undefined;
    if (this.document.isString(node)) return this.document.text(node);
    this.fail(`This must be a string, not ${this.kindOf(node)}.`, at);
    return undefined;
  }

  /** The decoded value of a string member. */
  string(node: NodeIndex, at: string): string | undefined {
    if (!this.has(node)) return undefined;
    if (this.document.isString(node)) return this.document.string(node);
    this.fail(`This must be a string, not ${this.kindOf(node)}.`, at);
    return undefined;
  }

  /** The reference of a member that must be a string of this list of words. */
  word<Word extends string>(node: NodeIndex, at: string, words: readonly Word[]): Word | undefined {
    const value = this.string(node, at);
    if (value === undefined) return undefined;
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) this.fail(`This must be one of ${words.join(", ")}.`, at);
    return word;
  }

  boolean(node: NodeIndex, at: string): boolean | undefined {
    if (!this.has(node)) return undefined;
    if (this.document.isBoolean(node)) return this.document.boolean(node);
    this.fail(`This must be true or false, not ${this.kindOf(node)}.`, at);
    return undefined;
  }

  /** The reference of a number member. Numbers beyond a double are refused: what they mean could not be compared. */
  number(node: NodeIndex, at: string): Num | undefined {
    if (!this.has(node)) return undefined;
    if (!this.document.isNumber(node)) this.fail(`This must be a number, not ${this.kindOf(node)}.`, at);
    else if (Number.isFinite(this.document.number(node))) return this.document.raw(node);
    else this.fail("This number is too large.", at);
    return undefined;
  }

  /** The reference of a member that must be a whole number of at least `least`. */
  integer(node: NodeIndex, at: string, least: number): Num | undefined {
    const number = this.number(node, at);
    if (number === undefined) return undefined;
    const value = this.document.number(node);
    if (Number.isInteger(value) && value >= least) return number;
    this.fail(`This must be a whole number of at least ${least}.`, at);
    return undefined;
  }

  /** Whether a member is an object; anything else but absent and null is noted. */
  isObject(node: NodeIndex, at: string): boolean {
    if (!this.has(node)) return false;
    if (this.document.isObject(node)) return true;
    this.fail(`This must be an object, not ${this.kindOf(node)}.`, at);
    return false;
  }

  /** Whether a member is an array; anything else but absent and null is noted. */
  isArray(node: NodeIndex, at: string): boolean {
    if (!this.has(node)) return false;
    if (this.document.isArray(node)) return true;
    this.fail(`This must be an array, not ${this.kindOf(node)}.`, at);
    return false;
  }

  /** Whether the request is refused for its number of extensions, so that no more need to be collected. */
  get hasTooManyExtensions(): boolean {
    return this.#extensions > MAX_EXTENSIONS;
  }

  /** A member that only this dialect has, kept for its own encoder. */
  extension(path: string, node: NodeIndex, at: string, code?: ReasonCode): Extension {
    this.#extensions++;
    if (this.hasTooManyExtensions) this.fail(TOO_MANY_EXTENSIONS, at);
    const raw = this.document.raw(node);
    return { dialect: OPENAI_CHAT, path, raw, ...(code === undefined ? null : { code }), at };
  }

  /** The members of an object that are not in a list, as extensions. Null says nothing and is left out. */
  unknownMembers(object: NodeIndex, known: ReadonlySet<string>, at: string, code?: ReasonCode): Extension[] {
    const extensions: Extension[] = [];
    const { document } = this;
    for (let key = document.firstMember(object); key !== ABSENT; key = document.nextMember(key)) {
      if (this.hasTooManyExtensions) break;
      const name = document.memberName(key);
      const value = document.memberValue(key);
      if (known.has(name) || document.isNull(value)) continue;
      extensions.push(this.extension(name, value, `${at}/${escapePointer(name)}`, code));
    }
    return extensions;
  }

  kindOf(node: NodeIndex): string {
    const { document } = this;
    if (node === ABSENT) return "absent";
    if (document.isNull(node)) return "null";
    if (document.isObject(node)) return "an object";
    if (document.isArray(node)) return "an array";
    if (document.isString(node)) return "a string";
    return document.isNumber(node) ? "a number" : "a boolean";
  }
}

/** Escapes a member name for a JSON Pointer (RFC 6901 §3). */
export function escapePointer(name: string): string {
  // Hardly any name needs it, so the others cost one search.
  return /[~/]/.test(name) ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name;
}
