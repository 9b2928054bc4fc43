// Places inside JSON values as JSON Pointers (RFC 6901), and values with one place changed. Inputs are never modified.
import type { JsonObject, JsonValue } from "./spelled-json.ts";

const escapeStep = (step: string): string => step.replaceAll("~", "~0").replaceAll("/", "~1");
const unescapeStep = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Pointers of every value below the root. */
export function placesOf(value: JsonValue, at: string = ""): readonly string[] {
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).flatMap((inner, index) => [
      `${at}/${index}`,
      ...placesOf(inner, `${at}/${index}`),
    ]);
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = `${at}/${escapeStep(name)}`;
    return [place, ...placesOf(inner, place)];
  });
}

/** Pointers of every member of an object, at any depth. */
export function membersOf(value: JsonValue): readonly string[] {
  return placesOf(value).filter((pointer) => isObject(valueAt(value, pointer.slice(0, pointer.lastIndexOf("/")))));
}

/** Pointers of every object, the root included. */
export function objectsOf(value: JsonValue): readonly string[] {
  return ["", ...placesOf(value)].filter((pointer) => isObject(valueAt(value, pointer)));
}

/** The value at a pointer, or null where there is none. */
export function valueAt(value: JsonValue, pointer: string): JsonValue {
  let current: JsonValue = value;
  for (const step of stepsOf(pointer)) {
    if (Array.isArray(current)) current = (current as readonly JsonValue[])[Number(step)] ?? null;
    else current = isObject(current) ? (current[step] ?? null) : null;
  }
  return current;
}

const stepsOf = (pointer: string): readonly string[] => pointer.split("/").slice(1).map(unescapeStep);

/** The value with another value at a pointer. */
export function replaceAt(value: JsonValue, pointer: string, replacement: JsonValue): JsonValue {
  return change(value, stepsOf(pointer), () => replacement);
}

/** The value without the member at a pointer. */
export function removeAt(value: JsonValue, pointer: string): JsonValue {
  const steps = stepsOf(pointer);
  return change(value, steps.slice(0, -1), (holder) => {
    if (!isObject(holder)) return holder;
    return Object.fromEntries(Object.entries(holder).filter(([name]) => name !== steps.at(-1)));
  });
}

/** The value with one more member in the object at a pointer. */
export function addMember(value: JsonValue, pointer: string, name: string, member: JsonValue): JsonValue {
  return change(value, stepsOf(pointer), (holder) => (isObject(holder) ? { ...holder, [name]: member } : holder));
}

function change(value: JsonValue, steps: readonly string[], edit: (found: JsonValue) => JsonValue): JsonValue {
  const [step, ...rest] = steps;
  if (step === undefined) return edit(value);
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((inner, index) =>
      index === Number(step) ? change(inner, rest, edit) : inner,
    );
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, name === step ? change(inner, rest, edit) : inner]),
  );
}
