// Structural questions about JSON Schemas that travel as references: which rules they meet, and the few edits that make one acceptable
// elsewhere. Edits keep every other byte, so member order, numbers and spelling survive.
import { ABSENT, concat, Edits, encodeString, isSlice, scanRange } from "@dragoman/core";
import type { Document, NodeIndex, Raw } from "@dragoman/core";

/** What a provider takes of JSON Schema. */
export interface SchemaSubset {
  /** Whether a keyword with this value may stand in a schema. `value` is undefined for keywords that hold schemas. */
  allowed(keyword: string, value: unknown): boolean;
  /** Every object schema must say `additionalProperties: false`. */
  readonly requireClosedObjects: boolean;
}

/** Keywords whose value is a map of schemas. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  "properties",
  "$defs",
  "definitions",
  "patternProperties",
  "dependentSchemas",
]);
/** Keywords whose value is a schema or a list of schemas. */
const SCHEMA_VALUES: ReadonlySet<string> = new Set([
  "items",
  "prefixItems",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "additionalItems",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "anyOf",
  "oneOf",
  "allOf",
]);

const EMPTY_OBJECT_SCHEMA = { value: { type: "object", properties: {} } };

/** Scans a schema; null when its bytes are not JSON, which a reference into a scanned body never is. */
function documentOf(schema: Raw): Document | null {
  const bytes = isSlice(schema) ? schema.bytes : Buffer.from(JSON.stringify(schema.value) ?? "null", "utf8");
  const start = isSlice(schema) ? schema.start : 0;
  const end = isSlice(schema) ? schema.end : bytes.length;
  const result = scanRange(bytes, start, end, { duplicates: "last-wins" });
  return result.ok ? result.document : null;
}

/** Calls back for a schema and every schema below it. The callback's result says whether to go deeper. */
function visitSchemas(document: Document, schema: NodeIndex, visit: (schema: NodeIndex) => void): void {
  if (!document.isObject(schema)) return;
  visit(schema);
  for (let key = document.firstMember(schema); key !== ABSENT; key = document.nextMember(key)) {
    const name = document.memberName(key);
    const value = document.memberValue(key);
    if (SCHEMA_MAPS.has(name)) visitMap(document, value, visit);
    else if (SCHEMA_VALUES.has(name)) visitValue(document, value, visit);
  }
}

function visitMap(document: Document, map: NodeIndex, visit: (schema: NodeIndex) => void): void {
  for (let key = document.firstMember(map); key !== ABSENT; key = document.nextMember(key))
    visitSchemas(document, document.memberValue(key), visit);
}

function visitValue(document: Document, value: NodeIndex, visit: (schema: NodeIndex) => void): void {
  visitSchemas(document, value, visit);
  for (let item = document.firstElement(value); item !== ABSENT; item = document.nextElement(item))
    visitSchemas(document, item, visit);
}

function isObjectSchema(document: Document, schema: NodeIndex): boolean {
  const type = document.member(schema, "type");
  if (document.stringEquals(type, "object") || document.isObject(document.member(schema, "properties"))) return true;
  for (let item = document.firstElement(type); item !== ABSENT; item = document.nextElement(item))
    if (document.stringEquals(item, "object")) return true;
  return false;
}

function isClosed(document: Document, schema: NodeIndex): boolean {
  const node = document.member(schema, "additionalProperties");
  return document.isBoolean(node) && !document.boolean(node);
}

/**
 * Whether a schema meets the rules of strict structured output that its structure shows: the root is an object schema, and every object
 * schema is closed and requires all of its properties.
 */
export function satisfiesStrictRules(schema: Raw): boolean {
  const document = documentOf(schema);
  if (document === null || !document.isObject(document.root) || !isObjectSchema(document, document.root)) return false;
  let isStrict = true;
  visitSchemas(document, document.root, (node) => {
    if (isStrict && isObjectSchema(document, node)) isStrict = isClosed(document, node) && requiresAll(document, node);
  });
  return isStrict;
}

function requiresAll(document: Document, schema: NodeIndex): boolean {
  const required = new Set<string>();
  const list = document.member(schema, "required");
  for (let item = document.firstElement(list); item !== ABSENT; item = document.nextElement(item))
    if (document.isString(item)) required.add(document.string(item));
  const properties = document.member(schema, "properties");
  for (let key = document.firstMember(properties); key !== ABSENT; key = document.nextMember(key))
    if (!required.has(document.memberName(key))) return false;
  return true;
}

/** A schema whose root says that it is an object, or why there is none. */
export type ObjectSchema =
  | { readonly ok: true; readonly schema: Raw; readonly changed: boolean }
  | { readonly ok: false };

/**
 * A schema for targets that want `"type":"object"` at the root: absent and null become the empty object schema, a root with
 * `properties` but no type gets the type and keeps all other bytes. Any other root is no object schema.
 */
export function withObjectType(schema: Raw | undefined): ObjectSchema {
  if (schema === undefined) return { ok: true, schema: EMPTY_OBJECT_SCHEMA, changed: true };
  const document = documentOf(schema);
  if (document === null) return { ok: false };
  const root = document.root;
  if (document.isNull(root)) return { ok: true, schema: EMPTY_OBJECT_SCHEMA, changed: true };
  if (!document.isObject(root)) return { ok: false };
  const type = document.member(root, "type");
  if (document.stringEquals(type, "object")) return { ok: true, schema, changed: false };
  if (type !== ABSENT) return { ok: false };
  if (document.count(root) === 0) return { ok: true, schema: EMPTY_OBJECT_SCHEMA, changed: true };
  if (!document.isObject(document.member(root, "properties"))) return { ok: false };
  return { ok: true, schema: finishEdits(new Edits(document).insertMember(root, "type", '"object"')), changed: true };
}

/** JSON Pointers, inside the schema, of what a target does not take; at most `MAX_FINDINGS`. */
export function unsupportedKeywords(schema: Raw, subset: SchemaSubset): readonly string[] {
  const document = documentOf(schema);
  const found: string[] = [];
  if (document === null) return found;
  visitSchemas(document, document.root, (node) => {
    if (found.length >= MAX_FINDINGS) return;
    for (const key of refusedKeys(document, node, subset)) found.push(document.path(document.memberValue(key)));
    if (isOpenObject(document, node, subset)) found.push(`${document.path(node)}/additionalProperties`);
  });
  return found;
}

const MAX_FINDINGS = 20;

/**
 * Takes out what a target does not take and says it in words: every refused keyword moves into its schema's `description`, and open
 * object schemas are closed where the target wants that.
 */
export function moveToDescription(schema: Raw, subset: SchemaSubset): Raw {
  const document = documentOf(schema);
  if (document === null) return schema;
  const edits = new Edits(document);
  describeSchema(document, document.root, subset, edits);
  return finishEdits(edits);
}

function describeSchema(document: Document, schema: NodeIndex, subset: SchemaSubset, edits: Edits): void {
  if (!document.isObject(schema)) return;
  const refused = new Set(refusedKeys(document, schema, subset));
  const description = document.member(schema, "description");
  const isOpen = isOpenObject(document, schema, subset);
  const lines: string[] = document.isString(description) ? [document.string(description)] : [];
  for (let key = document.firstMember(schema); key !== ABSENT; key = document.nextMember(key)) {
    const name = document.memberName(key);
    const value = document.memberValue(key);
    if (refused.has(key)) {
      edits.remove(key);
      lines.push(`${name}: ${JSON.stringify(document.value(value))}`);
    } else if (isOpen && name === "additionalProperties") edits.replace(value, "false");
    else if (SCHEMA_MAPS.has(name)) describeMap(document, value, subset, edits);
    else if (SCHEMA_VALUES.has(name)) describeValue(document, value, subset, edits);
  }
  if (isOpen && document.member(schema, "additionalProperties") === ABSENT)
    edits.insertMember(schema, "additionalProperties", "false");
  if (refused.size === 0) return;
  const text = encodeString(lines.join("\n"));
  if (description === ABSENT) edits.insertMember(schema, "description", text);
  else edits.replace(description, text);
}

function describeMap(document: Document, map: NodeIndex, subset: SchemaSubset, edits: Edits): void {
  for (let key = document.firstMember(map); key !== ABSENT; key = document.nextMember(key))
    describeSchema(document, document.memberValue(key), subset, edits);
}

function describeValue(document: Document, value: NodeIndex, subset: SchemaSubset, edits: Edits): void {
  describeSchema(document, value, subset, edits);
  for (let item = document.firstElement(value); item !== ABSENT; item = document.nextElement(item))
    describeSchema(document, item, subset, edits);
}

/** Name nodes of a schema's members that the target refuses. Closing an object is a matter of its own. */
function refusedKeys(document: Document, schema: NodeIndex, subset: SchemaSubset): readonly NodeIndex[] {
  const keys: NodeIndex[] = [];
  for (let key = document.firstMember(schema); key !== ABSENT; key = document.nextMember(key)) {
    const name = document.memberName(key);
    if (name === "additionalProperties" && subset.requireClosedObjects) continue;
    const holdsSchemas = SCHEMA_MAPS.has(name) || SCHEMA_VALUES.has(name);
    if (!subset.allowed(name, holdsSchemas ? undefined : document.value(document.memberValue(key)))) keys.push(key);
  }
  return keys;
}

const isOpenObject = (document: Document, schema: NodeIndex, subset: SchemaSubset): boolean =>
  subset.requireClosedObjects && isObjectSchema(document, schema) && !isClosed(document, schema);

function finishEdits(edits: Edits): Raw {
  const bytes = concat(edits.finish());
  return { bytes, start: 0, end: bytes.length };
}
