// Runs the conformance checks one after the other: a fresh fault plan and call log for each, and a healthy request between them, so
// that one failure (or a gateway that rests an upstream after it) does not spoil the next check.
import { setTimeout as pause } from "node:timers/promises";

import type { TargetTraffic } from "../contract/target.ts";
import type { MockControl } from "../mock/control-server.ts";
import { requestOf, type Receiver } from "../matrix/prepare-requests.ts";
import { SCENARIOS } from "../matrix/scenarios.ts";
import { ANSWER_CHECKS } from "./answer-checks.ts";
import {
  notApplicable,
  fail,
  type Check,
  type CheckContext,
  type CheckRequest,
  type ClientDialect,
  type Outcome,
} from "./check.ts";
import { ERROR_CHECKS } from "./error-checks.ts";
import { exchange, type Destination, type OutgoingRequest } from "./exchange.ts";
import { FAILURE_CHECKS } from "./failure-checks.ts";

/** Every check, in the order they run. */
export const CHECKS: readonly Check[] = [...ANSWER_CHECKS, ...ERROR_CHECKS, ...FAILURE_CHECKS];

/** What is checked, and with what behind it. */
export interface ConformTask {
  readonly gateway: Destination;
  readonly traffic: TargetTraffic;
  readonly upstream: MockControl;
  readonly upstreamAddress: Destination;
}

/** One line of the table. */
export interface ConformResult {
  readonly check: string;
  readonly title: string;
  readonly dialect: ClientDialect;
  readonly outcome: Outcome;
}

const RECOVERY_MS = 30_000;
const RECOVERY_POLL_MS = 250;

/** Runs all checks; `onResult` hears of each as it ends. */
export async function runConform(
  task: ConformTask,
  onResult: (result: ConformResult) => void,
): Promise<readonly ConformResult[]> {
  const results: ConformResult[] = [];
  for (const check of CHECKS) {
    for (const dialect of check.dialects) {
      const outcome = await runCheck(task, check, dialect);
      const result = { check: check.id, title: check.title, dialect, outcome };
      results.push(result);
      onResult(result);
    }
  }
  return results;
}

async function runCheck(task: ConformTask, check: Check, dialect: ClientDialect): Promise<Outcome> {
  const { upstream, traffic, upstreamAddress } = task;
  if (traffic.path(dialect) === undefined) return notApplicable(`it does not speak ${dialect}`);
  const context: CheckContext = {
    dialect,
    traffic,
    upstream,
    addresses: { mockHost: upstreamAddress.host, mockPort: upstreamAddress.port },
    send: (request, options) => exchange(task.gateway, renderCheckRequest(task, dialect, request), options),
  };
  await makeHealthy(upstream);
  // The first check has nothing to recover from: what is wrong then is its own to find.
  if (check !== CHECKS[0] && !(await recovers(context))) {
    return fail(`a good request is not served within ${RECOVERY_MS / 1000} s of the last check`);
  }
  await upstream.resetCalls(true);
  try {
    return await check.run(context);
  } finally {
    await makeHealthy(upstream);
  }
}

async function makeHealthy(upstream: MockControl): Promise<void> {
  await upstream.arm([]);
  await upstream.setProfile("L0");
}

async function recovers({ send }: CheckContext): Promise<boolean> {
  const deadline = performance.now() + RECOVERY_MS;
  for (;;) {
    const { status } = await send({});
    if (status === 200) return true;
    if (performance.now() > deadline) return false;
    await pause(RECOVERY_POLL_MS);
  }
}

/** The request of a check as the dialect's SDK would send it. */
function renderCheckRequest(task: ConformTask, dialect: ClientDialect, request: CheckRequest): OutgoingRequest {
  const { gateway, traffic, upstreamAddress } = task;
  const scenario = dialect === "anthropic" ? SCENARIOS.S4 : request.isStreamed === true ? SCENARIOS.S3 : SCENARIOS.S1;
  const receiver: Receiver = {
    traffic,
    authority: `${gateway.host}:${gateway.port}`,
    context: { mockHost: upstreamAddress.host, mockPort: upstreamAddress.port },
    rejectionStatuses: [],
  };
  const { path, headers, body } = requestOf(
    { ...scenario, route: request.route ?? scenario.route, credential: request.credential ?? "good" },
    receiver,
  );
  const edited = {
    ...(JSON.parse(body) as object),
    ...(request.isStreamed === true ? { stream: true } : {}),
    ...(request.text === undefined ? {} : { messages: [{ role: "user", content: request.text }] }),
  };
  return {
    method: "POST",
    path,
    headers: { ...headers, "content-type": "application/json" },
    body: request.rawBody ?? JSON.stringify(edited),
  };
}
