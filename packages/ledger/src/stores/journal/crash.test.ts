// Deaths at every single operation: of a process that writes and books, and of one that recovers what another left.
import { describe, expect, it } from "vitest";

import type { LedgerEntry } from "../../entries/index.ts";
import type { FakeDisk } from "./fixtures/fake-disk.ts";
import type { FakeStore } from "./fixtures/fake-store.ts";
import { GateSink, InnerClient, requestOf } from "./fixtures/gate-rig.ts";
import { entry, hold, JournalRig, LogBook, provisional } from "./fixtures/journal-rig.ts";
import { groupSegments, type SegmentName } from "./segment-names.ts";
import { recoverIncarnation } from "./recovery.ts";

const REQUESTS = 14;
/** Files of two or three requests. */
const SETTINGS = { maxSegmentBytes: 2_000, ingestDelayMs: 10 } as const;

/** What became known outside before the process died. */
interface Outside {
  /** Calls that their upstream has seen. */
  readonly sent: Set<string>;
  /** Entries that were written when their turn was over. */
  readonly kept: Set<string>;
}

/** Runs requests that overlap, some of which stay open, until everything is booked or the disk dies. */
async function runUntilDeath(rig: JournalRig): Promise<Outside> {
  const outside: Outside = { sent: new Set(), kept: new Set() };
  const isDead = (): boolean => rig.disk.operations.length >= rig.disk.crashAt;
  rig.store.onIngest = () => (isDead() ? Promise.reject(new Error("dead")) : Promise.resolve());
  const journal = await rig.open(SETTINGS).catch(() => null);
  if (journal === null) return outside;
  const inner = new InnerClient();
  inner.onSend = ({ id }) => void (isDead() || outside.sent.add(id));
  const gate = journal.gate(inner);
  for (let index = 0; index < REQUESTS && !isDead(); index += 1) {
    const id = `r${index}`;
    journal.recorder.hold(hold(id));
    journal.recorder.attempt(provisional(id));
    gate.send(requestOf(`${id}/1`), new GateSink());
    // Every fifth stays open to the end; the others end three requests later.
    const ended = index - 3;
    const ends = ended >= 0 && ended % 5 !== 0;
    if (ends) journal.recorder.append(entry(`r${ended}`));
    if (ends) journal.recorder.close(`r${ended}`, 0);
    await rig.settle();
    if (ends && !isDead()) outside.kept.add(`r${ended}/1`);
    await rig.settle(10);
  }
  if (!isDead()) await rig.finish(journal.close(), 10);
  return outside;
}

async function recoverAll(rig: JournalRig): Promise<void> {
  const journal = await rig.open(SETTINGS);
  await rig.finish(journal.recovered, 10);
  await rig.finish(journal.close(), 10);
}

describe("a process that dies", () => {
  it("at any operation of its disk leaves exactly one entry for every call that went out, and loses none that was written", async () => {
    let deaths = 0;
    for (let crashAt = 1; ; crashAt += 1) {
      const rig = new JournalRig();
      rig.disk.crashAt = crashAt;
      const { sent, kept } = await runUntilDeath(rig);
      const died = rig.disk.operations.length >= crashAt;
      rig.disk.revive();
      rig.store.onIngest = null;
      rig.processes.dead.add(101);
      await recoverAll(new JournalRig(rig));
      const { entries, offsets } = rig.store;
      for (const id of sent) expect([crashAt, id, entries.has(id)]).toEqual([crashAt, id, true]);
      for (const id of kept) expect([crashAt, id, entries.get(id)?.rule]).toEqual([crashAt, id, "actual"]);
      expect([...rig.disk.stored.keys()]).toEqual([]);
      expect([...offsets]).toEqual([]);
      if (!died) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThan(30);
  });

  it("keeps its disk small while calls stay open, since a file carries them into the next one", async () => {
    const rig = new JournalRig();
    const journal = await rig.open(SETTINGS);
    journal.recorder.attempt(provisional("long"));
    for (let index = 0; index < 100; index += 1) {
      journal.recorder.attempt(provisional(`r${index}`));
      journal.recorder.append(entry(`r${index}`));
      await rig.settle();
      await rig.settle(10);
    }
    expect(journal.status().files).toBeLessThanOrEqual(2);
    expect(rig.disk.stored.size).toBeLessThanOrEqual(2);
    rig.processes.dead.add(101);
    await recoverAll(new JournalRig(rig));
    expect(rig.store.entries.get("long/1")?.rule).toBe("recovered");
    expect(rig.store.entries.size).toBe(101);
  });
});

/** What a process left: several files, of which a part is booked. */
async function leaveFiles(): Promise<{ readonly disk: FakeDisk; readonly store: FakeStore }> {
  const rig = new JournalRig();
  const journal = await rig.open(SETTINGS);
  for (let index = 0; index < 4; index += 1) {
    journal.recorder.attempt(provisional(`booked${index}`));
    if (index > 0) journal.recorder.append(entry(`booked${index}`));
    await rig.settle();
  }
  await rig.settle(10);
  rig.store.isDown = true;
  for (let index = 0; index < 8; index += 1) {
    journal.recorder.hold(hold(`r${index}`));
    if (index % 3 < 2) journal.recorder.attempt(provisional(`r${index}`));
    if (index % 3 < 1) journal.recorder.append(entry(`r${index}`));
    await rig.settle();
  }
  rig.store.isDown = false;
  return rig;
}

interface Left {
  readonly disk: FakeDisk;
  readonly store: FakeStore;
  readonly segments: readonly SegmentName[];
}

async function left(): Promise<Left> {
  const { disk, store } = await leaveFiles();
  disk.operations.length = 0;
  store.calls = 0;
  const [segments] = [...groupSegments(await disk.list()).values()];
  return { disk, store, segments: segments ?? [] };
}

function resultOf({ disk, store }: Left): {
  entries: readonly LedgerEntry[];
  files: readonly string[];
  offsets: number;
} {
  const entries = [...store.entries.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return { entries, files: [...disk.stored.keys()], offsets: store.offsets.size };
}

describe("a recovery that dies", () => {
  const kinds = [
    {
      name: "a call of the store that was not done",
      arm: ({ store }: Left, at: number) => (store.crashAt = at),
      isLastDone: false,
    },
    {
      name: "a call of the store that was done",
      arm: ({ store }: Left, at: number) => (store.crashAt = at),
      isLastDone: true,
    },
    { name: "an operation of the disk", arm: ({ disk }: Left, at: number) => (disk.crashAt = at), isLastDone: false },
  ];
  it.each(kinds)("at $name, whichever it is, changes nothing about the result", async ({ arm, isLastDone }) => {
    const parts = ({ disk, store }: Left) => ({ files: disk, store, logger: new LogBook() });
    const whole = await left();
    expect(whole.segments.length).toBeGreaterThan(2);
    const report = await recoverIncarnation(parts(whole), whole.segments);
    expect(report).toMatchObject({ entries: 3, recovered: 4, releasedHolds: 2, badLines: 0, tornBytes: 0 });
    const expected = resultOf(whole);
    expect(expected).toMatchObject({ files: [], offsets: 0 });
    let deaths = 0;
    for (let at = 1; ; at += 1) {
      const state = await left();
      state.store.isLastDone = isLastDone;
      arm(state, at);
      const died = await recoverIncarnation(parts(state), state.segments).then(
        () => false,
        () => true,
      );
      state.store.revive();
      state.disk.revive();
      // The next run finds what is still there, as a start does.
      const [segments] = [...groupSegments(await state.disk.list()).values()];
      await recoverIncarnation(parts(state), segments ?? []);
      expect([at, resultOf(state)]).toEqual([at, expected]);
      if (!died) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThan(3);
  });
});
