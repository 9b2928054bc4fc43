// The front end that this run's whole-server tests serve with. The vitest configuration runs them twice: once over the front end that
// a configuration gets which names none, once over the other one.
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Absent where the default front end is tested. */
    readonly frontEnd?: "node" | "wire";
  }
}

/** Member of `server` that chooses the run's front end; no member where it is the default one. */
export function frontEndOfRun(): { readonly frontEnd?: "node" | "wire" } {
  const frontEnd = inject("frontEnd");
  return frontEnd === undefined ? {} : { frontEnd };
}
