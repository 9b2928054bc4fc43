// What a ledger's tickets write down, and in which order.
import type { AdmissionRefusal } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import type { LedgerEntry, LedgerRecorder, RecordedHold } from "../entries/index.ts";
import { call, FakeLedger, MONDAY_MS, principal, TARGET, used } from "./fixtures/fake-ledger.ts";
import type { LimitsConfig } from "./limit-directory.ts";

type Line =
  | { readonly kind: "hold"; readonly hold: RecordedHold }
  | { readonly kind: "attempt" | "entry"; readonly entry: LedgerEntry }
  | { readonly kind: "close"; readonly requestId: string; readonly atMs: number };

class FakeRecorder implements LedgerRecorder {
  readonly lines: Line[] = [];
  full: AdmissionRefusal | null = null;
  readonly seal: (() => Promise<boolean>) | null;

  constructor(seal: (() => Promise<boolean>) | null = null) {
    this.seal = seal;
  }

  refusal(): AdmissionRefusal | null {
    return this.full;
  }

  hold(hold: RecordedHold): void {
    this.lines.push({ kind: "hold", hold });
  }

  attempt(entry: LedgerEntry): void {
    this.lines.push({ kind: "attempt", entry });
  }

  append(entry: LedgerEntry): void {
    this.lines.push({ kind: "entry", entry });
  }

  close(requestId: string, atMs: number): void {
    this.lines.push({ kind: "close", requestId, atMs });
  }

  get kinds(): readonly string[] {
    return this.lines.map(({ kind }) => kind);
  }
}

function recorded(limits: LimitsConfig = {}): { readonly ledger: FakeLedger; readonly recorder: FakeRecorder } {
  const recorder = new FakeRecorder();
  return { recorder, ledger: new FakeLedger(limits, { sink: recorder }) };
}

const FULL: AdmissionRefusal = {
  error: {
    class: "overloaded",
    origin: "gateway",
    code: "ledger_unavailable",
    message: "The disk is full.",
    retrySame: true,
    fallback: false,
  },
};

describe("a ledger with a recorder", () => {
  it("writes hold, each attempt before its entry, and close", () => {
    const { ledger, recorder } = recorded();
    const ticket = ledger.open(principal({ tags: ["blue"] }));
    expect(ticket?.hold(call(70, { endUser: "eve", maxOutputTokens: 30 }))).toBeNull();
    expect(ticket?.attempt("d", TARGET)).toBeNull();
    ticket?.settle(ledger.settlement({ rule: "failed_free" }));
    expect(ticket?.attempt("e", TARGET)).toBeNull();
    ticket?.settle(ledger.settlement({ usage: used(40), deploymentId: "e" }));
    ledger.nowMs += 5;
    ticket?.close();
    expect(recorder.kinds).toEqual(["hold", "attempt", "entry", "attempt", "entry", "close"]);
    expect(recorder.lines[0]).toEqual({
      kind: "hold",
      hold: {
        requestId: "req_1",
        atMs: MONDAY_MS,
        key: "app",
        owner: "team",
        endUser: "eve",
        model: "chat",
        held: { requests: 0, inputTokens: 70, outputTokens: 30, nanoUsd: 100_000 },
      },
    });
    expect(recorder.lines.at(-1)).toEqual({ kind: "close", requestId: "req_1", atMs: MONDAY_MS + 5 });
  });

  it("charges the provisional entry by the whole reservation, under the id of the real one", () => {
    const { ledger, recorder } = recorded();
    const ticket = ledger.open();
    expect(ticket?.hold(call(70, { maxOutputTokens: 30 })) ?? ticket?.attempt("d", TARGET)).toBeNull();
    expect(recorder.lines[1]).toMatchObject({
      kind: "attempt",
      entry: {
        id: "req_1/1",
        rule: "recovered",
        usageSource: "estimate",
        usage: { input: 70, output: 30 },
        costNanoUsd: 100_000,
        overdrawnNanoUsd: 0,
        deployment: "d",
        startedMs: MONDAY_MS,
      },
    });
    ticket?.settle(ledger.settlement({ usage: used(1) }));
    expect(recorder.lines[2]).toMatchObject({ kind: "entry", entry: { id: "req_1/1", rule: "actual" } });
    ticket?.close();
  });

  it("settles an attempt that nobody settled before it writes the close", () => {
    const { ledger, recorder } = recorded();
    const ticket = ledger.open();
    expect(ticket?.hold(call(7)) ?? ticket?.attempt("d", TARGET)).toBeNull();
    ticket?.close();
    expect(recorder.kinds).toEqual(["hold", "attempt", "entry", "close"]);
  });

  it.each<{
    readonly name: string;
    readonly limits: LimitsConfig;
    readonly kinds: readonly string[];
  }>([
    { name: "a hold that is refused", limits: { keys: { app: [{ requests: 0, per: "day" }] } }, kinds: [] },
    {
      name: "an attempt that is refused",
      limits: { deployments: { d: [{ requests: 0, per: "day" }] } },
      kinds: ["hold", "close"],
    },
  ])("writes no attempt after $name", ({ limits, kinds }) => {
    const { ledger, recorder } = recorded(limits);
    expect(ledger.run(1)).toBe("rate_limited");
    expect(recorder.kinds).toEqual(kinds);
  });

  it("writes nothing of a call that no slot is free for", () => {
    const { ledger, recorder } = recorded({ keys: { app: [{ parallel: 1 }] } });
    const running = ledger.open();
    expect(ledger.run(1)).toBe("not opened");
    running?.close();
    expect(recorder.kinds).toEqual([]);
  });

  it("lets nobody in while the recorder can keep nothing, and takes no slot of theirs", () => {
    const { ledger, recorder } = recorded({ keys: { app: [{ parallel: 1 }] } });
    recorder.full = FULL;
    expect(ledger.admission.open(principal(), { requestId: "r", startedMs: 0 })).toEqual({ ok: false, refusal: FULL });
    expect(ledger.admission.running("key", "app")).toBe(0);
    recorder.full = null;
    expect(ledger.open()).not.toBeNull();
    expect(recorder.kinds).toEqual([]);
  });

  it("hands the recorder's seal to every ticket, and none where nothing seals", async () => {
    const seal = async (): Promise<boolean> => false;
    const sealed = new FakeLedger({}, { sink: new FakeRecorder(seal) }).open();
    await expect(sealed?.seal?.()).resolves.toBe(false);
    expect(new FakeLedger().open()?.seal).toBeNull();
    expect(recorded().ledger.open()?.seal).toBeNull();
  });
});
