// A client that leaves, at any point of its exchange and under either policy, leaves nothing behind: no socket, timer, buffer or task,
// and one settlement for each attempt.
import { afterEach, describe, expect, it } from "vitest";

import { until } from "../harness/until.ts";
import { deployment } from "./engine-stack.ts";
import { startProofServer } from "./proof-server.ts";
import type { ProofServer } from "./proof-server.ts";
import { chunk, LAST_CHUNK, STREAM_HEAD } from "./raw-upstream.ts";
import type { RawCall } from "./raw-upstream.ts";
import { StreamClient } from "./stream-client.ts";
import {
  closingRecords,
  contentRecord,
  openingRecords,
  PROOF_DIALECTS,
  recordedStream,
  streamRequest,
  textOf,
} from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

const PAIRS = PROOF_DIALECTS.flatMap((client) => PROOF_DIALECTS.map((upstream) => ({ client, upstream })));
type Mode = "drain" | "cancel" | "drain shortly";
const MODES: readonly Mode[] = ["drain", "cancel", "drain shortly"];
const DISCONNECT = {
  drain: { mode: "drain", maxMs: 10_000, maxBytes: 65_536 },
  cancel: { mode: "cancel" },
  "drain shortly": { mode: "drain", maxMs: 30, maxBytes: 65_536 },
} as const;

let server: ProofServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

/** What the upstream has sent when the client leaves: nothing, the head, or the head and so many records. */
type Progress = "nothing" | "head" | number;

/** Starts a server whose upstream stops after some progress and gives the rest when it is asked to. */
async function startPaused(
  upstream: ProofDialect,
  mode: Mode,
  progress: Progress,
): Promise<{ readonly server: ProofServer; readonly sendRest: () => void }> {
  const records = recordedStream(upstream, ["one", "two"]);
  const sent = typeof progress === "number" ? progress : 0;
  const framed = (from: number, to?: number): string =>
    records
      .slice(from, to)
      .map((record) => chunk(record.text))
      .join("");
  const calls: RawCall[] = [];
  server = await startProofServer({
    models: { m: { attempts: 1, deployments: [deployment("a", upstream, { disconnect: DISCONNECT[mode] })] } },
    onRequest: (call) => {
      calls.push(call);
      if (progress !== "nothing") void call.write(STREAM_HEAD + framed(0, sent));
    },
  });
  return {
    server,
    sendRest: () => {
      for (const call of calls)
        void call.write((progress === "nothing" ? STREAM_HEAD : "") + framed(sent) + LAST_CHUNK);
    },
  };
}

const contentsOf = (upstream: ProofDialect): number => openingRecords(upstream).length;
const recordsOf = (upstream: ProofDialect): number => contentsOf(upstream) + 2 + closingRecords(upstream).length;

describe.each(PAIRS)("a $client client of a $upstream upstream", ({ client: dialect, upstream }) => {
  const progresses: readonly Progress[] = [
    "nothing",
    "head",
    ...Array.from({ length: recordsOf(upstream) - 1 }, (_, index) => index + 1),
  ];
  const rows = MODES.flatMap((mode) => progresses.map((progress) => ({ mode, progress })));

  it.each(rows)(
    "leaves nothing behind with the policy '$mode' when it goes after: $progress",
    async ({ mode, progress }) => {
      const stack = await startPaused(upstream, mode, progress);
      const { wire, admission, outcomes } = stack.server;
      const client = StreamClient.ask(stack.server.port, dialect, streamRequest(dialect, "m"));
      await until(() => stack.server.upstream.calls.length === 1, "the call");
      const isCommitted = typeof progress === "number" && progress > contentsOf(upstream);
      if (isCommitted) await until(() => client.receivedBytes > 0, "the first content");
      client.leave();
      const isDrained = mode === "drain";
      if (isDrained) {
        await until(() => stack.server.clientConnections === 0, "the client to be gone");
        stack.sendRest();
      }
      await stack.server.atRest();
      expect(admission.rules).toEqual([[isDrained ? "after_disconnect" : "partial"]]);
      // A connection that was read to its end serves the next call; any other is cut.
      expect(stack.server.upstream.calls.map((call) => call.isClosed)).toEqual([!isDrained]);
      expect(wire.stats()).toMatchObject(isDrained ? { open: 1, idle: 1 } : { open: 0, idle: 0 });
      expect(outcomes[0]?.usage ?? {}).toMatchObject(isDrained ? { input: 10, output: 3 } : {});
      expect(outcomes[0]).toMatchObject({ isClientGone: true, error: null });
    },
  );

  it("leaves nothing behind when it goes before its request is complete", async () => {
    const { server: running } = await startPaused(upstream, "drain", "nothing");
    const body = Buffer.from(streamRequest(dialect, "m", "x".repeat(100_000)));
    const client = new StreamClient(running.port, dialect, body.byteLength);
    client.outgoing.write(body.subarray(0, 60_000));
    await until(() => running.admission.tickets.length === 1, "the exchange");
    client.leave();
    await running.atRest();
    expect(running.upstream.calls).toHaveLength(0);
    expect(running.admission.rules).toEqual([[]]);
  });

  it("leaves nothing behind when it goes with the last byte", async () => {
    const { server: running, sendRest } = await startPaused(upstream, "drain", "head");
    const client = StreamClient.ask(running.port, dialect, streamRequest(dialect, "m"));
    await until(() => running.upstream.calls.length === 1, "the call");
    client.outgoing.on("response", (incoming) => incoming.on("data", () => client.leave()));
    sendRest();
    await running.atRest();
    expect(running.outcomes).toHaveLength(1);
    expect(["actual", "after_disconnect"]).toContain(running.admission.rules[0]?.[0]);
  });

  it("stops to read on for usage when that would be too long", async () => {
    const { server: running } = await startPaused(upstream, "drain", contentsOf(upstream) + 1);
    const client = StreamClient.ask(running.port, dialect, streamRequest(dialect, "m"));
    await until(() => client.receivedBytes > 0, "the first content");
    const [call] = running.upstream.calls;
    if (call === undefined) throw new Error("a call was made");
    client.leave();
    const event = chunk(contentRecord(upstream, "x".repeat(8_000)).text);
    await until(() => {
      if (!call.isClosed) void call.write(event);
      return call.isClosed;
    }, "the upstream to be cut");
    await running.atRest();
    expect(running.admission.rules).toEqual([["partial"]]);
    expect(running.outcomes[0]?.attempts[0]?.deliveredBytes).toBeLessThan(2_000);
  });

  it("leaves nothing behind when it goes while it does not read", async () => {
    const filling = "x".repeat(100_000);
    server = await startProofServer({
      models: { m: { attempts: 1, deployments: [deployment("a", upstream, { disconnect: DISCONNECT.cancel })] } },
      onRequest: (call) => {
        void (async () => {
          await call.write(STREAM_HEAD + chunk(textOf(openingRecords(upstream))));
          while (!call.isClosed) await call.write(chunk(contentRecord(upstream, filling).text));
        })();
      },
    });
    const client = StreamClient.ask(server.port, dialect, streamRequest(dialect, "m"));
    client.outgoing.once("response", (incoming) => incoming.pause());
    const { upstream: raw } = server;
    await until(() => (raw.calls[0]?.socket.writableLength ?? 0) > 0 && client.incoming !== null, "pressure");
    client.leave();
    await server.atRest();
    expect(server.admission.rules).toEqual([["partial"]]);
    expect(server.outcomes[0]?.isClientGone).toBe(true);
  });
});
