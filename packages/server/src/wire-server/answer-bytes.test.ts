import { describe, expect, it } from "vitest";

import { AnswerWriter, HttpDate, serializeAnswerHead } from "./answer-bytes.ts";
import type { HeadEnding } from "./answer-bytes.ts";

const ENDING: HeadEnding = { date: "D", framing: "length", contentLength: null, closes: false, keepAliveSeconds: 75 };
const KEPT = "Date: D\r\nConnection: keep-alive\r\nKeep-Alive: timeout=75\r\n\r\n";

describe("the head of an answer", () => {
  it.each([
    { name: "a counted body", ending: { contentLength: 3 }, tail: `content-length: 3\r\n${KEPT}` },
    { name: "a chunked one", ending: { framing: "chunked" as const }, tail: `transfer-encoding: chunked\r\n${KEPT}` },
    { name: "none", ending: { framing: "none" as const }, tail: KEPT },
    { name: "the connection's last", ending: { closes: true }, tail: "Date: D\r\nconnection: close\r\n\r\n" },
  ])("frames $name", ({ ending, tail }) => {
    expect(serializeAnswerHead(200, ["a", "b"], { ...ENDING, ...ending })).toBe(`HTTP/1.1 200 OK\r\na: b\r\n${tail}`);
  });
});

describe("what one turn writes", () => {
  const fill = (size: number): string => {
    const writer = new AnswerWriter();
    writer.addText("HEAD\r\n\r\n");
    writer.addChunk(new Uint8Array(size).fill(120));
    writer.addLastChunk();
    const expected = writer.byteLength;
    const writes = writer.take();
    expect(writer.byteLength).toBe(0);
    const joined = Buffer.concat(writes.map((bytes) => Buffer.from(bytes)));
    expect(joined.length).toBe(expected);
    expect(joined.toString("latin1")).toBe(`HEAD\r\n\r\n${size.toString(16)}\r\n${"x".repeat(size)}\r\n0\r\n\r\n`);
    return writes.length === 1 ? "joined" : "apart";
  };

  it.each([
    { size: 1, shape: "joined" },
    // 4096 with 8 bytes of head, 7 of chunk framing and 5 of last chunk.
    { size: 4096 - 20, shape: "joined" },
    { size: 4096 - 19, shape: "apart" },
    { size: 100_000, shape: "apart" },
  ])("leaves $shape with a chunk of $size bytes", ({ size, shape }) => {
    expect(fill(size)).toBe(shape);
  });
});

describe("the date", () => {
  it("is formatted as RFC 9110 has it and changes with the second", () => {
    const date = new HttpDate();
    expect(date.text(784_111_777_000)).toBe("Sun, 06 Nov 1994 08:49:37 GMT");
    expect(date.text(784_111_777_999)).toBe("Sun, 06 Nov 1994 08:49:37 GMT");
    expect(date.text(784_111_778_000)).toBe("Sun, 06 Nov 1994 08:49:38 GMT");
  });
});
