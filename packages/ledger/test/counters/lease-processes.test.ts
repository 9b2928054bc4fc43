// A worker that is killed while it holds leases: what it had and did not spend comes back once its account is settled, and once only.
import { afterEach, describe, expect, it } from "vitest";

import { LeaseBank, serveLeases, spendsOfEntry, type LedgerEntry } from "../../src/index.ts";
import { TestChild } from "./child-process.ts";
import { channelTo, REAL_CLOCK } from "./lease-wiring.ts";

const children: TestChild[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
});

const isKind =
  <Kind extends string>(kind: Kind) =>
  (message: unknown): message is { readonly kind: Kind } =>
    (message as { readonly kind: string }).kind === kind;
const isEntry = (message: unknown): message is { readonly kind: "entry"; readonly entry: LedgerEntry } =>
  isKind("entry")(message);

const TOKENS = "key\napp\ntokens\n1h";

describe("a worker that is killed", () => {
  it("has its unused lease out until its account is settled, and back once after", async () => {
    const child = new TestChild("holder.ts");
    children.push(child);
    const bank = new LeaseBank({ clock: REAL_CLOCK });
    const { process: worker } = child;
    serveLeases(bank, "worker 1", channelTo(worker));
    await child.next(isKind("ready"));
    worker.send({ kind: "spend", calls: 5 });
    await child.next(isKind("spent"));
    await child.kill();

    // The first call asked for its 100 tokens, and for reserve; none of the five was told of.
    expect(bank.standing(TOKENS)).toEqual({ spent: 0, leased: 1_337 });
    const spends = child.rest(isEntry).flatMap(({ entry }) => spendsOfEntry(entry));
    bank.settle("worker 1", spends);
    expect(bank.standing(TOKENS)).toEqual({ spent: 500, leased: 0 });
    bank.settle("worker 1", spends);
    expect(bank.standing(TOKENS)).toEqual({ spent: 500, leased: 0 });
  });
});
