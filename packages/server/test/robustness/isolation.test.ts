// Nothing of one client's traffic reaches another: many clients at once, each with a marker of its own, over upstream sockets that they
// share and that misbehave between them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { RawClient } from "../harness/raw-client.ts";
import type { RawAnswer } from "../harness/raw-client.ts";
import { startBuiltGateway } from "./built-gateway.ts";
import type { BuiltGateway } from "./built-gateway.ts";
import { DIALECTS, post } from "./client-dialect.ts";
import { modelFor, ROUTES, SCRIPTED_MODELS } from "./upstream-rig.ts";
import type { Asked } from "./upstream-rig.ts";

const CLIENTS = 48;
const ROUNDS = 8;

let gateway: BuiltGateway;
beforeAll(async () => {
  gateway = await startBuiltGateway({ models: SCRIPTED_MODELS });
});
afterAll(() => gateway.close());

/** What the upstream does to every other exchange; the ones between are plain. */
const ANOMALIES = [
  "extra-bytes",
  "cut-at-200",
  "garbage-html",
  "reset-after-3",
  "head-two-lengths",
  "error-after-4",
  "head-chunk-extension-nul",
  "cut-after-4",
  "no-finish",
  "trailers",
  "split-7",
  "interim",
  "until-close",
  "head-length-too-short",
  "gzip",
  "html-500",
];

const MARKER = /marker-\d+-\d+-end/g;

/** Deterministic pseudo-random numbers, so that a failure can be run again. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % below;
  };
}

interface Trip {
  readonly asked: Asked;
  readonly marker: string;
}

function planTrips(client: number): readonly Trip[] {
  const random = makeRandom(client + 1);
  return Array.from({ length: ROUNDS }, (_, round) => {
    const marker = `marker-${client}-${round}-end`;
    const dialect = DIALECTS[random(2)]!;
    const faults = random(2) === 0 ? "text" : ANOMALIES[random(ANOMALIES.length)]!;
    return { marker, asked: { dialect, route: ROUTES[random(2)]!, faults, stream: random(2) === 0, text: marker } };
  });
}

/** The text of a stream, which comes in pieces. */
function deltasOf(body: string): string {
  return [...body.matchAll(/"(?:content|text)":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece).join("");
}

/** What is wrong with what came of a trip, or null; `seen` is every byte of it. */
function findWrong({ asked, marker }: Trip, answer: RawAnswer, seen: string): string | null {
  const { dialect, faults, stream } = asked;
  const text = seen + deltasOf(answer.body);
  const foreign = (text.match(MARKER) ?? []).filter((found) => found !== marker);
  if (foreign.length > 0) return `${marker} got ${foreign.join(", ")}`;
  if (text.includes("stolen")) return "bytes behind an answer";
  if (answer.status !== 200) return faults === "text" ? `status ${answer.status} for a plain request` : null;
  if (!stream) return dialect.textOf(answer).includes(marker) ? null : "another text";
  const isClean = dialect.isCleanEnd(answer.body);
  if (isClean === dialect.hasErrorEvent(answer.body)) return "neither a clean end nor an error";
  return !isClean || deltasOf(answer.body).includes(marker) ? null : "a clean end of another text";
}

/** Everything that one client receives, trip by trip, on one connection as long as it lives. */
async function travel(trips: readonly Trip[]): Promise<void> {
  let client: RawClient | null = null;
  let nth = 0;
  for (const { asked, marker } of trips) {
    if (client === null || client.isClosed) {
      client = await RawClient.open(gateway.url);
      nth = 0;
    }
    const { dialect, stream } = asked;
    const start = client.received.length;
    client.send(post(dialect, dialect.body({ model: modelFor(asked), stream, text: marker })));
    nth += 1;
    const answer = await client.answer(nth);
    const seen = client.received.slice(start);
    expect(findWrong({ asked, marker }, answer, seen)).toBeNull();
  }
  client?.destroy();
}

describe("clients side by side", () => {
  it("see their own traffic only, whatever happens on the sockets that they share", async () => {
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => travel(planTrips(client))));
    const { calls } = gateway.upstream;
    expect(calls).toHaveLength(CLIENTS * ROUNDS);
    // Sockets were shared, or the test would say nothing.
    expect(new Set(calls.map(({ connection }) => connection)).size).toBeLessThan(calls.length * 0.8);
    // What every upstream call carried is the request of one client.
    for (const call of calls) expect(new Set(call.body.toString("utf8").match(MARKER)).size).toBe(1);
  });

  it("that pipeline their requests get their answers in order", async () => {
    const client = await RawClient.open(gateway.url);
    const trips = DIALECTS.flatMap((dialect) =>
      ROUTES.flatMap((route) => ["slow-20", "text"].map((faults) => ({ dialect, route, faults, stream: false }))),
    );
    client.send(
      Buffer.concat(
        trips.map((asked, index) =>
          post(asked.dialect, asked.dialect.body({ model: modelFor(asked), text: `marker-0-${index}-end` })),
        ),
      ),
    );
    for (const [index, { dialect }] of trips.entries())
      expect(dialect.textOf(await client.answer(index + 1))).toContain(`marker-0-${index}-end`);
    client.destroy();
  });
});
