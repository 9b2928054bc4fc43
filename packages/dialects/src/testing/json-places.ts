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

/** An object without the members and elements at these pointers, which are those of the object as it is given. */
export function removePlaces(value: JsonObject, pointers: readonly string[]): JsonObject {
  const gone = new Set(pointers);
  const keep = (inner: JsonValue, at: string): JsonValue => {
    if (Array.isArray(inner))
      return (inner as readonly JsonValue[]).flatMap((item, index) =>
        gone.has(`${at}/${index}`) ? [] : [keep(item, `${at}/${index}`)],
      );
    return isObject(inner) ? keepMembers(inner, at) : inner;
  };
  const keepMembers = (object: JsonObject, at: string): JsonObject =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, inner]) => {
        const place = `${at}/${escapeStep(name)}`;
        return gone.has(place) ? [] : [[name, keep(inner, place)] as const];
      }),
    );
  return keepMembers(value, "");
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
