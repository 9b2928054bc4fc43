import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { ERROR_CODES } from "./codes.ts";
import type { ErrorCodeEntry } from "./codes.ts";

const page = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8");
const documented = [...page.matchAll(/^\| `([a-z_0-9]+)` \| (\d{3}) \| (\w+) \| (yes|no) \| (.+) \|$/gm)].map(
  ([, code, status, fault, retryable, summary]) => ({ code, status: Number(status), fault, retryable: retryable === "yes", summary }),
);
const table = Object.entries<ErrorCodeEntry>(ERROR_CODES).map(([code, entry]) => ({ code, ...entry }));

describe("ERROR_CODES", () => {
  it("is the table of docs/errors.md, row by row", () => {
    expect(documented).toEqual(table);
  });

  it.each(table)("gives $code an error status that agrees with its fault", ({ status, fault }) => {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    if (fault === "client") expect(status).toBeLessThan(500);
    if (fault === "gateway" || fault === "host") expect(status).toBeGreaterThanOrEqual(500);
  });
});
