/**
 * Reads members of a request body by kind. The first thing that is wrong is kept and reading goes on with harmless values, so that
 * decoders need no branch per member; whoever used a reader asks `error` at the end.
 */
import {
  ABSENT,
  type CacheBreakpoint,
  type Document,
  type Extension,
  type NeutralError,
  type NodeIndex,
  type Num,
  type ReasonCode,
  type Text,
} from "@dragoman/core";

import { MAX_EXTENSIONS, TOO_MANY_EXTENSIONS } from "../shared/extension-bound.ts";
import { invalidRequest } from "../shared/neutral-error.ts";
import { ANTHROPIC, INNER_MEMBERS, type InnerObject } from "./members.ts";
import { describeKind } from "./read-head.ts";

/** What to do with the members of one object: which have a neutral place, and which are known to have none. */
export interface MemberTable {
  readonly known: ReadonlySet<string>;
  readonly codes: Readonly<Record<string, ReasonCode>>;
}

/** A type whose members may be set while it is built. */
export type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

const TTL_SECONDS: Readonly<Record<string, number>> = { "5m": 300, "1h": 3600 };

/** A name as a token of a JSON pointer (RFC 6901 §3); hardly any name needs it, so the others cost one search. */
const escapePointer = (name: string): string =>
  /[~/]/.test(name) ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name;

export class BodyReader {
  readonly document: Document;
  #error: NeutralError | null = null;
  #extensions = 0;

  constructor(document: Document) {
    this.document = document;
  }

  /** The first thing that was wrong, or null. */
  get error(): NeutralError | null {
    return this.#error;
  }

  /** Records that a value is not what it must be. */
  refuse(node: NodeIndex, at: string, expected: string): void {
    this.#error ??= invalidRequest(`${at}: expected ${expected}, found ${describeKind(this.document, node)}.`, at);
  }

  /** Records a value of the right kind that cannot be. */
  refuseValue(at: string, problem: string): void {
    this.#error ??= invalidRequest(`${at}: ${problem}`, at);
  }

  /** A member's value; null counts as absent. */
  member(object: NodeIndex, name: string): NodeIndex {
    const node = this.document.member(object, name);
    return this.document.isNull(node) ? ABSENT : node;
  }

  string(object: NodeIndex, name: string, at: string): Text | undefined {
    const node = this.member(object, name);
    if (node === ABSENT) return undefined;
    if (this.document.isString(node)) return this.document.text(node);
    this.refuse(node, `${at}/${name}`, "a string");
    return undefined;
  }

  requiredString(object: NodeIndex, name: string, at: string): Text {
    const node = this.member(object, name);
    if (this.document.isString(node)) return this.document.text(node);
    this.refuse(node, `${at}/${name}`, "a string");
    return "";
  }

  number(object: NodeIndex, name: string, at: string): Num | undefined {
    const node = this.member(object, name);
    if (node === ABSENT) return undefined;
    if (this.document.isNumber(node)) return this.document.raw(node);
    this.refuse(node, `${at}/${name}`, "a number");
    return undefined;
  }

  boolean(object: NodeIndex, name: string, at: string): boolean | undefined {
    const node = this.member(object, name);
    if (node === ABSENT) return undefined;
    if (this.document.isBoolean(node)) return this.document.boolean(node);
    this.refuse(node, `${at}/${name}`, "true or false");
    return undefined;
  }

  /** An object member, or ABSENT. */
  object(object: NodeIndex, name: string, at: string): NodeIndex {
    const node = this.member(object, name);
    if (node === ABSENT || this.document.isObject(node)) return node;
    this.refuse(node, `${at}/${name}`, "an object");
    return ABSENT;
  }

  /** A list member, or ABSENT. */
  list(object: NodeIndex, name: string, at: string): NodeIndex {
    const node = this.member(object, name);
    if (node === ABSENT || this.document.isArray(node)) return node;
    this.refuse(node, `${at}/${name}`, "a list");
    return ABSENT;
  }

  /** A string member with few legal values, decoded; an illegal one is recorded and undefined. */
  word<Word extends string>(object: NodeIndex, name: string, at: string, words: readonly Word[]): Word | undefined {
    const node = this.member(object, name);
    if (node === ABSENT) return undefined;
    const found = words.find((word) => this.document.stringEquals(node, word));
    if (found === undefined) this.refuse(node, `${at}/${name}`, `one of ${words.join(", ")}`);
    return found;
  }

  /** The `cache_control` mark of a block, a tool or the request. */
  cacheControl(object: NodeIndex, at: string): CacheBreakpoint | undefined {
    const node = this.object(object, "cache_control", at);
    if (node === ABSENT) return undefined;
    const ttl = this.word(node, "ttl", `${at}/cache_control`, ["5m", "1h"]);
    return ttl === undefined ? {} : { ttlSeconds: TTL_SECONDS[ttl] as number };
  }

  /** Every member that has no neutral place. `path` is the object's own path inside what carries the extensions. */
  extensions(object: NodeIndex, at: string, table: MemberTable, path = ""): Extension[] {
    const { document } = this;
    const found: Extension[] = [];
    for (let key = document.firstMember(object); key !== ABSENT; key = document.nextMember(key)) {
      if (this.#extensions > MAX_EXTENSIONS) break;
      const value = document.memberValue(key);
      const name = document.memberName(key);
      if (table.known.has(name) || document.isNull(value)) continue;
      this.#extensions++;
      if (this.#extensions > MAX_EXTENSIONS) this.refuseValue(`${at}/${escapePointer(name)}`, TOO_MANY_EXTENSIONS);
      const code = Object.hasOwn(table.codes, name) ? table.codes[name] : undefined;
      const extension: Mutable<Extension> = {
        dialect: ANTHROPIC,
        path: path === "" ? name : `${path}.${name}`,
        raw: document.raw(value),
        at: `${at}/${escapePointer(name)}`,
      };
      if (code !== undefined) extension.code = code;
      found.push(extension);
    }
    return found;
  }

  /** The same for the objects inside an object; their paths have one more step. */
  innerExtensions(object: NodeIndex, at: string, holders: readonly InnerObject[]): Extension[] {
    return holders.flatMap((name) => {
      const inner = this.document.member(object, name);
      const known = INNER_MEMBERS[name];
      return this.document.isObject(inner) ? this.extensions(inner, `${at}/${name}`, { known, codes: {} }, name) : [];
    });
  }
}
