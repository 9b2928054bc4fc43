// Topologies: who runs where, and how the reference matrix is scaled to the machines. Data only.
import type { Windows } from "../contract/cell.ts";

/** Limits that a step of a ladder must keep to pass. */
export interface StepLimits {
  readonly achievedFraction: number;
  readonly errorFraction: number;
  readonly overheadP99Us: number;
}

/** How a ladder climbs: by the cell's own fixed steps, or by doubling and then halving the interval. */
export type LadderPlan =
  | { readonly kind: "steps" }
  | { readonly kind: "bisect"; readonly startRps: number; readonly precision: number };

/** How rates follow from the machines. */
export type RatePlan =
  | { readonly kind: "reference" }
  /** The headline runs at this fraction of the self-test's capacity, other cells in proportion up to the ceiling fraction. */
  | { readonly kind: "derived"; readonly headlineFraction: number; readonly ceilingFraction: number };

/** A topology. */
export interface Topology {
  readonly id: string;
  readonly description: string;
  /** Only results of a reference topology may be published. */
  readonly isReference: boolean;
  readonly placement: "one-host" | "hosts";
  readonly rates: RatePlan;
  readonly ladder: LadderPlan;
  readonly stepLimits: StepLimits;
  /** Caps the windows of the matrix; absent keeps them. */
  readonly windows: Partial<Windows>;
  readonly timeoutMs: number;
  readonly maxConnections: number;
  /**
   * A target whose capacity, seen in the warm-up, is below the cell's rate is measured at this fraction of its capacity instead, and
   * marked. Without it the cell shows how the target drowns.
   */
  readonly adaptFraction: number | undefined;
  /** How often a repetition whose runs are void is tried again on a machine with neighbours; the record says how often it was. */
  readonly voidRetries: number;
  /** Bound of the self-test on the mock's p99 at its rate, µs. */
  readonly mockP99Us: number;
  readonly mockRps: number | undefined;
}

const REFERENCE_STEP: StepLimits = { achievedFraction: 0.995, errorFraction: 0.0001, overheadP99Us: 5000 };

/** The matrix as it is, on machines of their own. */
const MACHINES = {
  placement: "hosts",
  rates: { kind: "reference" },
  ladder: { kind: "steps" },
  stepLimits: REFERENCE_STEP,
  windows: {},
  timeoutMs: 30_000,
  maxConnections: 8192,
  adaptFraction: undefined,
  voidRetries: 0,
} as const satisfies Partial<Topology>;

/** Topologies by name. */
export const TOPOLOGIES: Readonly<Record<string, Topology>> = {
  laptop: {
    id: "laptop",
    description: "One host, pinned cores, rates derived from the self-test",
    isReference: false,
    placement: "one-host",
    rates: { kind: "derived", headlineFraction: 0.1, ceilingFraction: 0.4 },
    ladder: { kind: "bisect", startRps: 25, precision: 0.1 },
    // Two busy cores preempt each other for a few milliseconds; the reference bound would measure the scheduler.
    stepLimits: { ...REFERENCE_STEP, errorFraction: 0.001, overheadP99Us: 25_000 },
    windows: { warmUpSeconds: 1, measureSeconds: 5, repetitions: 3 },
    timeoutMs: 10_000,
    maxConnections: 1024,
    adaptFraction: 0.6,
    voidRetries: 2,
    mockP99Us: 1000,
    mockRps: undefined,
  },
  hosts: {
    ...MACHINES,
    id: "hosts",
    description: "Generator, mock and gateway on machines of their own, each with an agent",
    isReference: false,
    mockP99Us: 2000,
    mockRps: undefined,
  },
  "ref-4": {
    ...MACHINES,
    id: "ref-4",
    description: "Gateway on 4 vCPU, generator and mock on 16 vCPU each, one placement group",
    isReference: true,
    mockP99Us: 50,
    mockRps: 50_000,
  },
};

/**
 * A topology by name.
 *
 * @throws Error naming the known ones.
 */
export function findTopology(id: string): Topology {
  const topology = TOPOLOGIES[id];
  if (topology === undefined)
    throw new Error(`there is no topology ${id}; there are ${Object.keys(TOPOLOGIES).join(", ")}`);
  return topology;
}
