import { createHash } from "node:crypto";

import { describe, expect, it } from "vitest";

import { createNodeRandom } from "../ports/index.ts";
import { createKey, hashKey } from "./create-key.ts";

describe("createKey", () => {
  it("makes keys of 32 base62 characters after the prefix, each another one", () => {
    const random = createNodeRandom();
    const keys = new Set(Array.from({ length: 200 }, () => createKey(random)));
    expect(keys.size).toBe(200);
    for (const key of keys) expect(key).toMatch(/^dgm_[0-9A-Za-z]{32}$/);
  });
});

describe("hashKey", () => {
  it("is the SHA-256 of the key's UTF-8 bytes", () => {
    for (const key of ["dgm_x", "", "ключ"])
      expect(hashKey(key)).toBe(`sha256:${createHash("sha256").update(key, "utf8").digest("hex")}`);
  });
});
