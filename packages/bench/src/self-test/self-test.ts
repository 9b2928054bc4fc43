// Checks the instrument before it measures anything: does it count right, merge right, keep its schedule, how much can it offer, and
// how fast is the mock on its own?
import type { LoadRecord, SelfTestCheck, SelfTestRecord } from "../contract/record.ts";
import type { LoadSpec } from "../generator/load-spec.ts";
import { createHistogram, mergeEncoded } from "../histogram/histogram.ts";
import { directTraffic } from "../matrix/direct-traffic.ts";
import { prepareRequests } from "../matrix/prepare-requests.ts";
import { SCENARIOS } from "../matrix/scenarios.ts";
import type { StartedMock } from "../host/host.ts";
import type { FaultKind } from "../mock/faults.ts";
import type { MockClient } from "../mock/mock-client.ts";
import type { LoadRunner } from "../procedure/load-runner.ts";
import { roundDown } from "../topology/scale-cells.ts";
import type { Topology } from "../topology/topologies.ts";
import { VALIDITY_BOUNDS, voidReasons } from "../validity/validity.ts";

/** What the self-test runs on. */
export interface SelfTestContext {
  readonly topology: Topology;
  readonly mock: StartedMock;
  readonly mockClient: MockClient;
  readonly runner: LoadRunner;
  readonly areCoresShared: boolean;
  readonly seed: number;
  readonly note: (line: string) => void;
}

const COUNTING_RPS = 200;
const COUNTING_SECONDS = 2;
const COUNTING_EVERY = 10;
const WARM_UP_RPS = 1000;
const CLOSED_CONNECTIONS = 16;
const CAPACITY_WARM_UP_SECONDS = 0.5;
const CAPACITY_SECONDS = 2;
const CAPACITY_ATTEMPTS = 2;
const CAPACITY_START_FRACTION = 0.35;
const CAPACITY_STEP = 0.7;
const MIN_USEFUL_RPS = 100;

/** Runs all checks. A failed check does not stop the run; it makes the results unpublishable. */
export async function runSelfTest(context: SelfTestContext): Promise<SelfTestRecord> {
  await context.mockClient.setProfile("L0");
  const merging = checkMerging();
  context.note("self-test: counting");
  const counting = await checkCounting(context);
  context.note("self-test: capacity");
  const capacityRps = await findCapacity(context, await warmInstrument(context));
  const capacity: SelfTestCheck = {
    name: "capacity",
    passed: capacityRps >= MIN_USEFUL_RPS,
    detail: `generator and mock hold ${capacityRps} requests/s within the validity rules (at least ${MIN_USEFUL_RPS})`,
  };
  context.note("self-test: mock latency and schedule");
  const others = await checkLatencyAndSchedule(context, capacityRps);
  const checks = [merging, counting, capacity, ...others];
  return { passed: checks.every((check) => check.passed), checks, capacityRps };
}

function directSpec(
  context: SelfTestContext,
  pace: LoadSpec["pace"],
  windows: Pick<LoadSpec, "warmUpSeconds" | "measureSeconds">,
): LoadSpec {
  const { mock, topology, seed } = context;
  return {
    host: mock.host,
    port: mock.port,
    requests: prepareRequests(SCENARIOS.S1, {
      traffic: directTraffic,
      authority: `${mock.host}:${mock.port}`,
      context: { mockHost: mock.host, mockPort: mock.port },
      rejectionStatuses: [],
    }),
    pace,
    ...windows,
    timeoutMs: topology.timeoutMs,
    maxConnections: topology.maxConnections,
    seed,
  };
}

function checkMerging(): SelfTestCheck {
  const whole = createHistogram();
  const parts = [createHistogram(), createHistogram(), createHistogram()];
  for (let sample = 1; sample <= 30_000; sample += 1) {
    const value = (sample * 7919) % 1_000_003;
    whole.record(value);
    parts[sample % parts.length]?.record(value);
  }
  const merged = mergeEncoded(parts.map((part) => part.encode()));
  const passed = merged.encode() === whole.encode();
  for (const histogram of [whole, merged, ...parts]) histogram.destroy();
  return {
    name: "merging",
    passed,
    detail: `30,000 samples merged from three histograms ${passed ? "equal" : "differ from"} one that saw them all`,
  };
}

/** Every 10th call fails in a known way: what the generator counts must be what the mock did. */
async function checkCounting(context: SelfTestContext): Promise<SelfTestCheck> {
  const { mockClient, runner } = context;
  const expected = COUNTING_RPS * COUNTING_SECONDS;
  const pace = { kind: "open", rps: COUNTING_RPS } as const;
  const countWith = async (fault: FaultKind): Promise<{ readonly record: LoadRecord; readonly faults: number }> => {
    await mockClient.resetCalls(false);
    await mockClient.arm([{ fault, every: COUNTING_EVERY }]);
    const windows = { warmUpSeconds: 0, measureSeconds: COUNTING_SECONDS };
    const { record } = await runner.run(directSpec(context, pace, windows));
    await mockClient.arm([]);
    return { record, faults: (await mockClient.counts()).faults };
  };
  const refused = await countWith({ kind: "status", status: 503 });
  const cut = await countWith({ kind: "truncate" });
  const passed =
    [refused, cut].every(
      ({ record, faults }) => record.offered === expected && record.upstreamCalls === expected && faults > 0,
    ) &&
    refused.record.statuses["503"] === refused.faults &&
    refused.record.succeeded === expected - refused.faults &&
    cut.record.brokenBodies === cut.faults &&
    cut.record.succeeded === expected - cut.faults;
  return {
    name: "counting",
    passed,
    detail: `offered ${refused.record.offered} and called ${refused.record.upstreamCalls ?? "?"} of ${expected}, counted ${refused.record.statuses["503"] ?? 0} of ${refused.faults} statuses 503 and ${cut.record.brokenBodies} of ${cut.faults} cut bodies`,
  };
}

/** Warms compilers and pools of both sides before anything is judged; returns how fast the two go as fast as they can. */
async function warmInstrument(context: SelfTestContext): Promise<number> {
  const open = { kind: "open", rps: WARM_UP_RPS } as const;
  await context.runner.run(directSpec(context, open, { warmUpSeconds: 0, measureSeconds: 2 }));
  const closed = { kind: "closed", connections: CLOSED_CONNECTIONS } as const;
  const { record } = await context.runner.run(directSpec(context, closed, { warmUpSeconds: 1, measureSeconds: 2 }));
  return record.achievedRps;
}

/**
 * Highest direct rate within the validity rules, coming down from a fraction of the closed-loop rate: an open loop costs more per request. From
 * above, because a disturbed attempt then costs one step and not the whole search.
 */
async function findCapacity(context: SelfTestContext, closedRps: number): Promise<number> {
  let rps = roundDown(closedRps * CAPACITY_START_FRACTION);
  while (rps >= MIN_USEFUL_RPS) {
    const reasons = await tryAttempts(context, rps);
    context.note(`self-test: ${rps} requests/s ${reasons.length === 0 ? "held" : reasons.join("; ")}`);
    if (reasons.length === 0) return rps;
    rps = roundDown(rps * CAPACITY_STEP);
  }
  return 0;
}

/** The capacity is what the machine can do; a neighbour's disturbance of one attempt is not part of it. */
async function tryAttempts(context: SelfTestContext, rps: number): Promise<string[]> {
  let reasons = await tryRate(context, rps);
  for (let attempt = 1; attempt < CAPACITY_ATTEMPTS && reasons.length > 0; attempt += 1) {
    reasons = await tryRate(context, rps);
  }
  return reasons;
}

async function tryRate(context: SelfTestContext, rps: number): Promise<string[]> {
  const windows = { warmUpSeconds: CAPACITY_WARM_UP_SECONDS, measureSeconds: CAPACITY_SECONDS };
  const { record } = await context.runner.run(directSpec(context, { kind: "open", rps }, windows));
  return voidReasons({
    gateway: undefined,
    direct: record,
    scriptedMs: 0,
    areCoresShared: context.areCoresShared,
    isClosedLoop: false,
  });
}

async function checkLatencyAndSchedule(context: SelfTestContext, capacityRps: number): Promise<SelfTestCheck[]> {
  const { topology, runner } = context;
  const { rates } = topology;
  const fraction = rates.kind === "derived" ? rates.headlineFraction : 1;
  const rps = topology.mockRps ?? Math.max(MIN_USEFUL_RPS, roundDown(capacityRps * fraction));
  const measureSeconds = topology.isReference ? 30 : 3;
  const run = async (): Promise<LoadRecord> =>
    (await runner.run(directSpec(context, { kind: "open", rps }, { warmUpSeconds: 1, measureSeconds }))).record;
  let record = await run();
  for (let retry = 0; retry < topology.voidRetries && lateFraction(record) > VALIDITY_BOUNDS.lateFraction; retry += 1) {
    record = await run();
  }
  const late = lateFraction(record);
  const { p99 } = record.latencyUs;
  const isScheduled = late <= VALIDITY_BOUNDS.lateFraction && record.generatorCpuShare <= VALIDITY_BOUNDS.cpuShare;
  return [
    {
      name: "mock-latency",
      passed: record.latencyUs.count > 0 && p99 <= topology.mockP99Us,
      detail: `p99 of ${p99} µs straight to the mock at ${rps} requests/s (at most ${topology.mockP99Us} µs)`,
    },
    {
      name: "generator-schedule",
      passed: isScheduled,
      detail: `${(late * 100).toFixed(3)} % of the sends later than 1 ms (at most 0.1 %), generator at ${(record.generatorCpuShare * 100).toFixed(0)} % of its CPU (at most 60 %)`,
    },
  ];
}

function lateFraction(record: LoadRecord): number {
  return record.offered === 0 ? 1 : record.lateSends / record.offered;
}
