import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { checkRequestHead } from "./strict-request.ts";
import type { RequestHead } from "./strict-request.ts";

const HEAD: RequestHead = {
  method: "POST",
  versionMajor: 1,
  versionMinor: 1,
  target: "/v1/x?q",
  headers: ["Host", "a"],
};
const check = (change: Partial<RequestHead>): ReturnType<typeof checkRequestHead> =>
  checkRequestHead({ ...HEAD, ...change }, 200);

describe("checkRequestHead", () => {
  it("returns path, query, length and expectation of a head that it serves", () => {
    expect(check({ headers: ["Host", "a", "content-LENGTH", "007", "Expect", "100-Continue"] })).toEqual({
      ok: true,
      path: "/v1/x",
      query: "q",
      contentLength: 7,
      hasBody: true,
      expectsContinue: true,
    });
  });

  it.each([
    {
      name: "HTTP/1.0 has an expectation",
      change: { versionMinor: 0, headers: ["Expect", "100-continue", "Content-Length", "1"] },
      hasBody: true,
    },
    {
      name: "there is no body to wait for",
      change: { headers: ["Host", "a", "Expect", "100-continue", "Content-Length", "0"] },
      hasBody: false,
    },
  ])("owes no 100 Continue when $name", ({ change, hasBody }) => {
    expect(check(change)).toMatchObject({ ok: true, hasBody, expectsContinue: false });
  });

  it.each([
    { name: "a value holds CR", headers: ["Host", "a", "X", "a\rb"], status: 400 },
    { name: "a value holds LF", headers: ["Host", "a", "X", "a\nb"], status: 400 },
    { name: "a value holds NUL", headers: ["Host", "a", "X", "\0"], status: 400 },
    { name: "a value holds more than a byte a character", headers: ["Host", "a", "X", "\u0100"], status: 400 },
    { name: "a length has sixteen digits", headers: ["Host", "a", "Content-Length", "1".repeat(16)], status: 400 },
    {
      name: "two expectations are named",
      headers: ["Host", "a", "Expect", "100-continue", "Expect", "100-continue"],
      status: 417,
    },
    { name: "there are 201 fields", headers: Array.from({ length: 201 }, () => ["Host", "a"]).flat(), status: 431 },
  ])("refuses with $status when $name", ({ headers, status }) => {
    expect(check({ headers })).toMatchObject({ ok: false, status });
  });

  it.each([
    [0, 9],
    [1, 2],
    [2, 0],
    [3, 0],
  ])("refuses version %i.%i", (versionMajor, versionMinor) => {
    expect(check({ versionMajor, versionMinor })).toMatchObject({ ok: false, status: 400 });
  });

  it("refuses CONNECT although its target is a path", () => {
    expect(check({ method: "CONNECT" })).toMatchObject({ ok: false, status: 400 });
  });

  it("never serves both a length and a coding, more than one of either, or other than one Host", () => {
    const field = fc.constantFrom(
      ["Host", "a"],
      ["hOST", "b"],
      ["Content-Length", "5"],
      ["content-length", "0"],
      ["Transfer-Encoding", "chunked"],
      ["TRANSFER-ENCODING", "gzip"],
      ["X", "y"],
    );
    fc.assert(
      fc.property(fc.array(field, { maxLength: 6 }), fc.constantFrom(0, 1), (fields, versionMinor) => {
        const count = (name: string): number => fields.filter(([each]) => each?.toLowerCase() === name).length;
        const [hosts, lengths, codings] = [count("host"), count("content-length"), count("transfer-encoding")];
        const hasOddCoding = fields.some(([, value]) => value === "gzip");
        const isServed =
          (hosts === 1 || (hosts === 0 && versionMinor === 0)) &&
          lengths + codings <= 1 &&
          !hasOddCoding &&
          (codings === 0 || versionMinor === 1);
        expect(check({ versionMinor, headers: fields.flat() }).ok).toBe(isServed);
      }),
    );
  });
});
