// Random schedules of calls, turns, time and faults of the disk. Two laws: no upstream call is out whose attempt is not in a file, and
// after everything every attempt has exactly one entry, but for those that were counted as lost.
import type { UpstreamCall } from "@dragoman/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { FakeDisk } from "./fixtures/fake-disk.ts";
import { FakeStore } from "./fixtures/fake-store.ts";
import { GateSink, InnerClient, requestOf } from "./fixtures/gate-rig.ts";
import { entry, hold, LogBook, ManualTurns, provisional, StillClock } from "./fixtures/journal-rig.ts";
import type { FullPolicy } from "./disk-guard.ts";
import { JournalRecorder } from "./journal-recorder.ts";
import { JournalWriter } from "./journal-writer.ts";
import { recoverIncarnation } from "./recovery.ts";
import { groupSegments } from "./segment-names.ts";
import { UpstreamGate } from "./upstream-gate.ts";

const RETRY_MS = 1_000;

type Step =
  | { readonly kind: "call"; readonly fate: "send" | "send later" | "cancel" | "no call" }
  | { readonly kind: "send" | "turn" | "repair" }
  | { readonly kind: "settle"; readonly which: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "fill"; readonly freeBytes: number }
  | { readonly kind: "break"; readonly code: string }
  | { readonly kind: "narrow"; readonly maxWriteBytes: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      fate: fc.constantFrom("send", "send", "send later", "cancel", "no call"),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("turn" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("send" as const, "repair" as const) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("settle" as const), which: fc.nat(30) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(2 * RETRY_MS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fill" as const), freeBytes: fc.nat(4_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("break" as const), code: fc.constantFrom("EIO", "EROFS", "EDQUOT") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("narrow" as const), maxWriteBytes: fc.integer({ min: 1, max: 700 }) }),
  },
);

class Schedule {
  readonly disk: FakeDisk = new FakeDisk();
  readonly clock: StillClock = new StillClock();
  readonly turns: ManualTurns = new ManualTurns();
  readonly log: LogBook = new LogBook();
  readonly inner: InnerClient = new InnerClient();
  readonly writer: JournalWriter;
  readonly recorder: JournalRecorder;
  readonly gate: UpstreamGate;
  readonly sinks = new Map<string, GateSink>();
  readonly attempts: string[] = [];
  readonly settled = new Set<string>();
  /** Calls that went out without a line. */
  readonly unlawful: string[] = [];
  readonly #calls = new Map<string, UpstreamCall>();
  #unsent: string[] = [];

  constructor(policy: FullPolicy, maxSegmentBytes: number) {
    const { disk, clock, turns, log, inner } = this;
    const settings = { maxSegmentBytes, maxPendingBytes: 5_000, onRotationFailed: () => undefined };
    const writer = new JournalWriter(disk, "m.1.1.i", settings);
    this.writer = writer;
    this.recorder = new JournalRecorder({
      files: disk,
      writer,
      clock,
      policy,
      logger: log,
      turnEnd: turns.turnEnd,
      retryMs: RETRY_MS,
      onWritten: () => undefined,
    });
    this.gate = new UpstreamGate({ inner, turnEnd: turns.turnEnd, logger: log, flush: () => this.recorder.flush() });
    inner.onSend = ({ id }) => {
      if (policy === "refuse" && !attemptsIn(disk).includes(id)) this.unlawful.push(id);
    };
  }

  run(one: Step): void {
    const { disk } = this;
    switch (one.kind) {
      case "call":
        return this.#call(one.fate);
      case "send":
        for (const id of this.#unsent.splice(0)) this.#send(id);
        return;
      case "turn":
        return this.turns.end();
      case "settle":
        return this.#settle(one.which);
      case "wait":
        return this.clock.advance(one.ms);
      case "fill":
        disk.freeBytes = one.freeBytes;
        return;
      case "break":
        disk.writeError = one.code;
        return;
      case "narrow":
        disk.maxWriteBytes = one.maxWriteBytes;
        return;
      case "repair":
        disk.freeBytes = Number.POSITIVE_INFINITY;
        disk.maxWriteBytes = Number.POSITIVE_INFINITY;
        disk.writeError = null;
        return;
    }
  }

  #call(fate: "send" | "send later" | "cancel" | "no call"): void {
    if (this.recorder.refusal() !== null) return;
    const requestId = `r${this.attempts.length}`;
    this.recorder.hold(hold(requestId));
    if (fate === "no call") return this.recorder.close(requestId, 0);
    const id = `${requestId}/1`;
    this.attempts.push(id);
    this.recorder.attempt(provisional(requestId));
    if (fate === "send later") this.#unsent.push(id);
    else {
      this.#send(id);
      if (fate === "cancel") this.#calls.get(id)?.cancel();
    }
  }

  #send(id: string): void {
    const sink = new GateSink();
    this.sinks.set(id, sink);
    this.#calls.set(id, this.gate.send(requestOf(id), sink));
  }

  #settle(which: number): void {
    const id = this.attempts[which];
    if (id === undefined || this.settled.has(id)) return;
    // An engine that settles what was not answered cancels it first, or never sends it.
    this.#calls.get(id)?.cancel();
    this.#unsent = this.#unsent.filter((each) => each !== id);
    this.settled.add(id);
    const requestId = id.slice(0, -2);
    this.recorder.append(entry(requestId));
    this.recorder.close(requestId, 0);
  }
}

function attemptsIn(disk: FakeDisk): readonly string[] {
  return [...disk.text().matchAll(/"k":"attempt","id":"([^"]*)".*\}\n/g)].map(([, id]) => id as string);
}

/** What a start after the process's death makes of its files. */
async function recover({ disk, log }: Schedule): Promise<FakeStore> {
  const store = new FakeStore();
  const [segments] = [...groupSegments(await disk.list()).values()];
  const report = await recoverIncarnation({ files: disk, store, logger: log }, segments ?? []);
  expect(report.badLines).toBe(0);
  return store;
}

describe("the laws of a journal", () => {
  it.each(["refuse", "continue"] as const)("hold under policy %s, whatever the disk does", async (policy) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 120 }),
        fc.boolean(),
        fc.constantFrom(4_000, 1e9),
        async (steps, endsWell, maxSegmentBytes) => {
          const schedule = new Schedule(policy, maxSegmentBytes);
          for (const one of steps) schedule.run(one);
          if (endsWell) schedule.run({ kind: "repair" });
          if (endsWell) schedule.run({ kind: "wait", ms: RETRY_MS });
          schedule.run({ kind: "turn" });
          schedule.run({ kind: "turn" });

          expect(schedule.unlawful).toEqual([]);
          const sent = new Set(schedule.inner.calls.map(({ id }) => id));
          // The inner client of this test never ends a call, so one that went out is neither failed nor released.
          for (const [id, { released, failures }] of schedule.sinks) {
            expect(released).toBe(sent.has(id) ? 0 : 1);
            expect(sent.has(id) && failures.length > 0).toBe(false);
          }

          const store = await recover(schedule);
          const isHurt = (id: string): boolean => {
            const booked = store.entries.get(id);
            // Of a lost entry its attempt may be there, and stands in for it.
            return booked === undefined || (booked.rule === "recovered") === schedule.settled.has(id);
          };
          const hurt = endsWell ? schedule.attempts.filter(isHurt) : [];
          expect(hurt.length).toBe(endsWell ? schedule.writer.dropped.entries : 0);
          const isOpen = (id: string): boolean => sent.has(id) && !schedule.settled.has(id);
          const owed = policy === "refuse" ? schedule.attempts.filter(isOpen) : [];
          expect(owed.filter((id) => !store.entries.has(id))).toEqual([]);
        },
      ),
      { numRuns: 3_000 },
    );
  });
});
