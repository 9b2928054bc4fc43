import type { UpstreamClient, UpstreamRequest } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { entry, hold, JournalRig, provisional } from "./fixtures/journal-rig.ts";
import type { Journal, JournalDurability } from "./journal.ts";

const REQUEST = {} as UpstreamRequest;

/** One request as an admission records it, up to where it is told to stop. */
function record(
  { recorder }: Journal,
  requestId: string,
  until: "hold" | "attempt" | "entry" | "close" = "close",
): void {
  recorder.hold(hold(requestId));
  if (until === "hold") return;
  recorder.attempt(provisional(requestId));
  if (until === "attempt") return;
  recorder.append(entry(requestId));
  if (until === "entry") return;
  recorder.close(requestId, 0);
}

describe("a journal", () => {
  it("books entries in the store a moment after they were written, with the place they were read from", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    record(journal, "r1");
    record(journal, "r2");
    await rig.settle();
    expect(rig.store.entries.size).toBe(0);
    expect(journal.status().lag.bytes).toBeGreaterThan(0);
    await rig.settle(100);
    expect([...rig.store.entries.values()]).toEqual([entry("r1"), entry("r2")]);
    const files = [...rig.disk.stored].map(([name, { bytes }]) => [name, bytes.byteLength]);
    expect([...rig.store.offsets]).toEqual(files);
    expect(journal.status()).toMatchObject({ bookedEntries: 2, openAttempts: 0, lag: { bytes: 0, ms: 0 } });
  });

  it("writes a reservation down when no attempt of it came in the turn, and its end when none came at all", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    const kinds = (): readonly string[] =>
      [...rig.disk.text().matchAll(/"k":"(\w+)"/g)].map(([, kind]) => kind as string);
    record(journal, "r1");
    record(journal, "r2", "hold");
    journal.recorder.hold(hold("r3"));
    journal.recorder.close("r3", 0);
    await rig.settle();
    expect(kinds()).toEqual(["start", "attempt", "entry", "hold"]);
    journal.recorder.close("r2", 0);
    journal.recorder.hold(hold("r4"));
    await rig.settle();
    journal.recorder.attempt(provisional("r4"));
    journal.recorder.append(entry("r4"));
    journal.recorder.close("r4", 0);
    await rig.settle();
    expect(kinds().slice(4)).toEqual(["close", "hold", "attempt", "entry"]);
  });

  it("leaves no file, progress or timer when it is closed with nothing open", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    record(journal, "r1");
    await rig.finish(journal.close());
    expect(rig.store.entries.size).toBe(1);
    expect([...rig.disk.stored.keys()]).toEqual([]);
    expect([...rig.store.offsets]).toEqual([]);
    expect(rig.clock.pending).toBe(0);
    expect(rig.log.messages("error")).toEqual([]);
  });

  it("books, after its process died, every entry and every open attempt once, and releases what had no attempt", async () => {
    const rig = new JournalRig();
    const first = await rig.open();
    record(first, "booked");
    await rig.settle();
    await rig.settle(100);
    record(first, "written");
    record(first, "open", "attempt");
    record(first, "only held", "hold");
    first.flush();
    rig.processes.dead.add(101);
    const next = new JournalRig(rig);
    const second = await next.open();
    const reports = await next.finish(second.recovered, 1);
    expect(reports).toMatchObject([{ entries: 1, recovered: 1, releasedHolds: 1, badLines: 0, tornBytes: 0 }]);
    expect([...rig.store.entries.values()]).toEqual([entry("booked"), entry("written"), provisional("open")]);
    expect([...rig.disk.stored.keys()]).toEqual([`${second.status().incarnation}-000001.journal`]);
    expect([...rig.store.offsets]).toEqual([]);
  });

  it("leaves the files of a process that lives alone, and books them once it is dead", async () => {
    const rig = new JournalRig();
    record(await rig.open(), "r1", "attempt");
    await rig.settle();
    const next = new JournalRig(rig);
    const second = await next.open();
    expect(await next.finish(second.recovered, 1)).toEqual([]);
    await next.settle(60_000);
    expect(rig.store.entries.size).toBe(0);
    expect(rig.disk.stored.size).toBe(2);
    rig.processes.dead.add(101);
    await next.settle(5_000);
    await next.settle(1);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1"]);
    expect(rig.disk.stored.size).toBe(1);
  });

  it("judges a process of another container by how long its file has been silent", async () => {
    const rig = new JournalRig();
    record(await rig.open(), "r1");
    await rig.settle();
    const next = new JournalRig(rig);
    rig.disk.nowMs += 10_000;
    const second = await next.open({ folder: { path: "/data", processes: rig.processes.next("other machine") } });
    expect(await next.finish(second.recovered, 1)).toEqual([]);
    rig.disk.nowMs += 10_000;
    await next.settle(5_000);
    await next.settle(1);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1"]);
  });

  const durabilities: readonly { readonly durability: JournalDurability; readonly hasSeal: boolean }[] = [
    { durability: "journal", hasSeal: false },
    { durability: "strict", hasSeal: true },
    { durability: "store", hasSeal: true },
  ];
  it.each(durabilities)("with durability $durability has a seal: $hasSeal", async ({ durability, hasSeal }) => {
    const rig = new JournalRig();
    const { recorder } = await rig.open({ durability });
    expect(recorder.seal !== null).toBe(hasSeal);
  });

  it("with durability strict seals with one sync for all answers of a turn", async () => {
    const rig = new JournalRig();
    const journal = await rig.open({ durability: "strict" });
    for (const id of ["r1", "r2", "r3"]) record(journal, id);
    const seals = Array.from({ length: 3 }, () => journal.recorder.seal!());
    expect(await rig.finish(Promise.all(seals))).toEqual([true, true, true]);
    expect(rig.disk.syncs).toBe(1);
  });

  it("with durability store seals when the entries are booked, and lets nothing in while the store is down", async () => {
    const rig = new JournalRig();
    const journal = await rig.open({ durability: "store" });
    record(journal, "r1");
    expect(await rig.finish(journal.recorder.seal!())).toBe(true);
    expect(rig.store.entries.size).toBe(1);
    rig.store.isDown = true;
    record(journal, "r2");
    const seal = journal.recorder.seal!();
    await rig.settle();
    expect(journal.recorder.refusal()?.error).toMatchObject({ code: "ledger_unavailable", status: 503 });
    rig.store.isDown = false;
    expect(await rig.finish(seal, 100)).toBe(true);
    expect(journal.recorder.refusal()).toBeNull();
  });

  it("with durability store gives a seal up when the store takes too long", async () => {
    const rig = new JournalRig();
    const journal = await rig.open({ durability: "store", sealTimeoutMs: 700 });
    rig.store.isDown = true;
    record(journal, "r1");
    expect(await rig.finish(journal.recorder.seal!(), 100)).toBe(false);
  });

  it("sends upstream calls of a turn after one write of all its lines", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    const sent: string[] = [];
    const inner: UpstreamClient = {
      send: () => {
        sent.push(rig.disk.text());
        return { pause: () => undefined, resume: () => undefined, cancel: () => undefined };
      },
      close: () => Promise.resolve(),
    };
    const gate = journal.gate(inner);
    const sink = {} as Parameters<UpstreamClient["send"]>[1];
    for (const id of ["r1", "r2"]) {
      record(journal, id, "attempt");
      gate.send(REQUEST, sink);
    }
    const before = rig.disk.operations.length;
    await rig.settle();
    expect(rig.disk.operations.length - before).toBe(1);
    expect(sent.map((text) => [text.includes('"r1/1"'), text.includes('"r2/1"')])).toEqual([
      [true, true],
      [true, true],
    ]);
  });
});
