// The compared products, each in the configurations that take part. Order is the order of tables and of the rotation.
import type { Target } from "../contract/target.ts";

/** Every compared target of this package. */
export const COMPARED_TARGETS: readonly Target[] = [];
