// What the scripted upstream saw last, read without types: tests say which member they expect.
import type { Stack } from "../harness/stack.ts";

/** The body of the upstream's last call. */
export function lastBody(stack: Stack): Readonly<Record<string, unknown>> {
  const json = stack.upstream.calls.at(-1)?.json;
  if (typeof json !== "object" || json === null) throw new Error("the upstream saw no call with a JSON body");
  return json as Readonly<Record<string, unknown>>;
}

/** A value inside the body of the upstream's last call: member names and list positions, from the outside in. */
export function sent(stack: Stack, ...path: readonly (string | number)[]): unknown {
  let value: unknown = lastBody(stack);
  for (const step of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[step];
  }
  return value;
}
