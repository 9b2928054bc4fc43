import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { captureModelId, fillGlob, isModelAllowed, isModelId, matchGlob } from "./glob.ts";

describe("matchGlob", () => {
  const rows: readonly { readonly glob: string; readonly name: string; readonly expected: string | null }[] = [
    { glob: "chat", name: "chat", expected: "" },
    { glob: "chat", name: "chats", expected: null },
    { glob: "*", name: "anything", expected: "anything" },
    { glob: "*", name: "", expected: "" },
    { glob: "large-*", name: "large-2", expected: "2" },
    { glob: "large-*", name: "large-", expected: "" },
    { glob: "large-*", name: "large", expected: null },
    { glob: "*-mini", name: "large-mini", expected: "large" },
    { glob: "a*a", name: "a", expected: null },
    { glob: "a*a", name: "aa", expected: "" },
    { glob: "a*b", name: "axxb", expected: "xx" },
    { glob: "vendor/*", name: "vendor/a/b", expected: "a/b" },
  ];
  it.each(rows)("matches $name against $glob as $expected", ({ glob, name, expected }) => {
    expect(matchGlob(glob, name)).toBe(expected);
  });

  it("finds the text that was put in the place of the star", () => {
    const piece = fc.stringMatching(/^[a-z/-]{0,5}$/);
    fc.assert(
      fc.property(piece, piece, piece, (head, text, tail) => {
        const glob = `${head}*${tail}`;
        expect(matchGlob(glob, fillGlob(glob, text))).toBe(text);
      }),
    );
  });
});

describe("captureModelId", () => {
  const rows: readonly { readonly glob: string; readonly name: string; readonly expected: string | null }[] = [
    { glob: "vendor/*", name: "vendor/large-2", expected: "large-2" },
    { glob: "vendor/*", name: "vendor/org/large:free@1_0.b", expected: "org/large:free@1_0.b" },
    { glob: "vendor/*", name: "vendor/", expected: null },
    { glob: "vendor/*", name: "vendor//large", expected: null },
    { glob: "vendor/*", name: "vendor/large/", expected: null },
    { glob: "vendor/*", name: "vendor/../secret", expected: null },
    { glob: "vendor/*", name: "vendor/a..b", expected: null },
    { glob: "vendor/*", name: "vendor/./large", expected: null },
    { glob: "vendor/*", name: "vendor/large?key=1", expected: null },
    { glob: "vendor/*", name: "vendor/large#x", expected: null },
    { glob: "vendor/*", name: "vendor/large x", expected: null },
    { glob: "vendor/*", name: "vendor/large\r\nx", expected: null },
    { glob: "vendor/*", name: "vendor/large%2f", expected: null },
    { glob: "vendor/*", name: "vendor/lärge", expected: null },
    { glob: "*", name: "a".repeat(256), expected: "a".repeat(256) },
    { glob: "*", name: "a".repeat(257), expected: null },
  ];
  it.each(rows)("takes $expected from $name", ({ glob, name, expected }) => {
    expect(captureModelId(glob, name)).toBe(expected);
  });

  it("lets nothing through that is no model id, for any name", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const captured = captureModelId("v/*", `v/${text}`);
        expect(captured).toBe(isModelId(text) ? text : null);
        expect(captured ?? "x").toMatch(/^[A-Za-z0-9._:@/-]+$/);
      }),
    );
  });
});

describe("isModelAllowed", () => {
  const rows: readonly { readonly allowed: readonly string[]; readonly name: string; readonly expected: boolean }[] = [
    { allowed: ["*"], name: "chat", expected: true },
    { allowed: [], name: "chat", expected: false },
    { allowed: ["chat"], name: "chat", expected: true },
    { allowed: ["chat"], name: "chatter", expected: false },
    { allowed: ["large-*", "chat"], name: "chat", expected: true },
    { allowed: ["large-*"], name: "small-1", expected: false },
  ];
  it.each(rows)("says $expected for $name with $allowed", ({ allowed, name, expected }) => {
    expect(isModelAllowed(allowed, name)).toBe(expected);
  });
});
