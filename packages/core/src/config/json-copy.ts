/**
 * A private copy of a configuration, so that its giver may go on changing the original. Only what JSON can say gets through,
 * bounded in depth and number of values: what comes after need not fear cycles, getters or strange prototypes.
 */
import { pointer } from "./problem.ts";
import type { ConfigProblem } from "./problem.ts";

/** Deepest nesting of a configuration. */
export const MAX_CONFIG_DEPTH = 32;

/** Most values in a configuration, objects and arrays counted too. */
export const MAX_CONFIG_VALUES = 1_000_000;

/** The copy, or why there is none. */
export type JsonCopy =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Copies a JSON value. Members whose value is undefined are left out, as `JSON.stringify` does. */
export function copyJson(value: unknown): JsonCopy {
  const copier = new Copier();
  const copy = copier.copy(value, "", 0);
  return copier.problems.length === 0 ? { ok: true, value: copy } : { ok: false, problems: copier.problems };
}

class Copier {
  readonly problems: ConfigProblem[] = [];
  #count = 0;

  copy(value: unknown, path: string, depth: number): unknown {
    if (++this.#count > MAX_CONFIG_VALUES) return this.#refuseSize();
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number")
      return Number.isFinite(value) ? value : this.#refuse(path, "a number that JSON can write");
    if (typeof value !== "object") return this.#refuse(path, `a JSON value, not a ${typeof value}`);
    if (depth >= MAX_CONFIG_DEPTH) return this.#refuse(path, `nested at most ${MAX_CONFIG_DEPTH} levels deep`);
    if (Array.isArray(value)) return value.map((item, index) => this.copy(item, pointer(path, index), depth + 1));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return this.#refuse(path, "a plain object");
    return this.#copyMembers(value, path, depth);
  }

  #copyMembers(value: object, path: string, depth: number): object {
    const copy = {};
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      // Defined and not assigned: assigning to `__proto__` would set the prototype.
      Object.defineProperty(copy, name, {
        value: this.copy(member, pointer(path, name), depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return copy;
  }

  #refuse(path: string, right: string): null {
    this.problems.push({ path, message: `must be ${right}` });
    return null;
  }

  #refuseSize(): null {
    if (this.#count === MAX_CONFIG_VALUES + 1)
      this.problems.push({ path: "", message: `must hold at most ${MAX_CONFIG_VALUES} values` });
    return null;
  }
}
