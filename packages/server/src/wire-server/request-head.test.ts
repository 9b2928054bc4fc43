import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { HeadScan, parseRequestHead, skipEmptyLines } from "./request-head.ts";

const scanWhole = (text: string): [string, number] => {
  const scan = new HeadScan();
  return [scan.scan(Buffer.from(text, "latin1"), 0), scan.length];
};

describe("the scan of a head", () => {
  it.each([
    {
      name: "a head and what follows",
      input: "GET / HTTP/1.1\r\nHost: a\r\n\r\nrest",
      verdict: "complete",
      length: 27,
    },
    { name: "a head without fields", input: "GET / HTTP/1.1\r\n\r\n", verdict: "complete", length: 18 },
    { name: "nothing", input: "", verdict: "incomplete", length: 0 },
    { name: "half a field", input: "GET / HTTP/1.1\r\nHos", verdict: "incomplete", length: 19 },
    { name: "half of the empty line", input: "GET / HTTP/1.1\r\n\r", verdict: "incomplete", length: 14 },
  ])("finds the end of $name", ({ input, verdict, length }) => {
    expect(scanWhole(input)).toEqual([verdict, length]);
  });

  it.each(["\n", "\r", "\rx", "\0", "\x01", "\x0b", "\x7f", "\r\n\rx"])(
    "refuses %j before the head is complete",
    (octets) => {
      expect(scanWhole(`GET / HTTP/1.1\r\nA: ${octets}b`)[0]).toBe("malformed");
    },
  );

  it("has the same verdict for every cut of the bytes", () => {
    const piece = fc.constantFrom("GET / HTTP/1.1\r\n", "A: b\r\n", "\r\n", "\r", "\n", "\0", "x", "é", "\t");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.array(fc.nat(40), { maxLength: 6 }), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(""), "latin1");
        const scan = new HeadScan();
        let verdict = "incomplete";
        for (const cut of [...cuts.sort((left, right) => left - right), bytes.length]) {
          if (verdict === "incomplete") verdict = scan.scan(bytes.subarray(0, Math.min(cut, bytes.length)), 0);
        }
        const [whole, length] = scanWhole(bytes.toString("latin1"));
        // Where a refused head was given up does not matter.
        const isRefused = whole === "malformed";
        expect([verdict, isRefused ? 0 : scan.length]).toEqual([whole, isRefused ? 0 : length]);
      }),
    );
  });
});

describe("empty lines before a request", () => {
  it.each([
    { input: "\r\n\r\nGET", offset: 4 },
    { input: "\r\n\rX", offset: 2 },
    { input: "GET", offset: 0 },
    { input: "\n\nGET", offset: 0 },
  ])("are passed over in $input", ({ input, offset }) => {
    expect(skipEmptyLines(Buffer.from(input), 0)).toBe(offset);
  });
});

describe("a complete head", () => {
  it("is taken apart without touching names, values or the target", () => {
    expect(parseRequestHead("POST /v1/x?a=%41 HTTP/1.1\r\nHost: a\r\nX-Y: \t b  c \t\r\nx-y:\r\nZ:é")).toEqual({
      method: "POST",
      target: "/v1/x?a=%41",
      versionMajor: 1,
      versionMinor: 1,
      headers: ["Host", "a", "X-Y", "b  c", "x-y", "", "Z", "é"],
    });
  });

  it.each([
    ["two spaces before the version", "GET /  HTTP/1.1"],
    ["a tab in the request line", "GET\t/ HTTP/1.1"],
    ["no version", "GET /"],
    ["a lower-case method", "get / HTTP/1.1"],
    ["an unknown method", "FETCH / HTTP/1.1"],
    ["a field without colon", "GET / HTTP/1.1\r\nabc"],
    ["a field without colon before one with", "GET / HTTP/1.1\r\nabc\r\nd: e"],
    ["an empty name", "GET / HTTP/1.1\r\n: a"],
    ["a space before the colon", "GET / HTTP/1.1\r\nA : b"],
    ["a folded field", "GET / HTTP/1.1\r\nA: b\r\n c: d"],
    ["a tab behind a transfer coding", "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\t"],
    ["a tab before a length", "GET / HTTP/1.1\r\ncontent-length:\t5"],
    ["a name beyond ASCII", "GET / HTTP/1.1\r\né: b"],
  ])("is refused with %s", (_name, text) => {
    expect(parseRequestHead(text)).toBeNull();
  });
});
