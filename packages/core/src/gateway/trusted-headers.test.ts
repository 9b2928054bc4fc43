import { describe, expect, it } from "vitest";

import { MAX_NAMED_TAGS, readTrustedNames } from "./trusted-headers.ts";

describe("readTrustedNames", () => {
  it.each([
    { headers: [], expected: { endUser: null, tags: [] } },
    { headers: ["x-dragoman-user", " ", "x-dragoman-tags", " , "], expected: { endUser: null, tags: [] } },
    {
      headers: ["X-Dragoman-User", "Ada L. <ada@example.com>", "X-Dragoman-Tags", "batch, eu-1,"],
      expected: { endUser: "Ada L. <ada@example.com>", tags: ["batch", "eu-1"] },
    },
    { headers: ["x-dragoman-user", "u".repeat(256)], expected: { endUser: "u".repeat(256), tags: [] } },
    {
      headers: ["x-dragoman-tags", Array.from({ length: MAX_NAMED_TAGS }, (_, index) => `t${index}`).join(",")],
      expected: { endUser: null, tags: Array.from({ length: MAX_NAMED_TAGS }, (_, index) => `t${index}`) },
    },
  ])("reads $headers", ({ headers, expected }) => {
    expect(readTrustedNames(headers)).toEqual(expected);
  });

  it.each([
    ["x-dragoman-user", "u".repeat(257)],
    ["x-dragoman-user", "Zo\u00eb"],
    ["x-dragoman-user", "a\tb"],
    ["x-dragoman-tags", "a b"],
    ["x-dragoman-tags", "-a"],
    ["x-dragoman-tags", "t,".repeat(MAX_NAMED_TAGS + 1)],
  ])("refuses a %s of %j", (name, value) => {
    const read = readTrustedNames([name, value]);
    expect(read).toMatchObject({ class: "invalid-request", origin: "client" });
    expect(read).toMatchObject({ message: expect.stringContaining(name) as unknown });
  });
});
