// Sets up what every command that sends load needs: the hosts, the mock and the generator on their cores, and takes it down again.
import type { TargetOptions } from "../contract/target.ts";
import { startGenerator } from "../generator/generator-client.ts";
import { loadHistograms } from "../histogram/histogram.ts";
import { AgentHost, type AgentAddress } from "../host/agent-host.ts";
import type { Host, StartedMock } from "../host/host.ts";
import { LocalHost } from "../host/local-host.ts";
import { mayUseRealtime } from "../host/pinning.ts";
import { MockClient } from "../mock/mock-client.ts";
import { runningGenerators } from "../resources/neighbours.ts";
import { assignCores, shareCores } from "../topology/assign-cores.ts";
import type { Topology } from "../topology/topologies.ts";
import { LoadRunner } from "./load-runner.ts";
import { findTarget } from "./select-targets.ts";

/** Where the roles run; without addresses everything runs on this host. */
export interface InstrumentOptions {
  readonly topology: Topology;
  readonly mockAgent: AgentAddress | undefined;
  readonly gatewayAgent: AgentAddress | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Everything that is up. */
export interface Instrument {
  readonly localHost: Host;
  readonly mockHost: Host;
  readonly gatewayHost: Host;
  readonly gatewayCpus: readonly number[];
  readonly gatewayCores: number;
  readonly areCoresShared: boolean;
  /** Generator and mock run with real-time scheduling. */
  readonly isRealtime: boolean;
  /** Generators of other runs on this host at the start. */
  readonly foreignGenerators: number;
  readonly mock: StartedMock;
  readonly mockClient: MockClient;
  readonly runner: LoadRunner;
  close(): Promise<void>;
}

const LOCAL_ADDRESS = "127.0.0.1";
/** On a shared core the schedule comes first: a send interrupts the mock, not the other way round. */
const GENERATOR_PRIORITY = 2;
const MOCK_PRIORITY = 1;

/** The local host as the bench uses it, also behind an agent. */
export function createLocalHost(
  environment: Readonly<Record<string, string | undefined>>,
  address: string = LOCAL_ADDRESS,
): LocalHost {
  return new LocalHost({
    address,
    environment,
    findTarget: (id: string, options: TargetOptions) => findTarget(id, options),
  });
}

/** Starts mock and generator. */
export async function startInstrument(options: InstrumentOptions): Promise<Instrument> {
  await loadHistograms();
  const foreignGenerators = runningGenerators().length;
  const localHost = createLocalHost(options.environment);
  const mockHost = options.mockAgent === undefined ? localHost : new AgentHost(options.mockAgent);
  const gatewayHost = options.gatewayAgent === undefined ? localHost : new AgentHost(options.gatewayAgent);
  const isOneHost = mockHost === localHost && gatewayHost === localHost;
  if (options.topology.placement === "hosts" && isOneHost) {
    throw new Error(`topology ${options.topology.id} needs agents: give --mock-agent and --gateway-agent`);
  }
  const cores = await planCores({ localHost, mockHost, gatewayHost }, isOneHost);
  const isRealtime = isOneHost && mayUseRealtime(options.environment["PATH"]);
  const mock = await mockHost.startMock(cores.mockCores, {
    cpus: cores.mockCpus,
    realtimePriority: isRealtime ? MOCK_PRIORITY : undefined,
  });
  const generator = await startGenerator(cores.generatorCores, {
    cpus: cores.generatorCpus,
    realtimePriority: isRealtime ? GENERATOR_PRIORITY : undefined,
  });
  const mockClient = new MockClient(mock.host, mock.controlPort);
  const runner = new LoadRunner({
    generator,
    generatorCores: cores.generatorCores,
    mock: { host: mockHost, handle: mock.handle, cores: cores.mockCores },
    mockClient,
  });
  return {
    localHost,
    mockHost,
    gatewayHost,
    gatewayCpus: cores.gatewayCpus,
    gatewayCores: cores.gatewayCores,
    areCoresShared: cores.areCoresShared,
    isRealtime,
    foreignGenerators,
    mock,
    mockClient,
    runner,
    close: async () => {
      await generator.close();
      await mockHost.stop(mock.handle);
      await localHost.close();
    },
  };
}

interface CorePlan {
  readonly gatewayCpus: readonly number[];
  readonly gatewayCores: number;
  readonly generatorCpus: readonly number[];
  readonly generatorCores: number;
  readonly mockCpus: readonly number[];
  readonly mockCores: number;
  readonly areCoresShared: boolean;
}

/** On one host the roles get disjoint cores; on machines of their own each gets all of its machine. */
async function planCores(
  hosts: Pick<Instrument, "localHost" | "mockHost" | "gatewayHost">,
  isOneHost: boolean,
): Promise<CorePlan> {
  if (!isOneHost) {
    const [generator, mock, gateway] = await Promise.all([
      hosts.localHost.cpus(),
      hosts.mockHost.cpus(),
      hosts.gatewayHost.cpus(),
    ]);
    return {
      gatewayCpus: [],
      gatewayCores: gateway.length,
      generatorCpus: [],
      generatorCores: generator.length,
      mockCpus: [],
      mockCores: mock.length,
      areCoresShared: hosts.mockHost === hosts.localHost,
    };
  }
  const cpus = await hosts.localHost.cpus();
  const assignment = assignCores(cpus);
  const count = (set: readonly number[]): number => Math.max(1, set.length);
  return {
    gatewayCpus: assignment.gateway,
    gatewayCores: count(assignment.gateway),
    generatorCpus: assignment.generator,
    generatorCores: count(assignment.generator),
    mockCpus: assignment.mock,
    mockCores: count(assignment.mock),
    areCoresShared: shareCores(assignment),
  };
}
