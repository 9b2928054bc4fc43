import { describe, expect, it } from "vitest";

import { ScannerPool } from "./scanner-pool.ts";

const text = (values: number): Uint8Array => Buffer.from(`[${"0,".repeat(values - 1)}0]`);

describe("ScannerPool", () => {
  it("lends a scanner again, with the tape that it has grown", () => {
    const pool = new ScannerPool();
    const scanner = pool.take(0);
    expect(scanner.scan(text(50_000))).not.toBeNull();
    const { tapeBytes } = scanner;
    pool.give(scanner);
    expect([pool.take(0) === scanner, scanner.tapeBytes]).toEqual([true, tapeBytes]);
  });

  it("keeps no more scanners than it was told, and no more than 16 MiB of tapes", () => {
    const few = new ScannerPool(undefined, 2);
    for (const scanner of [few.take(0), few.take(0), few.take(0)]) few.give(scanner);
    expect(few.idleCount).toBe(2);
    const pool = new ScannerPool();
    const large = [pool.take(0), pool.take(0), pool.take(0)];
    for (const scanner of large) scanner.scan(text(500_000));
    expect(large.every(({ tapeBytes }) => tapeBytes > 6 * 1024 * 1024)).toBe(true);
    for (const scanner of large) pool.give(scanner);
    expect(pool.idleCount).toBe(2);
    pool.take(0);
    pool.give(large[2] as (typeof large)[number]);
    expect(pool.idleCount).toBe(2);
  });

  it("gives back a scanner that no longer knows its last text", () => {
    const pool = new ScannerPool();
    const scanner = pool.take(0);
    const document = scanner.scan(text(3));
    pool.give(scanner);
    expect(document?.bytes.length).toBe(0);
  });
});
