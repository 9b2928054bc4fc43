// The contract of a target: how a gateway is found, configured, started and spoken to. A target describes; the procedure spawns,
// pins, probes, measures and stops, so that every target is handled alike and on any host.
import type { Credential, ModelRoute, ScenarioId, TrafficDialect } from "./cell.ts";

/** Settings of targets given by the user (for example the command of `external`), keyed by `<target id>.<option>`. */
export type TargetOptions = Readonly<Record<string, string>>;

/** What a target may look at while it searches for its executable. */
export interface LocateContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly options: TargetOptions;
}

/** Where a target was found, or why it was not. A target that is not found becomes `n/a` in every report, never a zero. */
export type Located =
  | {
      readonly found: true;
      /** Command that starts it; `plan` receives it back. */
      readonly executable: string;
      /** Version as the executable reports it, or `undefined` when it does not say. */
      readonly version: string | undefined;
      /** What differs from the pinned version, to be printed; `undefined` when nothing does. */
      readonly versionNote: string | undefined;
    }
  | { readonly found: false; readonly reason: string; readonly installCommand: string };

/** Everything a launch depends on. Directories are fresh for every repetition. */
export interface PlanContext {
  readonly executable: string;
  readonly listenHost: string;
  readonly listenPort: number;
  readonly mockHost: string;
  readonly mockPort: number;
  /** Absolute path of an empty directory; `files` of the plan are written into it. */
  readonly workDirectory: string;
  /** Cores the target may use; worker counts follow it. */
  readonly cores: number;
  readonly options: TargetOptions;
}

/** Request that tells that a target is ready: any of `statuses` (default 200) on `GET path`. */
export interface Readiness {
  readonly path: string;
  readonly statuses?: readonly number[];
  readonly timeoutMs: number;
}

/** How the procedure starts a target, or attaches to one that somebody else started. */
export type LaunchPlan =
  | {
      readonly kind: "process";
      readonly command: string;
      readonly args: readonly string[];
      /** Added to a minimal environment (`PATH`, `HOME`, `LANG`, `TMPDIR`); nothing else is inherited. */
      readonly environment: Readonly<Record<string, string>>;
      /** Files written below `workDirectory` before the start; names may contain `/`. */
      readonly files: readonly { readonly name: string; readonly content: string }[];
      readonly ready: Readiness;
      /** Pause between readiness and the first request. */
      readonly settleMs: number;
      /** Worker processes or threads this configuration asks for, for the printed check; `undefined` when it has no such notion. */
      readonly workers: number | undefined;
    }
  | {
      readonly kind: "attached";
      readonly origin: string;
      /** Root of the process tree to measure; without one, CPU and memory are `undefined`. */
      readonly pid: number | undefined;
      readonly ready: Readiness;
    };

/** How a scenario becomes a request of this target. All functions are pure. */
export interface TargetTraffic {
  /** Path of a dialect, or `undefined` when the target does not speak it: its cells are then `n/a`. */
  path(dialect: TrafficDialect): string | undefined;
  /** Headers beside `host`, `content-type` and `content-length`: key, version, routing. */
  headers(dialect: TrafficDialect, credential: Credential, context: TrafficContext): Readonly<Record<string, string>>;
  /** Model name that leads to `route`. */
  model(route: ModelRoute): string;
}

/** Addresses a target's headers may have to name, for gateways that are told their route by each request. */
export interface TrafficContext {
  readonly mockHost: string;
  readonly mockPort: number;
}

/** One entrant of the comparison: a product in one configuration. */
export interface Target {
  /** Stable identifier and directory name: `bifrost`, `bifrost-defaults`. */
  readonly id: string;
  /** Name in tables. */
  readonly label: string;
  /** Name of the configuration: `P-min`, `P-prod`, `defaults`. */
  readonly profile: string;
  /**
   * What the target is, for the report's grouping: a gateway that does the work, a blind reverse proxy that does not look into bodies,
   * or the control relay of this package.
   */
  readonly kind: "gateway" | "proxy" | "control";
  /** Whether this configuration checks a key on every request. The procedure verifies it and records the difference. */
  readonly checksKey: boolean;
  /** Requests the warm-up sends at least, before CPU per request may be called flat. */
  readonly warmUpRequests: number;
  /** Remarks printed under every table the target appears in. */
  readonly notes: readonly string[];
  /** Scenarios it cannot serve, each with the reason that is printed. */
  readonly unsupported: Readonly<Partial<Record<ScenarioId, string>>>;
  readonly traffic: TargetTraffic;
  /** Looks for the executable and asks for its version. */
  locate(context: LocateContext): Promise<Located>;
  /** Pure: the same context gives the same plan. */
  plan(context: PlanContext): LaunchPlan;
}
