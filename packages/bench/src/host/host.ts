// What the procedure needs from the machine that runs a role: find, start, sample and stop processes. The local host does it itself,
// a remote one through its agent, so that the procedure is the same for every topology.
import type { HostInventory } from "../contract/record.ts";
import type { Located, TargetOptions } from "../contract/target.ts";
import type { ResourceSample } from "../resources/sample.ts";
import type { Placement } from "./pinning.ts";

/** A process this package started, or attached to. */
export interface StartedProcess {
  /** Opaque name for the other calls. */
  readonly handle: string;
  /** Where it answers, as the procedure must call it. */
  readonly host: string;
  readonly port: number;
  readonly settleMs: number;
  readonly workers: number | undefined;
}

/** What to start a target with. */
export interface TargetLaunch {
  readonly target: string;
  readonly options: TargetOptions;
  readonly executable: string;
  readonly mockHost: string;
  readonly mockPort: number;
  readonly cpus: readonly number[];
  readonly cores: number;
}

/** A running mock with the port of its control door. */
export interface StartedMock extends StartedProcess {
  readonly controlPort: number;
}

/** A machine with a role. Every method rejects with a message fit for the record. */
export interface Host {
  inventory(role: HostInventory["role"]): Promise<HostInventory>;
  locate(target: string, options: TargetOptions): Promise<Located>;
  startMock(workers: number, placement: Placement): Promise<StartedMock>;
  /** Resolves when the target answers its readiness request. */
  startTarget(launch: TargetLaunch): Promise<StartedProcess>;
  /** Resources now; `undefined` when the process is gone or may not be seen. */
  sample(handle: string): Promise<ResourceSample | undefined>;
  /** How the process ended, with the end of its output; `undefined` while it runs. */
  ended(handle: string): Promise<string | undefined>;
  stop(handle: string): Promise<void>;
  /** Cores of the machine, for the core assignment. */
  cpus(): Promise<readonly number[]>;
}
