// What a journal does while entries cannot be booked.
import { describe, expect, it } from "vitest";

import { entry, JournalRig, provisional } from "./fixtures/journal-rig.ts";
import { JOURNAL_FORMAT } from "./line-json.ts";

describe("a journal whose store is down", () => {
  it("lets calls go on, loses nothing, tells by its status, and logs the beginning and the end", async () => {
    const rig = new JournalRig();
    const journal = await rig.open({ maxBackoffMs: 2_000 });
    rig.store.isDown = true;
    for (let index = 0; index < 20; index += 1) {
      journal.recorder.append(entry(`r${index}`));
      await rig.settle();
      await rig.settle(1_000);
      expect(journal.recorder.refusal()).toBeNull();
    }
    expect(journal.status().isStoreUp).toBe(false);
    const { lag } = journal.status();
    expect(lag.bytes).toBeGreaterThan(20 * 400);
    expect(lag.ms).toBe(20_000);
    rig.store.isDown = false;
    await rig.settle(2_000);
    expect(journal.status()).toMatchObject({ isStoreUp: true, lag: { bytes: 0, ms: 0 }, bookedEntries: 20 });
    expect(rig.store.entries.size).toBe(20);
    expect(rig.log.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      "error: Entries cannot be booked in the store; they wait in the journal.",
      "info: Entries are booked in the store again.",
    ]);
  });

  it("backs off between tries up to the bound, with the jitter it is given", async () => {
    const rig = new JournalRig();
    const journal = await rig.open({ maxBackoffMs: 1_000 });
    rig.store.isDown = true;
    journal.recorder.append(entry("r1"));
    await rig.settle();
    const tries: number[] = [];
    let before = 0;
    for (let ms = 0; ms < 3_000; ms += 50) {
      await rig.settle(50);
      if (rig.store.calls > before) tries.push(ms + 50);
      before = rig.store.calls;
    }
    // Half of 200, 400, 800, then of 1,000 each time.
    expect(tries).toEqual([100, 200, 400, 800, 1_300, 1_800, 2_300, 2_800]);
  });

  it("recovers what was left once the store is there, in the background", async () => {
    const rig = new JournalRig();
    const first = await rig.open();
    first.recorder.attempt(provisional("r1"));
    await rig.settle();
    rig.processes.dead.add(101);
    rig.store.isDown = true;
    const next = new JournalRig(rig);
    const second = await next.open();
    second.recorder.append(entry("r2"));
    await next.settle();
    await next.settle(10_000);
    expect(second.status().isStoreUp).toBe(false);
    rig.store.isDown = false;
    expect(await next.finish(second.recovered, 1_000)).toMatchObject([{ recovered: 1 }]);
    await next.settle(100);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1", "r2/1"]);
  });

  it("closes in time, and leaves its files to the next start", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    rig.store.isDown = true;
    journal.recorder.append(entry("r1"));
    await rig.finish(journal.close(), 100);
    expect(rig.log.messages("warn")).toEqual(["The journal is closed with entries that the next start will book."]);
    rig.store.isDown = false;
    rig.processes.dead.add(101);
    const next = new JournalRig(rig);
    await next.finish((await next.open()).recovered, 1);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1"]);
  });

  it("closes in time also when the store never answers", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    rig.store.onIngest = () => new Promise(() => undefined);
    journal.recorder.append(entry("r1"));
    await rig.settle();
    await rig.settle(100);
    await rig.finish(journal.close(5_000), 1_000);
    expect(rig.disk.stored.size).toBe(1);
  });
});

describe("a journal's files", () => {
  it("are booked in batches, between which others have their turn", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    for (let index = 0; index < 2_000; index += 1) journal.recorder.append(entry(`r${index}`));
    await rig.settle();
    await rig.settle(100);
    expect(rig.store.entries.size).toBe(2_000);
    expect(Math.max(...rig.store.batches)).toBeLessThanOrEqual(300);
    expect(rig.store.batches.length).toBeGreaterThan(3);
  });

  it("hold up nothing behind an entry that no store can keep, which is logged whole", async () => {
    const rig = new JournalRig();
    rig.store.unkeepable = "r2/1";
    const journal = await rig.open();
    for (const id of ["r1", "r2", "r3"]) journal.recorder.append(entry(id));
    await rig.settle();
    await rig.settle(100);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1", "r3/1"]);
    expect(journal.status()).toMatchObject({ isStoreUp: true, bookedEntries: 2, refusedEntries: 1, lag: { bytes: 0 } });
    expect([...rig.store.offsets.values()]).toEqual([...rig.disk.stored.values()].map(({ bytes }) => bytes.byteLength));
    expect(rig.log.lines).toMatchObject([{ level: "error", fields: { entry: entry("r2") } }]);
  });

  it("report a line that cannot be read with its place, and the lines around it are booked", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    for (const id of ["r1", "r2", "r3"]) journal.recorder.append(entry(id));
    await rig.settle();
    const [[name, stored]] = [...rig.disk.stored] as unknown as [[string, { bytes: Buffer }]];
    const at = stored.bytes.indexOf("r2/1");
    stored.bytes[at] = 0x78;
    await rig.settle(100);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1", "r3/1"]);
    expect(journal.status().badLines).toBe(1);
    const offset = stored.bytes.lastIndexOf("\n", at) + 1;
    expect(rig.log.lines[0]).toMatchObject({ level: "error", fields: { file: name, offset, reason: "checksum" } });
  });

  it("of a dead process are recovered around a line that cannot be read, whichever it is", async () => {
    const template = new JournalRig();
    const first = await template.open();
    for (const id of ["r1", "r2", "r3"]) {
      first.recorder.attempt(provisional(id));
      if (id !== "r2") first.recorder.append(entry(id));
    }
    await template.settle();
    const [[name, { bytes }]] = [...template.disk.stored] as unknown as [[string, { bytes: Buffer }]];
    const lines = bytes.toString("latin1").trimEnd().split("\n");
    for (const [broken, line] of lines.entries()) {
      const rig = new JournalRig();
      rig.processes.dead.add(101);
      const text = `${lines.with(broken, line.slice(0, -1)).join("\n")}\n`;
      rig.disk.stored.set(name, { bytes: Buffer.from(text), modifiedMs: 0 });
      // The dead one had the first id.
      rig.processes.next();
      const journal = await rig.open();
      const [report] = await rig.finish(journal.recovered, 1);
      expect(report).toMatchObject({ badLines: 1 });
      // Of a broken entry its attempt stands in for it; of a broken attempt its entry; only an open attempt can be lost.
      const isOpenAttempt = line.includes('"attempt","id":"r2/1"');
      expect([...rig.store.entries.keys()].toSorted()).toEqual(
        isOpenAttempt ? ["r1/1", "r3/1"] : ["r1/1", "r2/1", "r3/1"],
      );
    }
  });

  it("keep an attempt for recovery also when the first line, and nothing else but attempts, is there", async () => {
    const rig = new JournalRig();
    const first = await rig.open();
    first.recorder.attempt(provisional("r1"));
    await rig.settle();
    const [stored] = [...rig.disk.stored.values()];
    stored?.bytes.write("x", 0);
    rig.processes.dead.add(101);
    const next = new JournalRig(rig);
    await next.finish((await next.open()).recovered, 1);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1"]);
  });

  it("that were begun and given up say nothing", async () => {
    const rig = new JournalRig();
    const first = await rig.open();
    first.recorder.attempt(provisional("r1"));
    await rig.settle();
    const [[name, { bytes }]] = [...rig.disk.stored] as unknown as [[string, { bytes: Buffer }]];
    const attempt = bytes.subarray(bytes.indexOf("\n") + 1);
    rig.disk.stored.set(name.replace("-000001", "-000002"), { bytes: attempt, modifiedMs: 0 });
    first.recorder.append(entry("r1"));
    await rig.settle();
    rig.processes.dead.add(101);
    const next = new JournalRig(rig);
    const [report] = await next.finish((await next.open()).recovered, 1);
    expect(report).toMatchObject({ entries: 1, recovered: 0 });
    expect(rig.disk.stored.size).toBe(1);
  });

  it("of a later format stay where they are, and are named in the log once", async () => {
    const rig = new JournalRig();
    const first = await rig.open();
    first.recorder.append(entry("r1"));
    await rig.settle();
    const { crc32 } = await import("node:zlib");
    const json = `{"k":"start","format":${JOURNAL_FORMAT + 1}}`;
    const [name] = [...rig.disk.stored.keys()] as [string];
    const line = `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
    rig.disk.stored.set(name, { bytes: Buffer.from(line), modifiedMs: 0 });
    rig.processes.dead.add(101);
    const next = new JournalRig(rig);
    const second = await next.open();
    expect(await next.finish(second.recovered, 1)).toEqual([]);
    expect(await next.finish(second.recoverIncarnation(first.status().incarnation), 1)).toBeNull();
    await next.settle(60_000);
    expect(rig.disk.stored.has(name)).toBe(true);
    expect(next.log.messages("error")).toEqual(["A journal that its process left cannot be booked and stays."]);
  });

  it("that cannot be removed when they are recovered are tried again, though some of them are gone", async () => {
    const rig = new JournalRig();
    const first = await rig.open({ maxSegmentBytes: 1_000 });
    rig.store.isDown = true;
    for (const id of ["r1", "r2", "r3"]) {
      first.recorder.append(entry(id));
      await rig.settle();
    }
    rig.store.isDown = false;
    rig.processes.dead.add(101);
    const next = new JournalRig(rig);
    let removals = 0;
    rig.disk.onRemove = () => {
      removals += 1;
      if (removals === 2) throw new Error("busy");
    };
    const second = await next.open();
    await next.finish(second.recovered, 100);
    expect([...rig.disk.stored.keys()]).toEqual([`${second.status().incarnation}-000001.journal`]);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1", "r2/1", "r3/1"]);
  });

  it("that cannot be removed when they are booked are left to the next start, with a warning", async () => {
    const rig = new JournalRig();
    const journal = await rig.open({ maxSegmentBytes: 1_000 });
    rig.disk.onRemove = () => {
      throw new Error("busy");
    };
    journal.recorder.append(entry("r1"));
    journal.recorder.append(entry("r2"));
    await rig.settle();
    await rig.settle(100);
    journal.recorder.append(entry("r3"));
    await rig.settle();
    await rig.settle(100);
    expect(rig.store.entries.size).toBe(3);
    expect(journal.status()).toMatchObject({ isStoreUp: true });
    expect(rig.log.messages("warn")).toContain("A booked journal file could not be removed; the next start will.");
  });

  it("of another incarnation are recovered on demand, once", async () => {
    const rig = new JournalRig();
    const worker = await rig.open({ recovers: false });
    worker.recorder.attempt(provisional("r1"));
    await rig.settle();
    const primary = new JournalRig(rig);
    const journal = await primary.open();
    expect(await primary.finish(journal.recovered, 1)).toEqual([]);
    const { incarnation } = worker.status();
    const both = [journal.recoverIncarnation(incarnation), journal.recoverIncarnation(incarnation)];
    const [one, other] = await primary.finish(Promise.all(both), 1);
    expect(one).toMatchObject({ incarnation, recovered: 1 });
    expect(other).toBe(one);
    await primary.finish(journal.close(), 1);
    expect(await journal.recoverIncarnation("gone")).toBeNull();
  });
});
