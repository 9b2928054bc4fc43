// One worker's part of a run: pace, dispatch, drain, tally. Runs in a worker thread, or in the caller's thread for tests.
import { monotonicUs } from "../clock/monotonic.ts";
import { createTicker, type CreateAlarm } from "../clock/ticker.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { LoadSpec, RunTimes, Tally } from "./load-spec.ts";
import { pickRequest } from "./mix.ts";
import { Pacer } from "./pacer.ts";
import { TallySheet } from "./tally-sheet.ts";

/** A worker's share of a run. */
export interface WorkerTask {
  readonly spec: LoadSpec;
  readonly times: RunTimes;
  readonly worker: number;
  readonly workers: number;
}

const SWEEP_MS = 50;

/** Runs a worker's share to its end, including the drain of what is in flight. */
export function runWorker(task: WorkerTask, createAlarm: CreateAlarm = createTicker): Promise<Tally> {
  return new Promise((resolve) => {
    const { spec, times, worker, workers } = task;
    const requests = spec.requests.map(({ bytes, expect, okStatuses }) => ({
      bytes: Buffer.from(bytes, "base64"),
      expect,
      okStatuses: new Set(okStatuses),
    }));
    const weights = spec.requests.map(({ weight }) => weight);
    const tally = new TallySheet(times);
    let isPacing = true;
    let onEnded = (): void => undefined;
    const dispatcher = new Dispatcher({
      host: spec.host,
      port: spec.port,
      requests,
      maxConnections: share(spec.maxConnections, worker, workers),
      timeoutUs: spec.timeoutMs * 1000,
      now: monotonicUs,
      tally,
      onEnded: () => onEnded(),
    });
    const sweeper = setInterval(() => {
      dispatcher.sweep();
      finishWhenDrained();
    }, SWEEP_MS);
    const finishWhenDrained = (): void => {
      if (isPacing || dispatcher.pending > 0) return;
      isPacing = true;
      clearInterval(sweeper);
      dispatcher.close();
      resolve(tally.close());
    };
    const submit = (index: number, dueUs: number, lateUs: number): void => {
      tally.offer(dueUs, lateUs);
      dispatcher.submit(pickRequest(weights, spec.seed, index), dueUs);
    };
    const onPaced = (): void => {
      isPacing = false;
      finishWhenDrained();
    };
    if (spec.pace.kind === "open") {
      const schedule = { startUs: times.startUs, rps: spec.pace.rps, worker, workers };
      const pacer = new Pacer({
        schedule,
        endUs: times.windowEndUs,
        now: monotonicUs,
        createAlarm,
        send: (turn, dueUs, lateUs) => submit(turn * workers + worker, dueUs, lateUs),
        onFinished: onPaced,
      });
      onEnded = () => pacer.poll();
    } else {
      onEnded = startClosedLoop({ spec: { ...spec, pace: spec.pace }, times, worker, workers, submit, onPaced });
    }
  });
}

interface ClosedLoop {
  readonly spec: LoadSpec & {
    readonly pace: { readonly kind: "closed"; readonly connections: number; readonly maxRequests?: number };
  };
  readonly times: RunTimes;
  readonly worker: number;
  readonly workers: number;
  readonly submit: (index: number, dueUs: number, lateUs: number) => void;
  readonly onPaced: () => void;
}

/** Each client sends when its answer has come; a client whose request failed waits a little, so that a refusing target is not flooded. */
function startClosedLoop({ spec, times, worker, workers, submit, onPaced }: ClosedLoop): () => void {
  const limit = share(spec.pace.maxRequests ?? Number.MAX_SAFE_INTEGER, worker, workers);
  let sent = 0;
  let isStopped = false;
  const next = (): void => {
    const nowUs = monotonicUs();
    if (isStopped) return;
    if (nowUs >= times.windowEndUs || sent >= limit) {
      isStopped = true;
      onPaced();
      return;
    }
    sent += 1;
    submit(sent * workers + worker, nowUs, 0);
  };
  // A timer may fire a fraction of a millisecond early; requests sent then would fall before the window.
  const begin = (): void => {
    const waitMs = (times.startUs - monotonicUs()) / 1000;
    if (waitMs > 0) {
      setTimeout(begin, Math.ceil(waitMs));
      return;
    }
    const clients = Math.min(limit, share(spec.pace.connections, worker, workers));
    if (clients === 0) onPaced();
    for (let client = 0; client < clients; client += 1) next();
  };
  begin();
  // Not at once: the connection that just answered first returns to the pool.
  return () => {
    setImmediate(next);
  };
}

/** Part of `total` for one of `workers`: parts differ by at most one and add up. */
function share(total: number, worker: number, workers: number): number {
  return Math.floor(total / workers) + (worker < total % workers ? 1 : 0);
}
