import { describe, expect, it } from "vitest";

import type { KeyRecord } from "@dragoman/core";

import { KeyRing } from "./key-ring.ts";

const record = (id: string, more: Partial<KeyRecord> = {}): KeyRecord => ({
  id,
  hash: id.repeat(64),
  owner: "team",
  tags: ["t"],
  models: ["chat"],
  debug: true,
  isTrusted: false,
  limits: [],
  isDisabled: false,
  expiresMs: null,
  ...more,
});

const ring = new KeyRing(
  new Map(
    [record("a"), record("b", { isDisabled: true }), record("c", { expiresMs: 1000 })].map((each) => [each.hash, each]),
  ),
);

describe("KeyRing", () => {
  const rows: readonly {
    readonly name: string;
    readonly hash: string;
    readonly nowMs: number;
    readonly expected: string | null;
  }[] = [
    { name: "a known key", hash: "a".repeat(64), nowMs: 5000, expected: "a" },
    { name: "an unknown key", hash: "d".repeat(64), nowMs: 0, expected: null },
    { name: "a disabled key", hash: "b".repeat(64), nowMs: 0, expected: null },
    { name: "a key before it expires", hash: "c".repeat(64), nowMs: 999, expected: "c" },
    { name: "a key as it expires", hash: "c".repeat(64), nowMs: 1000, expected: null },
    { name: "an upper-case hash", hash: "A".repeat(64), nowMs: 0, expected: null },
    { name: "the name of a built-in member", hash: "__proto__", nowMs: 0, expected: null },
    { name: "nothing", hash: "", nowMs: 0, expected: null },
  ];
  it.each(rows)("answers $expected for $name", ({ hash, nowMs, expected }) => {
    expect(ring.authenticate(hash, nowMs)?.id ?? null).toBe(expected);
  });

  it("tells owner, tags, models and debug of a key", () => {
    expect(ring.authenticate("a".repeat(64), 0)).toMatchObject({
      id: "a",
      owner: "team",
      tags: ["t"],
      models: ["chat"],
      debug: true,
    });
  });
});
