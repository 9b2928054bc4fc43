// An upstream that is cut at every single byte of its answer, head included. Up to the first content another deployment answers and
// nothing of the first is seen; from there on the client is told in its own dialect, and nothing looks like a clean end.
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { createNodeClock } from "../../src/ports/index.ts";
import { createWireClient } from "../../src/wire/index.ts";
import { until } from "../harness/until.ts";
import { bodyOf, deployment, makeEngine, proofConfig, PROOF_PRINCIPAL, WatchedPool } from "./engine-stack.ts";
import { CountingClock } from "./fake-clock.ts";
import { FakeClient } from "./fake-client.ts";
import { chunk, LAST_CHUNK, startRawUpstream, STREAM_HEAD } from "./raw-upstream.ts";
import type { RawCall } from "./raw-upstream.ts";
import { RecordingAdmission } from "./recording-admission.ts";
import { PATH_OF, PROOF_DIALECTS, recordedStream, spokenText, streamRequest } from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

type Cut = "end" | "reset";

const CUTS: readonly Cut[] = ["end", "reset"];
const CASES = PROOF_DIALECTS.flatMap((client) =>
  PROOF_DIALECTS.flatMap((upstream) => CUTS.map((cut) => ({ client, upstream, cut }))),
);
const LANES = 32;
/** Between the last bytes and a reset: a reader that polls both together is told of an end and not of a reset. */
const RESET_GRACE_MS = 5;

const ERROR: Readonly<Record<ProofDialect, RegExp>> = {
  chat: /^data: \{"error":\{"message":"[^\n]+\n\n$/mu,
  messages: /^event: error\ndata: \{"type":"error","error":\{[^\n]+\n\n$/mu,
};
const END: Readonly<Record<ProofDialect, string>> = { chat: "data: [DONE]\n", messages: "event: message_stop\n" };
const STOP: Readonly<Record<ProofDialect, RegExp>> = { chat: /"finish_reason":"/u, messages: /"stop_reason":"/u };

/** A recorded answer on the wire, and the offsets at which it begins to count, has named its stop reason, and is complete. */
interface Recording {
  readonly bytes: Buffer;
  readonly commitAt: number;
  readonly stopAt: number;
  readonly endAt: number;
}

function record(dialect: ProofDialect, said: string): Recording {
  let wire = STREAM_HEAD;
  const at = { content: -1, finish: -1, end: -1 };
  for (const { mark, text } of recordedStream(dialect, [said])) {
    const framed = chunk(text);
    // A record counts from its last byte on, which the framing of its chunk follows.
    const end = Buffer.byteLength(wire) + Buffer.byteLength(framed) - 2;
    if ((mark === "content" || mark === "finish" || mark === "end") && at[mark] < 0) at[mark] = end;
    wire += framed;
  }
  return { bytes: Buffer.from(wire + LAST_CHUNK), commitAt: at.content, stopAt: at.finish, endAt: at.end };
}

async function cutAt(call: RawCall, bytes: Buffer, cut: Cut): Promise<void> {
  if (cut === "end") {
    call.socket.end(bytes);
    return;
  }
  if (bytes.byteLength > 0) {
    await call.write(bytes);
    await sleep(RESET_GRACE_MS);
  }
  call.socket.resetAndDestroy();
}

describe.each(CASES)(
  "a $client client of a $upstream upstream whose connection meets a $cut",
  ({ client: dialect, upstream, cut }) => {
    it("gets the other deployment's answer before the commit and an error after it, at every byte", async () => {
      const [recordingA, recordingB] = [record(upstream, "alpha"), record(upstream, "bravo")];
      const server = await startRawUpstream({
        onRequest: (call) => {
          const text = call.body.toString("utf8");
          const at = Number(/cut at (\d+)/u.exec(text)?.[1]);
          if (text.includes('"up-b"')) void call.write(recordingB.bytes);
          else void cutAt(call, recordingA.bytes.subarray(0, at), cut);
        },
      });
      const wire = createWireClient({ poisonReadBuffer: true });
      const clock = new CountingClock(createNodeClock());
      const pool = new WatchedPool();
      const admission = new RecordingAdmission();
      const deployments = [deployment("a", upstream, { tier: 1 }), deployment("b", upstream, { tier: 2 })];
      const gateway = makeEngine({
        config: proofConfig({ chat: server.url, messages: server.url }, { m: { attempts: 1, deployments } }),
        clock,
        upstream: wire,
        admission,
        onOutcome: () => undefined,
      });
      const ask = async (at: number): Promise<FakeClient> => {
        const client = new FakeClient(PATH_OF[dialect], bodyOf(pool, streamRequest(dialect, "m", `cut at ${at}`)));
        gateway.handle(client.request, client, { principal: PROOF_PRINCIPAL });
        await client.over;
        return client;
      };
      const wrong: string[] = [];
      const check = (at: number, client: FakeClient): void => {
        const found = verdict(dialect, recordingA, at, client);
        if (found !== null)
          wrong.push(
            `cut at ${at} of ${recordingA.bytes.byteLength} (commit ${recordingA.commitAt}): ${found}\n${client.text}`,
          );
      };
      try {
        let next = 0;
        const lane = async (): Promise<void> => {
          while (next <= recordingA.bytes.byteLength) {
            const at = next++;
            check(at, await ask(at));
          }
        };
        await Promise.all(Array.from({ length: LANES }, lane));
        expect(wrong).toEqual([]);
        await until(
          () =>
            gateway.inFlight === 0 &&
            pool.missingBytes === 0 &&
            clock.pendingTimers === 0 &&
            wire.stats().open === wire.stats().idle,
          "rest",
        );
        expect(gateway.hasFailedTask).toBe(false);
        expect(admission.imbalances).toEqual([]);
        const attempts = admission.tickets.map((ticket) => ticket.attempts.join());
        expect(attempts.filter((names) => names === "a,b")).toHaveLength(recordingA.commitAt);
        expect(attempts.filter((names) => names === "a")).toHaveLength(
          recordingA.bytes.byteLength + 1 - recordingA.commitAt,
        );
      } finally {
        await gateway.close();
        await server.close();
      }
    });
  },
);

/** What is wrong with an answer, or null. */
function verdict(dialect: ProofDialect, recording: Recording, at: number, client: FakeClient): string | null {
  const { status, text, ending } = client;
  if (status !== 200) return `status ${status}`;
  if (ending !== "end") return `the transfer ended by ${String(ending)}`;
  const spoken = spokenText(text);
  if (at < recording.commitAt) {
    if (spoken !== "bravo" || text.includes("alpha")) return "not the other deployment's answer alone";
    if (ERROR[dialect].test(text)) return "an error beside a whole answer";
    return text.split(END[dialect]).length === 2 ? null : "no end, or more than one";
  }
  if (text.includes("bravo")) return "two deployments in one answer";
  if (at >= recording.endAt)
    return spoken === "alpha" && text.includes(END[dialect]) ? null : "a whole answer that is not whole";
  if (spoken !== "alpha") return "the content is lost";
  if (!ERROR[dialect].test(text)) return "no error";
  if (text.includes(END[dialect])) return "a clean end of a broken answer";
  return at < recording.stopAt && STOP[dialect].test(text) ? "a stop reason that nobody gave" : null;
}
