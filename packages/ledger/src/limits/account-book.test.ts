import { describe, expect, it } from "vitest";

import { AccountBook } from "./account-book.ts";
import { compileLimits, NO_LIMITS, type LimitSet } from "./limit-config.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const DAILY: LimitSet = (() => {
  const reading = compileLimits([{ requests: 5, per: "day" }, { parallel: 5 }]);
  return reading.ok ? reading.limits : NO_LIMITS;
})();
const ONE = { requests: 1, inputTokens: 0, outputTokens: 0, nanoUsd: 0 };

describe("AccountBook", () => {
  it("keeps no account where there is nothing to limit", () => {
    expect(new AccountBook().open("key", "a", NO_LIMITS, NOW)).toBeNull();
  });

  it("keeps the same account as long as its limits, and under changed ones what it spent", () => {
    const book = new AccountBook();
    const account = book.open("key", "a", DAILY, NOW);
    account?.book(ONE, NOW, null);
    expect(book.open("key", "a", { ...DAILY }, NOW)).toBe(account);
    expect(account?.standings(NOW)[0]?.spent).toBe(1);
    expect(book.find("owner", "a")).toBeNull();
  });

  it("forgets idle accounts first, then the oldest in which nothing runs, and never one in which something does", () => {
    const book = new AccountBook(3);
    const open = (id: string): ReturnType<AccountBook["open"]> => book.open("end-user", id, DAILY, NOW);
    open("running")?.takeSlot();
    open("spent")?.book(ONE, NOW, null);
    open("idle");
    open("new-1")?.book(ONE, NOW, null);
    expect([...book.all("end-user")].map(({ id }) => id)).toEqual(["running", "spent", "new-1"]);
    open("new-2")?.takeSlot();
    expect([...book.all("end-user")].map(({ id }) => id)).toEqual(["running", "new-1", "new-2"]);
  });

  it("throws instead of giving back what was never taken", () => {
    const account = new AccountBook().open("key", "a", DAILY, NOW);
    expect(() => account?.returnSlot()).toThrow("more than it holds");
  });
});
