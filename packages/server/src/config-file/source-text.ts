/** A configuration as text: YAML 1.2 or JSON, which is a part of it, with the way back from a member to its line and column. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { Document, Node, ParsedNode, YAMLError } from "yaml";

import { pointerTokens } from "@dragoman/core";

/** A place in a text, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A mistake in the text itself. */
export interface SourceProblem extends Place {
  readonly message: string;
}

/** The text's value, or every mistake in it. */
export type SourceReading =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Where a JSON Pointer's member begins; of a member that is not there, the nearest that is. */
      locate(path: string): Place;
    }
  | { readonly ok: false; readonly problems: readonly SourceProblem[] };

/** An alias may multiply what it names; beyond this the text is refused. */
const MAX_ALIASES = 100;

/** The library's own words for these would tell of its functions, or repeat values. */
const MESSAGES: ReadonlyMap<string, string> = new Map([
  ["DUPLICATE_KEY", "this member is there twice; names are unique within an object"],
  ["MULTIPLE_DOCS", "a configuration is one document; remove the second one"],
  ["NON_STRING_KEY", "names of members are texts"],
  ["BAD_ALIAS", "this alias cannot be resolved; its anchor must stand before it"],
  ["TAG_RESOLVE_FAILED", "unknown tag; a configuration needs no tags"],
]);

/** Reads a configuration text. Never throws. */
export function readSource(text: string): SourceReading {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    lineCounter,
    prettyErrors: false,
    stringKeys: true,
    uniqueKeys: true,
    merge: false,
    logLevel: "error",
  });
  const at = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const mistakes: readonly YAMLError[] = [...document.errors, ...document.warnings];
  if (mistakes.length > 0) {
    const problems = mistakes.map(({ code, message, pos }) => ({
      ...at(pos[0]),
      message: MESSAGES.get(code) ?? message,
    }));
    return { ok: false, problems };
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { ok: true, value, locate: (path) => at(findOffset(document, pointerTokens(path))) };
  } catch {
    // All that `toJS` of a faultless document throws is about aliases: unresolved ones, and too many.
    const message = `aliases cannot be resolved: each needs its anchor before it, and they may make at most ${MAX_ALIASES} copies`;
    return { ok: false, problems: [{ line: 1, column: 1, message }] };
  }
}

function findOffset(document: Document.Parsed, tokens: readonly string[]): number {
  let node: ParsedNode | Node | null | undefined = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const token of tokens) {
    if (isAlias(node)) node = node.resolve(document);
    const member: Member | null = findMember(node, token);
    if (member === null) return offset;
    offset = member.offset ?? offset;
    node = member.value;
  }
  return offset;
}

interface Member {
  readonly offset: number | undefined;
  readonly value: Node | null;
}

function findMember(node: unknown, token: string): Member | null {
  if (isSeq(node)) {
    const item = node.items[Number(token)] as Node | undefined;
    return item === undefined ? null : { offset: item.range?.[0], value: item };
  }
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === token);
  if (pair === undefined) return null;
  return { offset: (pair.key as Node).range?.[0], value: pair.value as Node | null };
}
