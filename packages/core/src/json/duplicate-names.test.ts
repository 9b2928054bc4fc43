import { describe, expect, it } from "vitest";

import { DuplicateNames } from "./duplicate-names.ts";
import { Scanner } from "./scanner.ts";

/** A text whose names all have one hash under a known seed: what an attacker who knows the seed could send. */
function collidingNames(count: number, seed: number): string[] {
  // The hash starts from the seed and takes a byte at a time, so names found to collide in pairs multiply: any sequence of
  // pairs of blocks that lead from one state to one state collides.
  const step = (hash: number, byte: number): number => {
    const mixed = Math.imul(hash ^ byte, 0x5bd1_e995);
    return (mixed << 13) | (mixed >>> 19);
  };
  const blocks = Math.ceil(Math.log2(count));
  let state = seed;
  let names = [""];
  for (let block = 0; block < blocks; block++) {
    const seen = new Map<number, string>();
    let pair: readonly [string, string] | null = null;
    // About 2^16 tries make a pair in 32 bits likely; the bound only keeps a changed hash from hanging the test.
    for (let i = 0; pair === null && i < 2_000_000; i++) {
      const text = Math.imul(i, 0x9e37_79b1 | 0)
        .toString(16)
        .replace("-", "m")
        .padStart(8, "_")
        .slice(-8);
      let hash = state;
      for (let at = 0; at < 8; at++) hash = step(hash, text.charCodeAt(at));
      const other = seen.get(hash);
      if (other !== undefined && other !== text) {
        pair = [other, text];
        state = hash;
      }
      seen.set(hash, text);
    }
    if (pair === null) throw new Error("found no colliding names");
    const [left, right] = pair;
    names = names.flatMap((name) => [name + left, name + right]);
  }
  return names.slice(0, count);
}

describe("DuplicateNames", () => {
  it("takes few steps a name for 20,000 ordinary names", () => {
    const scanner = new Scanner();
    const text = `{${Array.from({ length: 20_000 }, (_, i) => `"unknown_member_${i}":0`).join(",")}}`;
    expect(scanner.scan(Buffer.from(text))).not.toBeNull();
    expect(scanner.nameProbes).toBeGreaterThanOrEqual(20_000);
    expect(scanner.nameProbes).toBeLessThan(60_000);
  });

  it("bounds the steps for names made to collide, and still finds the repeated one", () => {
    const seed = 7;
    const names = collidingNames(4096, seed);
    const scanner = new Scanner({ hashSeed: seed });
    expect(scanner.scan(Buffer.from(`{${names.map((name) => `"${name}":0`).join(",")}}`))).not.toBeNull();
    // The names do collide: the table gave up after its first few, which an ordinary object never makes it do.
    expect(scanner.nameProbes).toBeLessThan(1000);
    const repeated = [...names, names[4000] ?? ""];
    expect(scanner.scan(Buffer.from(`{${repeated.map((name) => `"${name}":0`).join(",")}}`))).toBeNull();
    expect(scanner.error?.code).toBe("json_duplicate_member");
  });

  it("takes few steps a name for names with escapes, lone surrogates included", () => {
    const scanner = new Scanner();
    const names = Array.from({ length: 5000 }, (_, i) => `\\u0061\\ud8${(i % 100) + 10}${i}`);
    expect(scanner.scan(Buffer.from(`{${names.map((name) => `"${name}":0`).join(",")}}`))).not.toBeNull();
    expect(scanner.nameProbes).toBeGreaterThanOrEqual(5000);
    expect(scanner.nameProbes).toBeLessThan(15_000);
  });

  it("starts with no steps taken", () => {
    expect(new DuplicateNames(1).probes).toBe(0);
  });
});
