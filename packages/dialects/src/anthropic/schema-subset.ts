/**
 * The JSON Schemas that this dialect enforces (structured output, strict tools): a subset, listed by the vendor's structured-output
 * documentation and its SDK's schema transformer (read 2026-11-30). Inside the subset nothing is changed.
 */
import {
  Edits,
  encodeString,
  isSlice,
  scanRange,
  type ByteSlice,
  type Document,
  type NodeIndex,
  type Raw,
} from "@dragoman/core";

const UNSUPPORTED: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "prefixItems",
  "minProperties",
  "maxProperties",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
  "not",
  "if",
  "then",
  "else",
]);

const FORMATS: ReadonlySet<string> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Assertions and back references are what the vendor calls complex. */
const COMPLEX_PATTERN = /\(\?|\\[1-9]|\\b|\\B/;

/** What a schema needs to be inside the subset. */
interface Finding {
  readonly node: NodeIndex;
  /** Name nodes of keywords that must go. */
  readonly keywords: NodeIndex[];
  /** The node is an object schema without `additionalProperties:false`. */
  isOpen: boolean;
  /** Name node of a `oneOf`, which is written as `anyOf`. */
  oneOf: NodeIndex;
}

/** Walks a schema and gathers what is outside the subset. Depth is bounded by the scanner. */
class SubsetWalk {
  readonly #document: Document;
  readonly findings: Finding[] = [];
  /** Definitions that each definition refers to, for recursion. */
  readonly #references = new Map<string, Set<string>>();
  #inDefinition = "#";

  constructor(document: Document) {
    this.#document = document;
    this.#walk(document.root);
  }

  get hasRecursion(): boolean {
    const done = new Set<string>();
    const path = new Set<string>();
    const visit = (name: string): boolean => {
      if (path.has(name)) return true;
      if (done.has(name)) return false;
      path.add(name);
      const isCyclic = [...(this.#references.get(name) ?? [])].some(visit);
      path.delete(name);
      done.add(name);
      return isCyclic;
    };
    return visit("#") || [...this.#references.keys()].some(visit);
  }

  #walk(node: NodeIndex): void {
    const document = this.#document;
    if (!document.isObject(node)) return;
    const finding: Finding = { node, keywords: [], isOpen: this.#isOpenObject(node), oneOf: -1 };
    for (let key = document.firstMember(node); key >= 0; key = document.nextMember(key)) {
      this.#walkMember(document.memberName(key), key, finding);
    }
    if (finding.keywords.length > 0 || finding.isOpen || finding.oneOf >= 0) this.findings.push(finding);
  }

  #walkMember(name: string, key: NodeIndex, finding: Finding): void {
    const document = this.#document;
    const value = document.memberValue(key);
    if (this.#isUnsupported(name, value)) {
      finding.keywords.push(key);
      return;
    }
    switch (name) {
      case "properties":
        for (let child = document.firstMember(value); child >= 0; child = document.nextMember(child)) {
          this.#walk(document.memberValue(child));
        }
        return;
      case "$defs":
      case "definitions":
        this.#walkDefinitions(`#/${name}/`, value);
        return;
      case "oneOf":
        finding.oneOf = key;
        this.#walkList(value);
        return;
      case "anyOf":
      case "allOf":
        this.#walkList(value);
        return;
      case "items":
        this.#walk(value);
        return;
      case "$ref":
        if (document.isString(value)) this.#refer(document.string(value));
        return;
      default:
    }
  }

  #walkDefinitions(prefix: string, definitions: NodeIndex): void {
    const document = this.#document;
    const outer = this.#inDefinition;
    for (let child = document.firstMember(definitions); child >= 0; child = document.nextMember(child)) {
      this.#inDefinition = prefix + document.memberName(child);
      this.#walk(document.memberValue(child));
    }
    this.#inDefinition = outer;
  }

  #walkList(list: NodeIndex): void {
    const document = this.#document;
    for (let child = document.firstElement(list); child >= 0; child = document.nextElement(child)) this.#walk(child);
  }

  #refer(target: string): void {
    const known = this.#references.get(this.#inDefinition) ?? new Set<string>();
    known.add(target);
    this.#references.set(this.#inDefinition, known);
  }

  #isUnsupported(name: string, value: NodeIndex): boolean {
    const document = this.#document;
    if (UNSUPPORTED.has(name)) return true;
    if (name === "minItems") return document.number(value) > 1;
    if (name === "format") return document.isString(value) && !FORMATS.has(document.string(value));
    return name === "pattern" && document.isString(value) && COMPLEX_PATTERN.test(document.string(value));
  }

  #isOpenObject(node: NodeIndex): boolean {
    const document = this.#document;
    const isObject =
      document.stringEquals(document.member(node, "type"), "object") ||
      document.isObject(document.member(node, "properties"));
    const additional = document.member(node, "additionalProperties");
    return isObject && !(document.isBoolean(additional) && !document.boolean(additional));
  }
}

/** A schema as this dialect can enforce it. */
export type SubsetResult =
  | { readonly fits: "exactly" }
  /** `schema` says the same with `anyOf` for `oneOf`; `droppable` when it also lost keywords to descriptions. */
  | { readonly fits: "changed" | "droppable"; readonly schema: readonly Uint8Array[] }
  | { readonly fits: "never" };

const scanSchema = (raw: Raw): Document | null => {
  const slice: ByteSlice = isSlice(raw)
    ? raw
    : ((bytes) => ({ bytes, start: 0, end: bytes.length }))(Buffer.from(JSON.stringify(raw.value), "utf8"));
  const result = scanRange(slice.bytes, slice.start, slice.end);
  return result.ok ? result.document : null;
};

/** Fits a schema into the subset: keywords outside it move, as text, into the description of their node. */
export function fitSchema(raw: Raw): SubsetResult {
  const document = scanSchema(raw);
  if (document === null || !document.isObject(document.root)) return { fits: "never" };
  const walk = new SubsetWalk(document);
  if (walk.hasRecursion) return { fits: "never" };
  if (walk.findings.length === 0) return { fits: "exactly" };
  const edits = new Edits(document);
  let isLossy = false;
  for (const finding of walk.findings) {
    if (finding.oneOf >= 0) edits.replace(finding.oneOf, '"anyOf"');
    if (finding.keywords.length === 0 && !finding.isOpen) continue;
    isLossy = true;
    closeObject(document, edits, finding);
    moveKeywords(document, edits, finding);
  }
  return { fits: isLossy ? "droppable" : "changed", schema: edits.finish().parts };
}

function closeObject(document: Document, edits: Edits, { node, isOpen }: Finding): void {
  if (!isOpen) return;
  const additional = document.member(node, "additionalProperties");
  if (additional >= 0) edits.replace(additional, "false");
  else edits.insertMember(node, "additionalProperties", "false");
}

function moveKeywords(document: Document, edits: Edits, { node, keywords }: Finding): void {
  if (keywords.length === 0) return;
  const sources = keywords.map((key) => {
    const { bytes, start, end } = document.raw(document.memberValue(key));
    return `${document.memberName(key)}: ${Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8")}`;
  });
  for (const key of keywords) edits.remove(key);
  const description = document.member(node, "description");
  const text = `{${sources.join(", ")}}`;
  if (document.isString(description))
    edits.replace(description, encodeString(`${document.string(description)}\n\n${text}`));
  else if (description < 0) edits.insertMember(node, "description", encodeString(text));
}
