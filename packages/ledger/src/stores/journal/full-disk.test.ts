// What a journal does while its lines cannot be written, as the engine and an operator see it.
import { describe, expect, it } from "vitest";

import { GateSink, InnerClient, requestOf } from "./fixtures/gate-rig.ts";
import { entry, hold, JournalRig, provisional } from "./fixtures/journal-rig.ts";

const CODES = ["ENOSPC", "EIO", "EDQUOT", "EROFS"] as const;

describe("a journal that cannot be written", () => {
  it.each(CODES)(
    "on %s under policy refuse lets nothing in, keeps what runs, and goes on when there is room",
    async (code) => {
      const rig = new JournalRig();
      const journal = await rig.open();
      const { recorder } = journal;
      const inner = new InnerClient();
      const gate = journal.gate(inner);
      recorder.attempt(provisional("running"));
      await rig.settle();

      rig.disk.writeError = code;
      recorder.hold(hold("new"));
      recorder.attempt(provisional("new"));
      const sink = new GateSink();
      gate.send(requestOf("new/1"), sink);
      await rig.settle();
      expect(inner.calls).toEqual([]);
      expect(sink).toMatchObject({ released: 1, failures: [{ kind: "connect", hasResponse: false }] });
      expect(recorder.refusal()?.error).toMatchObject({ code: "ledger_unavailable", status: 503, origin: "gateway" });
      expect(journal.flush()).toBe(false);
      expect(journal.status().failingSinceMs).toBe(rig.clock.nowMs());

      recorder.append(entry("running"));
      recorder.append(entry("new", { rule: "failed_free" }));
      await rig.settle(5_000);
      expect(recorder.refusal()).not.toBeNull();
      rig.disk.writeError = null;
      await rig.settle(1_000);
      expect(recorder.refusal()).toBeNull();
      expect(journal.status()).toMatchObject({ failingSinceMs: null, dropped: { entries: 0, others: 0 } });
      await rig.settle(100);
      expect([...rig.store.entries.values()].map(({ id, rule }) => `${id} ${rule}`)).toEqual([
        "running/1 actual",
        "new/1 failed_free",
      ]);
      expect(rig.log.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
        "error: The journal cannot be written: no call is let in until it can.",
        "warn: The journal can be written again.",
      ]);
      expect(rig.log.lines[0]?.fields).toMatchObject({ code, policy: "refuse" });
    },
  );

  it("under policy continue lets calls in and out, and says what it lost", async () => {
    const rig = new JournalRig();
    const journal = await rig.open({ onFull: "continue", maxPendingBytes: 0 });
    const inner = new InnerClient();
    const gate = journal.gate(inner);
    rig.disk.freeBytes = 100;
    const calls = 2_000;
    for (let index = 0; index < calls; index += 1) {
      const id = `r${index}`;
      expect(journal.recorder.refusal()).toBeNull();
      journal.recorder.attempt(provisional(id));
      gate.send(requestOf(`${id}/1`), new GateSink());
      await rig.settle();
      journal.recorder.append(entry(id));
    }
    expect(inner.calls.length).toBe(calls);
    const { dropped } = journal.status();
    expect(dropped.entries).toBeGreaterThan(0);
    rig.disk.freeBytes = Number.POSITIVE_INFINITY;
    await rig.settle(1_000);
    for (let round = 0; round < 30; round += 1) await rig.settle(100);
    expect(rig.store.entries.size).toBe(calls - dropped.entries);
    expect(rig.log.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      "error: The journal cannot be written: calls go on, and what memory has no room for is lost.",
      "warn: The journal can be written again.",
    ]);
    expect(rig.log.lines[1]?.fields).toMatchObject(dropped);
  });

  it("stays closed until there is room for more than a line", async () => {
    const rig = new JournalRig();
    const { recorder } = await rig.open();
    rig.disk.freeBytes = 10;
    recorder.append(entry("r1"));
    await rig.settle();
    rig.disk.freeBytes = 60_000;
    await rig.settle(10_000);
    expect(recorder.refusal()).not.toBeNull();
    rig.disk.freeBytes = 70_000;
    await rig.settle(1_000);
    expect(recorder.refusal()).toBeNull();
  });

  it("goes on in the middle of the line at which room ended", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    rig.disk.freeBytes = 300;
    for (const id of ["r1", "r2"]) journal.recorder.append(entry(id));
    await rig.settle();
    await rig.settle(500);
    expect(rig.store.entries.size).toBe(0);
    rig.disk.freeBytes = Number.POSITIVE_INFINITY;
    await rig.settle(1_000);
    await rig.settle(100);
    expect([...rig.store.entries.keys()]).toEqual(["r1/1", "r2/1"]);
    expect(journal.status().badLines).toBe(0);
  });

  it("uses a file on when there is no room for the next one, says so, and changes over later", async () => {
    const rig = new JournalRig();
    const journal = await rig.open({ maxSegmentBytes: 2_000 });
    rig.disk.createError = "ENOSPC";
    for (let index = 0; index < 5; index += 1) {
      journal.recorder.append(entry(`r${index}`));
      await rig.settle();
    }
    expect(journal.recorder.refusal()).toBeNull();
    expect(rig.log.messages("warn")[0]).toContain("A new journal file could not be made");
    rig.disk.createError = null;
    journal.recorder.append(entry("r5"));
    await rig.settle();
    await rig.settle(100);
    expect(rig.store.entries.size).toBe(6);
    expect([...rig.disk.stored.keys()]).not.toContain(`${journal.status().incarnation}-000001.journal`);
  });

  it("with durability strict seals nothing whose sync failed, and goes on in a file that is sound", async () => {
    const rig = new JournalRig();
    const { recorder } = await rig.open({ durability: "strict" });
    recorder.append(entry("r1"));
    rig.disk.syncError = "EIO";
    expect(await rig.finish(recorder.seal!())).toBe(false);
    expect(recorder.refusal()).not.toBeNull();
    rig.disk.syncError = null;
    await rig.settle(1_000);
    expect(recorder.refusal()).toBeNull();
    recorder.append(entry("r2"));
    expect(await rig.finish(recorder.seal!())).toBe(true);
    const last = [...rig.disk.stored.values()].at(-1);
    expect(last?.bytes.toString("latin1")).toContain('"id":"r2/1"');
    expect(last?.bytes.toString("latin1")).not.toContain('"id":"r1/1"');
  });

  it.each([
    { onFull: "refuse", expected: false },
    { onFull: "continue", expected: true },
  ] as const)(
    "with durability strict and policy $onFull answers a seal that cannot be kept with $expected",
    async ({ onFull, expected }) => {
      const rig = new JournalRig();
      const { recorder } = await rig.open({ durability: "strict", onFull });
      rig.disk.writeError = "ENOSPC";
      recorder.append(entry("r1"));
      expect(await rig.finish(recorder.seal!())).toBe(expected);
    },
  );

  it("tells at once when its first file cannot be made", async () => {
    const rig = new JournalRig();
    rig.disk.writeError = "EROFS";
    await expect(rig.open()).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining('The journal in "/data/journal" cannot be opened: EROFS') as string,
    });
  });

  it("leaves a file with what it could not write to the next start when it is closed", async () => {
    const rig = new JournalRig();
    const journal = await rig.open();
    journal.recorder.attempt(provisional("r1"));
    await rig.settle();
    rig.disk.writeError = "EIO";
    journal.recorder.append(entry("r1"));
    await rig.finish(journal.close(), 100);
    expect(journal.flush()).toBe(false);
    rig.disk.writeError = null;
    rig.processes.dead.add(101);
    const next = new JournalRig(rig);
    const second = await next.open();
    await next.finish(second.recovered, 1);
    expect(rig.store.entries.get("r1/1")?.rule).toBe("recovered");
  });
});
