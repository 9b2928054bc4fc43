// Answers cut in every way: the events are the same, and a broken answer never looks complete.
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { AnswerReader } from "./answer-reader.ts";
import { SseWatch } from "./sse-watch.ts";

interface Seen {
  readonly statuses: number[];
  body: string;
  readonly ends: boolean[];
  broken: number;
}

function read(pieces: readonly string[], isClosed = false): Seen {
  const seen: Seen = { statuses: [], body: "", ends: [], broken: 0 };
  const reader = new AnswerReader({
    onStatus: (status) => void seen.statuses.push(status),
    onBody: (bytes) => {
      seen.body += bytes.toString("latin1");
    },
    onEnd: (isReusable) => void seen.ends.push(isReusable),
    onBroken: () => {
      seen.broken += 1;
    },
  });
  for (const piece of pieces) reader.feed(Buffer.from(piece, "latin1"));
  if (isClosed) reader.close();
  return seen;
}

const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}';
const CHUNKED =
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nt: 1\r\n\r\n";
const EMPTY = "HTTP/1.1 204 No Content\r\n\r\n";
const INTERIM = "HTTP/1.1 100 Continue\r\n\r\n";
const LAST = "HTTP/1.1 429 Too Many\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";

describe("answers", () => {
  it.each([
    { name: "by length", text: LENGTH, expected: { statuses: [200], body: '{"a":1}', ends: [true] } },
    {
      name: "by chunks with extension and trailer",
      text: CHUNKED,
      expected: { statuses: [200], body: "abc0123456789", ends: [true] },
    },
    { name: "without content", text: EMPTY, expected: { statuses: [204], body: "", ends: [true] } },
    {
      name: "after an interim one",
      text: INTERIM + LENGTH,
      expected: { statuses: [200], body: '{"a":1}', ends: [true] },
    },
    { name: "that ends the connection", text: LAST, expected: { statuses: [429], body: "{}", ends: [false] } },
    {
      name: "one after the other",
      text: LENGTH + CHUNKED,
      expected: { statuses: [200, 200], body: '{"a":1}abc0123456789', ends: [true, true] },
    },
  ])("$name, cut anywhere", ({ text, expected }) => {
    for (let at = 0; at <= text.length; at += 1) {
      expect(read([text.slice(0, at), text.slice(at)])).toEqual({ ...expected, broken: 0 });
    }
    expect(read(text.split(""))).toEqual({ ...expected, broken: 0 });
  });

  it("until the connection closes", () => {
    const text = "HTTP/1.1 200 OK\r\n\r\nrest";
    expect(read([text])).toMatchObject({ body: "rest", ends: [], broken: 0 });
    expect(read([text], true)).toMatchObject({ body: "rest", ends: [false], broken: 0 });
  });

  it.each([
    { name: "not HTTP", text: "SSH-2.0-x\r\n\r\n" },
    { name: "a chunk size that is no number", text: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n" },
    { name: "an endless chunk line", text: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${"1".repeat(5000)}` },
  ])("break on $name", ({ text }) => {
    expect(read([text])).toMatchObject({ ends: [], broken: 1 });
  });

  it("are broken when the connection closes at any point inside", () => {
    for (const text of [LENGTH, CHUNKED]) {
      for (let at = 1; at < text.length; at += 1) {
        expect(read([text.slice(0, at)], true)).toMatchObject({ ends: [], broken: 1 });
      }
    }
  });
});

const STREAM = [
  'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n',
  'data: {"choices":[{"delta":{"content":"one"}}]}\r\n\r\n',
  ": comment\n\n",
  'data: {"choices":[{"delta":{"content": " two"}}]}\n\n',
  'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"three"}}\n\n',
  'data: {"type":"response.output_text.delta","delta":"four"}\n\n',
  "data: [DONE]\n\n",
].join("");

describe("streams", () => {
  it("yield the same content events however they are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: STREAM.length }), { maxLength: 12 }), (cuts) => {
        const points = [0, ...cuts.toSorted((left, right) => left - right), STREAM.length];
        let events = 0;
        const watch = new SseWatch(() => {
          events += 1;
        });
        points.slice(1).forEach((end, index) => watch.feed(Buffer.from(STREAM.slice(points[index], end))));
        expect(events).toBe(4);
        expect(watch.isTerminated).toBe(true);
      }),
    );
  });

  it.each([
    { name: "without terminator", text: STREAM.replace("data: [DONE]\n\n", "") },
    { name: "cut inside the terminator", text: STREAM.slice(0, -3) },
  ])("$name are not terminated", ({ text }) => {
    const watch = new SseWatch(() => undefined);
    watch.feed(Buffer.from(text));
    expect(watch.isTerminated).toBe(false);
  });
});
