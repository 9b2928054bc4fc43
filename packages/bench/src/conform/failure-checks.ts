// Checks of broken upstreams and clients that leave: nothing that broke may look whole, and the gateway goes on serving.
import { setTimeout as pause } from "node:timers/promises";

import type { FaultKind } from "../mock/faults.ts";
import { BOTH_DIALECTS, fail, judgeProblems, pass, type Check, type CheckContext, type Outcome } from "./check.ts";
import { errorProblems } from "./error-checks.ts";
import { readStream } from "./stream-grammar.ts";

const BREAK_AFTER_PARTS = 5;
const DISCONNECT_WAIT_MS = 3000;
const POLL_MS = 50;

/** The upstream's answer breaks before any of it was passed on: the client must get an error. */
async function checkBrokenAnswer({ dialect, send, upstream }: CheckContext, fault: FaultKind): Promise<Outcome> {
  await upstream.arm([{ fault }]);
  const answer = await send({});
  if (answer.status === 200 && answer.end === "complete")
    return fail("a broken answer came as a whole one with status 200");
  if (answer.status === undefined || answer.end !== "complete") return fail("the connection broke without an answer");
  return judgeProblems(
    errorProblems(dialect, answer, (status) => status >= 500, "5xx"),
    `status ${answer.status}`,
  );
}

/** The upstream's stream breaks: whatever reaches the client must not look finished. */
async function checkBrokenStream({ dialect, send, upstream }: CheckContext, fault: FaultKind): Promise<Outcome> {
  await upstream.arm([{ fault }]);
  const answer = await send({ isStreamed: true });
  if (answer.end === "timeout") return fail("the stream stays open after the upstream broke");
  if (answer.status !== 200)
    return judgeProblems(
      errorProblems(dialect, answer, (status) => status >= 500, "5xx"),
      `status ${answer.status ?? "none"} before any event`,
    );
  const { isFinished, hasError } = readStream(dialect, answer.body);
  if (isFinished) return fail("the broken stream ends like a whole one");
  if (hasError) return pass("an error event, no terminator");
  return answer.end === "broken"
    ? pass("the connection is cut, no terminator")
    : fail("the stream ends in silence: neither an error nor a cut");
}

async function checkDisconnect({ send, upstream }: CheckContext): Promise<Outcome> {
  await upstream.setProfile("LS");
  const left = await send({ isStreamed: true }, { leaveAfterChunks: 2 });
  if (left.end !== "left") return fail(`the stream was ${left.end} before the client could leave`);
  const deadline = performance.now() + DISCONNECT_WAIT_MS;
  let cancelled = false;
  while (!cancelled && performance.now() < deadline) {
    cancelled = (await upstream.counts()).disconnects > 0;
    if (!cancelled) await pause(POLL_MS);
  }
  await upstream.setProfile("L0");
  const next = await send({});
  if (next.status !== 200) return fail(`the next request was answered by ${next.status ?? "nothing"}`);
  return pass(
    cancelled
      ? "the upstream call was cancelled, the next request is served"
      : "the upstream call was read to its end, the next request is served",
  );
}

/** Checks of broken upstreams and clients that leave, in the order they run. */
export const FAILURE_CHECKS: readonly Check[] = [
  {
    id: "upstream-closes",
    title: "an upstream that closes before it answers",
    dialects: BOTH_DIALECTS,
    run: (context) => checkBrokenAnswer(context, { kind: "close" }),
  },
  {
    id: "upstream-truncates",
    title: "an answer cut off half way",
    dialects: BOTH_DIALECTS,
    run: (context) => checkBrokenAnswer(context, { kind: "truncate" }),
  },
  {
    id: "upstream-garbage",
    title: "status 200 with a body that is not JSON",
    dialects: BOTH_DIALECTS,
    run: (context) => checkBrokenAnswer(context, { kind: "garbage" }),
  },
  {
    id: "stream-truncated",
    title: "a stream whose connection closes midway",
    dialects: BOTH_DIALECTS,
    run: (context) => checkBrokenStream(context, { kind: "truncate", parts: BREAK_AFTER_PARTS }),
  },
  {
    id: "stream-reset",
    title: "a stream whose connection is reset midway",
    dialects: BOTH_DIALECTS,
    run: (context) => checkBrokenStream(context, { kind: "reset", parts: BREAK_AFTER_PARTS }),
  },
  {
    id: "stream-unterminated",
    title: "a stream that ends without its terminator",
    dialects: BOTH_DIALECTS,
    run: (context) => checkBrokenStream(context, { kind: "no-terminator" }),
  },
  {
    id: "stream-error",
    title: "a stream with an error event midway",
    dialects: BOTH_DIALECTS,
    run: (context) => checkBrokenStream(context, { kind: "error-event", parts: BREAK_AFTER_PARTS }),
  },
  { id: "client-leaves", title: "a client that leaves midway", dialects: BOTH_DIALECTS, run: checkDisconnect },
];
