// One repetition of one cell on one target: fresh process, measurement, stop. Whatever goes wrong becomes a record with its reason;
// the process is stopped in every case.
import { setTimeout as pause } from "node:timers/promises";

import { RECORD_FORMAT, type RawRecord, type RepetitionRecord } from "../contract/record.ts";
import type { StartedProcess } from "../host/host.ts";
import { failed } from "./measured.ts";
import { RepetitionRun, type ProcedureContext, type RepetitionTask } from "./repetition-run.ts";

/** A record with its raw histograms. */
export interface RepetitionResult {
  readonly record: RepetitionRecord;
  readonly raw: RawRecord;
}

/** Performs one repetition. */
export async function runRepetition(context: ProcedureContext, task: RepetitionTask): Promise<RepetitionResult> {
  const startedAt = new Date().toISOString();
  const { target, cell, repetition } = task;
  const identity = { format: RECORD_FORMAT, target: target.id, cell: cell.id, repetition, startedAt } as const;
  let started: StartedProcess;
  try {
    started = await startTarget(context, task);
  } catch (error) {
    const { raw, ...measured } = failed(messageOf(error));
    const record = { ...identity, ...measured, authentication: undefined, workers: undefined };
    return { record, raw: { format: RECORD_FORMAT, ...raw } };
  }
  const { gatewayHost, gatewayCores } = context;
  const run = new RepetitionRun(context, task, started);
  try {
    await pause(started.settleMs);
    const { raw, ...measured } = await run.measure();
    const end = await gatewayHost.ended(started.handle);
    const died =
      end === undefined
        ? measured
        : {
            ...measured,
            status: "failed" as const,
            isValid: false,
            reasons: [...measured.reasons, `the target died: ${end}`],
          };
    const sample = await gatewayHost.sample(started.handle);
    const workers =
      sample === undefined
        ? undefined
        : { cores: gatewayCores, configured: started.workers, processes: sample.processes, threads: sample.threads };
    return {
      record: { ...identity, ...died, authentication: run.probe?.authentication, workers },
      raw: { format: RECORD_FORMAT, ...raw },
    };
  } finally {
    await gatewayHost.stop(started.handle);
    await context.mockClient.setProfile("L0");
  }
}

function startTarget(context: ProcedureContext, { target, executable }: RepetitionTask): Promise<StartedProcess> {
  return context.gatewayHost.startTarget({
    target: target.id,
    options: context.options,
    executable,
    mockHost: context.mock.host,
    mockPort: context.mock.port,
    cpus: context.gatewayCpus,
    cores: context.gatewayCores,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "it failed without a reason";
}
