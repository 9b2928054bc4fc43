import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { headerOf, RequestReader } from "./http-reader.ts";

/** What a reader reported, as text, reading on by itself after every request. */
function read(pieces: readonly Buffer[]): string[] {
  const reported: string[] = [];
  let body = "";
  const reader = new RequestReader({
    onHead: (head) => {
      body = "";
      reported.push(`${head.method} ${head.path} ${String(headerOf(head, "X-Test"))}`);
    },
    onBody: (bytes) => {
      body += bytes.toString("latin1");
    },
    onEnd: () => reported.push(`body ${body}`),
    onBroken: (reason) => reported.push(`broken: ${reason}`),
  });
  for (const piece of pieces) {
    reader.push(piece);
    while (reader.isDone) {
      const before = reported.length;
      reader.next();
      if (reported.length === before) break;
    }
  }
  return reported;
}

function cut(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const sorted = [...new Set([0, ...positions.map((each) => each % bytes.length), bytes.length])].toSorted(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

const REQUESTS = Buffer.from(
  "GET /v1/models?x=1 HTTP/1.1\r\nhost: a\r\nx-test: 1\r\n\r\n" +
    "POST /v1/messages HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello" +
    "POST /chat HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\nx-trailer: 1\r\n\r\n" +
    "POST /empty HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
  "latin1",
);

describe("RequestReader", () => {
  it("reports the same requests however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (positions) => {
        expect(read(cut(REQUESTS, positions))).toEqual([
          "GET /v1/models 1",
          "body ",
          "POST /v1/messages null",
          "body hello",
          "POST /chat null",
          "body abc0123456789",
          "POST /empty null",
          "body ",
        ]);
      }),
    );
  });

  it("never throws and reports at most one defect on any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (pieces) => {
        const reported = read(pieces.map((piece) => Buffer.from(piece)));
        expect(reported.filter((line) => line.startsWith("broken")).length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it.each([
    { name: "a request line with two words", wire: "GET /\r\n\r\n", reason: "malformed head" },
    { name: "a line without a colon", wire: "GET / HTTP/1.1\r\nnonsense\r\n\r\n", reason: "malformed head" },
    {
      name: "a negative length",
      wire: "GET / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
      reason: "malformed content-length",
    },
    { name: "a head past the bound", wire: "x".repeat(256 * 1024 + 1), reason: "head too large" },
  ])("is broken by $name", ({ wire, reason }) => {
    expect(read([Buffer.from(wire)])).toEqual([`broken: ${reason}`]);
  });

  it("still waits for more at the bound of the head", () => {
    expect(read([Buffer.alloc(256 * 1024, "x")])).toEqual([]);
  });
});
