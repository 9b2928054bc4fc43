// Which targets take part: the compared products, the control relay and the external one, by identifier.
import type { Target, TargetOptions } from "../contract/target.ts";
import { createExternalTarget } from "../external/external-target.ts";
import { CONTROL_TARGET } from "../relay/control-target.ts";
import { COMPARED_TARGETS } from "../targets/index.ts";

/** All targets for a set of options, in the order of the rotation. */
function listTargets(options: TargetOptions): readonly Target[] {
  return [...COMPARED_TARGETS, createExternalTarget(options), CONTROL_TARGET];
}

/** A target by identifier. */
export function findTarget(id: string, options: TargetOptions): Target | undefined {
  return listTargets(options).find((target) => target.id === id);
}

/**
 * Targets by identifier. Without any, all compared ones and the control.
 *
 * @throws Error naming the first identifier that no target has.
 */
export function selectTargets(ids: readonly string[], options: TargetOptions): readonly Target[] {
  const all = listTargets(options);
  const unknown = ids.find((id) => !all.some((target) => target.id === id));
  if (unknown !== undefined)
    throw new Error(`there is no target ${unknown}; targets are ${all.map(({ id }) => id).join(", ")}`);
  return all.filter(({ id }) => (ids.length === 0 ? id !== "external" : ids.includes(id)));
}
