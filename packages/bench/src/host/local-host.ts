// The host this process runs on.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";

import type { HostInventory } from "../contract/record.ts";
import type { LaunchPlan, Located, Target, TargetOptions } from "../contract/target.ts";
import { packageEntry } from "../package-entry.ts";
import { sampleCgroup, sampleProcessTree, type ResourceSample } from "../resources/sample.ts";
import { takeInventory } from "../topology/inventory.ts";
import type { Host, StartedMock, StartedProcess, TargetLaunch } from "./host.ts";
import { nodeFlags, place, type CommandLine, type Placement } from "./pinning.ts";
import { SupervisedProcess } from "./supervised-process.ts";
import { findFreePort, waitUntilReady } from "./wait-until-ready.ts";

/** Ports of a local host. */
export interface LocalHostOptions {
  /** Address on which everything it starts listens and is called. */
  readonly address: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Targets by identifier, for a set of options. */
  readonly findTarget: (id: string, options: TargetOptions) => Target | undefined;
}

interface Running {
  readonly process: SupervisedProcess | undefined;
  readonly pid: number | undefined;
  readonly cgroup: string | undefined;
  readonly directory: string | undefined;
}

interface Surroundings {
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string | undefined;
}

/** Variables a target inherits; everything else comes from its plan. */
const INHERITED = ["PATH", "HOME", "LANG", "TMPDIR"];
const MOCK_READY_MS = 10_000;

/** The local host. Everything it started is stopped by `close`. */
export class LocalHost implements Host {
  readonly #options: LocalHostOptions;
  readonly #running = new Map<string, Running>();
  #nextHandle = 1;

  constructor(options: LocalHostOptions) {
    this.#options = options;
  }

  inventory(role: HostInventory["role"]): Promise<HostInventory> {
    return takeInventory(role);
  }

  async cpus(): Promise<readonly number[]> {
    return allowedCpus() ?? Array.from({ length: availableParallelism() }, (_, index) => index);
  }

  async locate(target: string, options: TargetOptions): Promise<Located> {
    return this.#target(target, options).locate({ environment: this.#options.environment, options });
  }

  async startMock(workers: number, placement: Placement): Promise<StartedMock> {
    const { address } = this.#options;
    const port = await findFreePort(address);
    const controlPort = await findFreePort(address);
    const numbers = [port, controlPort, workers].map(String);
    const args = [...nodeFlags(placement), packageEntry("mock/process-entry"), address, ...numbers];
    const child = this.#spawn({ command: process.execPath, args }, placement, {
      environment: {},
      directory: undefined,
    });
    const handle = this.#keep({ process: child, pid: child.pid, cgroup: undefined, directory: undefined });
    const ready = { path: "/health", timeoutMs: MOCK_READY_MS };
    await this.#orStop(
      handle,
      waitUntilReady({ host: address, port: controlPort }, ready, () => child.end),
    );
    return { handle, host: address, port, controlPort, settleMs: 0, workers };
  }

  async startTarget(launch: TargetLaunch): Promise<StartedProcess> {
    const { address } = this.#options;
    const target = this.#target(launch.target, launch.options);
    const directory = mkdtempSync(join(tmpdir(), "dragoman-bench-"));
    const port = await findFreePort(address);
    const plan = target.plan({
      executable: launch.executable,
      listenHost: address,
      listenPort: port,
      mockHost: launch.mockHost,
      mockPort: launch.mockPort,
      workDirectory: directory,
      cores: launch.cores,
      options: launch.options,
    });
    return plan.kind === "attached" ? this.#attach(plan, directory) : this.#start(plan, launch, { directory, port });
  }

  async sample(handle: string): Promise<ResourceSample | undefined> {
    const running = this.#running.get(handle);
    if (running?.cgroup !== undefined) return sampleCgroup(running.cgroup);
    return running?.pid === undefined ? undefined : sampleProcessTree(running.pid);
  }

  async ended(handle: string): Promise<string | undefined> {
    return this.#running.get(handle)?.process?.end;
  }

  async stop(handle: string): Promise<void> {
    const running = this.#running.get(handle);
    if (running === undefined) return;
    this.#running.delete(handle);
    await running.process?.stop();
    if (running.directory !== undefined) rmSync(running.directory, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((handle) => this.stop(handle)));
  }

  #target(id: string, options: TargetOptions): Target {
    const target = this.#options.findTarget(id, options);
    if (target === undefined) throw new Error(`there is no target ${id}`);
    return target;
  }

  async #start(
    plan: Extract<LaunchPlan, { kind: "process" }>,
    launch: TargetLaunch,
    { directory, port }: { readonly directory: string; readonly port: number },
  ): Promise<StartedProcess> {
    for (const { name, content } of plan.files) {
      const file = join(directory, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    const child = this.#spawn(
      plan,
      { cpus: launch.cpus, realtimePriority: undefined },
      { environment: plan.environment, directory },
    );
    const handle = this.#keep({
      process: child,
      pid: child.pid,
      cgroup: launch.options[`${launch.target}.cgroup`],
      directory,
    });
    const { address } = this.#options;
    await this.#orStop(
      handle,
      waitUntilReady({ host: address, port }, plan.ready, () => child.end),
    );
    return { handle, host: address, port, settleMs: plan.settleMs, workers: plan.workers };
  }

  async #attach(plan: Extract<LaunchPlan, { kind: "attached" }>, directory: string): Promise<StartedProcess> {
    const { hostname: host, port } = new URL(plan.origin);
    const handle = this.#keep({ process: undefined, pid: plan.pid, cgroup: undefined, directory });
    const address = { host, port: Number(port === "" ? 80 : port) };
    await this.#orStop(
      handle,
      waitUntilReady(address, plan.ready, () => undefined),
    );
    return { handle, ...address, settleMs: 0, workers: undefined };
  }

  #spawn(line: CommandLine, placement: Placement, { environment, directory }: Surroundings): SupervisedProcess {
    const from = this.#options.environment;
    const inherited = INHERITED.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]] as const]));
    return new SupervisedProcess(
      place(line, placement, from["PATH"]),
      { ...Object.fromEntries(inherited), ...environment },
      directory,
    );
  }

  #keep(running: Running): string {
    const handle = String(this.#nextHandle);
    this.#nextHandle += 1;
    this.#running.set(handle, running);
    return handle;
  }

  async #orStop(handle: string, readiness: Promise<void>): Promise<void> {
    try {
      await readiness;
    } catch (error) {
      await this.stop(handle);
      throw error;
    }
  }
}

/** The CPUs this process may run on, which in a container are not 0 to n-1. */
function allowedCpus(): number[] | undefined {
  let status: string;
  try {
    status = readFileSync("/proc/self/status", "utf8");
  } catch {
    // Not Linux.
    return undefined;
  }
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1];
  return list?.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
