// The mock process: `process-entry HOST PORT CONTROL_PORT WORKERS`. With several workers a cluster shares the port; the control door
// lives in the primary and speaks for all of them.
import cluster, { type Worker } from "node:cluster";

import { listen } from "../door/listen.ts";
import type { CallCounts, LoggedCall } from "./call-log.ts";
import { createControlServer, type MockControl } from "./control-server.ts";
import { createMock } from "./start-mock.ts";

const [host = "127.0.0.1", port = "0", controlPort = "0", workerCount = "1"] = process.argv.slice(2);

interface ControlCall {
  readonly id: number;
  readonly method: keyof MockControl;
  readonly argument: unknown;
}

interface ControlAnswer {
  readonly id: number;
  readonly value: unknown;
}

function callControl(control: MockControl, { method, argument }: ControlCall): Promise<unknown> {
  return (control[method] as (argument: unknown) => Promise<unknown>)(argument);
}

/** Serves the port in this process; as a cluster worker it obeys the primary's control calls. */
async function serve(): Promise<MockControl> {
  const { server, control } = createMock();
  process.on("message", (call: ControlCall) => {
    void callControl(control, call).then((value) => process.send?.({ id: call.id, value }));
  });
  await listen(server, { host, port: Number(port), backlog: 8192 });
  return control;
}

/** Sends every control call to all workers and joins their answers. */
function clusterControl(workers: readonly Worker[]): MockControl {
  let nextId = 0;
  const askAll = (method: keyof MockControl, argument: unknown): Promise<unknown[]> => {
    nextId += 1;
    const id = nextId;
    return Promise.all(
      workers.map(
        (worker) =>
          new Promise<unknown>((resolve) => {
            const onMessage = (message: ControlAnswer): void => {
              if (message.id !== id) return;
              worker.off("message", onMessage);
              resolve(message.value);
            };
            worker.on("message", onMessage);
            worker.send({ id, method, argument });
          }),
      ),
    );
  };
  return {
    setProfile: async (profile) => void (await askAll("setProfile", profile)),
    arm: async (faults) => void (await askAll("arm", faults)),
    resetCalls: async (isDetailed) => void (await askAll("resetCalls", isDetailed)),
    counts: async () => {
      const all = (await askAll("counts", undefined)) as CallCounts[];
      const sum = (pick: (counts: CallCounts) => number): number => all.reduce((total, each) => total + pick(each), 0);
      return {
        calls: sum((each) => each.calls),
        unknownTargets: sum((each) => each.unknownTargets),
        disconnects: sum((each) => each.disconnects),
        faults: sum((each) => each.faults),
      };
    },
    details: async () => ((await askAll("details", undefined)) as LoggedCall[][]).flat(),
  };
}

async function startWorkers(count: number): Promise<Worker[]> {
  const workers = Array.from({ length: count }, () => cluster.fork());
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once("listening", resolve))));
  return workers;
}

if (cluster.isWorker) {
  await serve();
} else {
  const count = Number(workerCount);
  const control = count > 1 ? clusterControl(await startWorkers(count)) : await serve();
  await listen(createControlServer(control), { host, port: Number(controlPort), backlog: 8192 });
}
