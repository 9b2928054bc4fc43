// Scripts of tests: a function, or rules that are matched from the first to the last. A call keeps the ordinal that it got from
// a rule, so that asking twice about one call gives the same answer.
import type { Behaviour } from "./behaviours.ts";
import type { UpstreamCallLog } from "./call-log.ts";
import { findFault } from "./faults.ts";
import type { ReceivedRequest } from "./received-request.ts";

/** Decides about a call whose body is complete; null leaves it to the model's name. */
export type ScriptFunction = (call: UpstreamCallLog, request: ReceivedRequest) => Behaviour | null;

/** One rule: every given condition must hold. Only rules can answer early: a function sees complete bodies only. */
export interface ScriptRule {
  readonly model?: string | RegExp;
  readonly path?: string | RegExp;
  readonly method?: string;
  /** Only the n-th call, from 1, of those that meet the other conditions. */
  readonly nth?: number;
  readonly behaviour: Behaviour;
}

/** What a test gives to `script`. */
export type Script = ScriptFunction | readonly ScriptRule[];

function matches(condition: string | RegExp | undefined, value: string | null): boolean {
  if (condition === undefined) return true;
  if (value === null) return false;
  return typeof condition === "string" ? condition === value : value.search(condition) !== -1;
}

/** A script with the memory that `nth` needs. */
export class ScriptRunner {
  readonly #script: Script;
  readonly #ordinals = new Map<ScriptRule, WeakMap<UpstreamCallLog, number>>();
  readonly #counts = new Map<ScriptRule, number>();

  constructor(script: Script) {
    this.#script = script;
  }

  /** The behaviour for a call whose body is complete. */
  decide(call: UpstreamCallLog, request: ReceivedRequest): Behaviour | null {
    if (typeof this.#script === "function") return this.#script(call, request);
    return this.#script.find((rule) => this.#applies(rule, call))?.behaviour ?? null;
  }

  /** The behaviour for a call whose body is still arriving, if a rule wants to answer early. */
  decideEarly(call: UpstreamCallLog): Behaviour | null {
    if (typeof this.#script === "function") return null;
    const isEarly = (rule: ScriptRule): boolean => findFault(rule.behaviour.faults ?? [], "early") !== undefined;
    return this.#script.find((rule) => isEarly(rule) && this.#applies(rule, call))?.behaviour ?? null;
  }

  #applies(rule: ScriptRule, call: UpstreamCallLog): boolean {
    const isMet =
      matches(rule.model, call.model) &&
      matches(rule.path, call.path) &&
      (rule.method === undefined || rule.method === call.method);
    return isMet && (rule.nth === undefined || this.#ordinalOf(rule, call) === rule.nth);
  }

  #ordinalOf(rule: ScriptRule, call: UpstreamCallLog): number {
    const ordinals = this.#ordinals.get(rule) ?? new WeakMap<UpstreamCallLog, number>();
    this.#ordinals.set(rule, ordinals);
    const known = ordinals.get(call);
    if (known !== undefined) return known;
    const ordinal = (this.#counts.get(rule) ?? 0) + 1;
    this.#counts.set(rule, ordinal);
    ordinals.set(call, ordinal);
    return ordinal;
  }
}
