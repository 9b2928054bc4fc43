// Reads members of answers whose shape is what is being checked: nothing is assumed, nothing throws.

/** Parses JSON; `undefined` when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whether it is JSON is the question.
    return undefined;
  }
}

/** The value at a path of names and indexes, or `undefined`. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === "object" && at !== null ? (at as Readonly<Record<string | number, unknown>>)[step] : undefined,
    value,
  );
}
