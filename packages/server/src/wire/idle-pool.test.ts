import { describe, expect, it } from "vitest";

import { IdlePool } from "./idle-pool.ts";
import type { IdleConnection } from "./idle-pool.ts";

class FakeConnection implements IdleConnection {
  readonly poolKey: string;
  readonly idleUntilMs: number;
  isUsable = true;
  discards = 0;

  constructor(poolKey: string, idleUntilMs: number) {
    this.poolKey = poolKey;
    this.idleUntilMs = idleUntilMs;
  }

  discard(): void {
    this.discards += 1;
  }
}

const LONG_MS = 1_000_000;

describe("IdlePool", () => {
  it("gives the most recently parked connection of the same origin", () => {
    const pool = new IdlePool<FakeConnection>(8, LONG_MS);
    const [first, second, other] = [
      new FakeConnection("a", 100),
      new FakeConnection("a", 100),
      new FakeConnection("b", 100),
    ];
    for (const each of [first, second, other]) expect(pool.park(each)).toBe(true);
    expect([pool.take("a", 0), pool.take("a", 0), pool.take("a", 0), pool.take("c", 0)]).toEqual([
      second,
      first,
      null,
      null,
    ]);
    expect(pool.size).toBe(1);
    pool.clear();
  });

  it("discards what is past its deadline or unusable instead of giving it", () => {
    const pool = new IdlePool<FakeConnection>(8, LONG_MS);
    const [good, late, dead] = [
      new FakeConnection("a", 100),
      new FakeConnection("a", 50),
      new FakeConnection("a", 100),
    ];
    for (const each of [good, late, dead]) pool.park(each);
    dead.isUsable = false;
    expect(pool.take("a", 50)).toBe(good);
    expect([good.discards, late.discards, dead.discards]).toEqual([0, 1, 1]);
    expect(pool.size).toBe(0);
    pool.clear();
  });

  it("takes as many as the bound per origin and no more", () => {
    const pool = new IdlePool<FakeConnection>(2, LONG_MS);
    const park = (key: string): boolean => pool.park(new FakeConnection(key, 100));
    expect([park("a"), park("a"), park("a"), park("b")]).toEqual([true, true, false, true]);
    expect(pool.size).toBe(3);
    pool.clear();
    expect(pool.size).toBe(0);
  });

  it("sweeps what is past its deadline and keeps the rest", () => {
    const pool = new IdlePool<FakeConnection>(8, LONG_MS);
    const connections = [10, 30, 20].map((untilMs) => new FakeConnection("a", untilMs));
    for (const each of connections) pool.park(each);
    pool.sweep(20);
    expect(connections.map((each) => each.discards)).toEqual([1, 0, 1]);
    expect(pool.size).toBe(1);
    pool.clear();
    expect(connections.map((each) => each.discards)).toEqual([1, 1, 1]);
  });

  it("forgets a removed connection, and ignores one that it does not hold", () => {
    const pool = new IdlePool<FakeConnection>(8, LONG_MS);
    const [kept, removed] = [new FakeConnection("a", 100), new FakeConnection("a", 100)];
    pool.park(kept);
    pool.park(removed);
    pool.remove(removed);
    pool.remove(removed);
    pool.remove(new FakeConnection("b", 100));
    expect(pool.size).toBe(1);
    expect(pool.take("a", 0)).toBe(kept);
    pool.clear();
  });
});
