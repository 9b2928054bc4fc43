import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { ERROR_CODES } from "./codes.ts";
import type { ErrorCodeEntry } from "./codes.ts";

const page = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8");
const documented = [
  ...page.matchAll(/^\| `([a-z_0-9]+)`\s*\| +(\d{3})\s*\| (\w+)\s*\| (yes|no)\s*\| (.+?)\s*\|$/gm),
].map(([, code, status, fault, retryable, summary]) => ({
  code,
  status: Number(status),
  fault,
  retryable: retryable === "yes",
  summary,
}));
const table = Object.entries<ErrorCodeEntry>(ERROR_CODES).map(([code, entry]) => ({ code, ...entry }));

describe("ERROR_CODES", () => {
  it("is the table of docs/errors.md, row by row", () => {
    expect(documented).toEqual(table);
  });

  it.each(table)("gives $code an error status that agrees with its fault", ({ status, fault }) => {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    const isServerStatus = status >= 500;
    // Only an upstream's fault may show as either: its rate limit is passed on as 429.
    const allowed = { client: [false], gateway: [true], host: [true], upstream: [true, false] }[fault];
    expect(allowed).toContain(isServerStatus);
  });
});
