import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseInPieces } from "./fixtures/parse-in-pieces.ts";
import type { ParsedAnswer } from "./fixtures/parse-in-pieces.ts";
import { fuzzWireParser } from "./wire-parser.fuzz.ts";

const H = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${H}transfer-encoding: chunked\r\n\r\n`;
const LIMITS = { maxHeadBytes: 2048, maxHeaderCount: 8, maxInformational: 3 };

function parse(text: string, cuts: readonly number[] = [], atEnd = false): ParsedAnswer {
  return parseInPieces(Buffer.from(text, "latin1"), cuts, LIMITS, atEnd);
}

/** Every row is read whole, cut once at each position, and byte by byte. */
function expectForEveryCut(text: string, atEnd: boolean, check: (answer: ParsedAnswer) => void): void {
  const whole = parse(text, [], atEnd);
  check(whole);
  for (let cut = 1; cut < text.length; cut += 1) expect(parse(text, [cut], atEnd)).toEqual(whole);
  expect(
    parse(
      text,
      Array.from({ length: text.length }, (_, index) => index),
      atEnd,
    ),
  ).toEqual(whole);
}

describe("accepts", () => {
  const rows: {
    name: string;
    input: string;
    status?: number;
    headers?: string[];
    body?: string;
    rest?: number;
    closes?: boolean;
    fin?: boolean;
  }[] = [
    {
      name: "a body with a length",
      input: `${H}Content-Length: 5\r\n\r\nhello`,
      headers: ["Content-Length", "5"],
      body: "hello",
    },
    { name: "length 0", input: `${H}content-length: 0\r\n\r\n` },
    { name: "a length with leading zeros", input: `${H}content-length: 0003\r\n\r\nabc`, body: "abc" },
    { name: "a missing reason", input: "HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n" },
    { name: "a missing reason without its space", input: "HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n" },
    {
      name: "a reason with obs-text and tabs",
      input: "HTTP/1.1 429 \xe9\tb c\r\ncontent-length: 0\r\n\r\n",
      status: 429,
    },
    {
      name: "white space around a value",
      input: `${H}x: \t a b \t\r\ncontent-length:0\r\n\r\n`,
      headers: ["x", "a b", "content-length", "0"],
    },
    {
      name: "an empty value",
      input: `${H}x:\r\ny: \t\r\ncontent-length: 0\r\n\r\n`,
      headers: ["x", "", "y", "", "content-length", "0"],
    },
    {
      name: "obs-text in a value",
      input: `${H}x: \x80\xff\r\ncontent-length: 0\r\n\r\n`,
      headers: ["x", "\x80\xff", "content-length", "0"],
    },
    {
      name: "repeated other fields",
      input: `${H}a: 1\r\nA: 2\r\ncontent-length: 0\r\n\r\n`,
      headers: ["a", "1", "A", "2", "content-length", "0"],
    },
    {
      name: "chunks in any hexadecimal",
      input: `${CHUNKED}A\r\n0123456789\r\n00b\r\n0123456789a\r\n0\r\n\r\n`,
      body: "01234567890123456789a",
    },
    { name: "Chunked in any case", input: `${H}Transfer-Encoding: CHUNKED\r\n\r\n1\r\nx\r\n0\r\n\r\n`, body: "x" },
    { name: "an empty chunked body", input: `${CHUNKED}0\r\n\r\n` },
    { name: "chunk extensions", input: `${CHUNKED}1;a;b=c;d\r\nx\r\n0;e=f\r\n\r\n`, body: "x" },
    {
      name: "trailers, dropped",
      input: `${CHUNKED}1\r\nx\r\n0\r\nx-sum: 9\r\nx: 7\r\n\r\n`,
      headers: ["transfer-encoding", "chunked"],
      body: "x",
    },
    {
      name: "interim answers before the final one",
      input: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n${H}content-length: 1\r\n\r\ny`,
      body: "y",
    },
    { name: "a 204", input: "HTTP/1.1 204 No Content\r\n\r\n", status: 204 },
    { name: "a 204 with length 0", input: "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n", status: 204 },
    { name: "a 304", input: "HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n", status: 304 },
    {
      name: "a redirect as it is",
      input: "HTTP/1.1 307 T\r\nlocation: http://other/\r\ncontent-length: 0\r\n\r\n",
      status: 307,
    },
    {
      name: "identity as content coding",
      input: `${H}content-encoding: Identity\r\ncontent-length: 1\r\n\r\nx`,
      body: "x",
    },
    {
      name: "connection: close",
      input: `${H}Connection: keep-alive, Close\r\ncontent-length: 1\r\n\r\nx`,
      body: "x",
      closes: true,
    },
    {
      name: "HTTP/1.0 with a length, not kept",
      input: "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\nx",
      body: "x",
      closes: true,
    },
    { name: "a body that the end of input ends", input: `${H}\r\nhello`, body: "hello", closes: true, fin: true },
    { name: "the same in HTTP/1.0", input: "HTTP/1.0 200 OK\r\n\r\nhello", body: "hello", closes: true, fin: true },
    { name: "an empty body that the end of input ends", input: `${H}\r\n`, closes: true, fin: true },
    {
      name: "nothing behind a length",
      input: `${H}content-length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n`,
      body: "x",
      rest: 17,
    },
    { name: "nothing behind the last chunk", input: `${CHUNKED}0\r\n\r\n!`, rest: 1 },
    { name: "nothing behind a 204", input: "HTTP/1.1 204 No Content\r\n\r\nhello", status: 204, rest: 5 },
  ];
  it.each(rows)(
    "$name, for every cut",
    ({ input, status = 200, headers, body = "", rest = 0, closes = false, fin = false }) => {
      expectForEveryCut(input, fin, (answer) => {
        expect(answer).toMatchObject({ status, body, rest, failure: null, isDone: true, isPersistent: !closes });
        expect(answer.headers).toEqual(headers ?? answer.headers);
      });
    },
  );
});

describe("refuses", () => {
  const end = "content-length: 0\r\n\r\n";
  const rows: [string, string, string][] = [
    ["HTTP/0.9", "hello world, this is no head\r\n", "no HTTP/1 status line"],
    ["HTTP/2 frames", "\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80", "no HTTP/1 status line"],
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n", "no HTTP/1 status line"],
    ["a lower-case version", `http/1.1 200 OK\r\n${end}`, "no HTTP/1 status line"],
    ["white space before the status line", `\r\n${H}${end}`, "no HTTP/1 status line"],
    ["HTTP/1.2", `HTTP/1.2 200 OK\r\n${end}`, "version other"],
    ["HTTP/2.0", `HTTP/2.0 200 OK\r\n${end}`, "no HTTP/1 status line"],
    ["HTTP/1.11", `HTTP/1.11 200 OK\r\n${end}`, "version other"],
    ["two spaces before the code", `HTTP/1.1  200 OK\r\n${end}`, "malformed status code"],
    ["a tab before the code", `HTTP/1.1\t200 OK\r\n${end}`, "version other"],
    ["a code of two digits", `HTTP/1.1 20 OK\r\n${end}`, "malformed status code"],
    ["a code of four digits", `HTTP/1.1 2000 OK\r\n${end}`, "malformed status line"],
    ["a code with a letter", `HTTP/1.1 2x0 OK\r\n${end}`, "malformed status code"],
    ["a signed code", `HTTP/1.1 +20 OK\r\n${end}`, "malformed status code"],
    ["code 099", `HTTP/1.1 099 OK\r\n${end}`, "outside 100 to 599"],
    ["code 600", `HTTP/1.1 600 OK\r\n${end}`, "outside 100 to 599"],
    ["a status line cut short", "HTTP/1.1 20\r\n\r\n", "malformed"],
    ["a status line ended by LF", `HTTP/1.1 200 OK\n${end}`, "malformed status line"],
    ["a status line ended by CR", `HTTP/1.1 200 OK\r${end}`, "CR without LF"],
    ["NUL in the reason", `HTTP/1.1 200 O\0K\r\n${end}`, "malformed status line"],
    ["DEL in the reason", `HTTP/1.1 200 O\x7fK\r\n${end}`, "malformed status line"],
    ["a field ended by LF", `${H}a: b\n${end}`, "control character"],
    ["a bare CR in a value", `${H}a: b\rc\r\n${end}`, "CR without LF"],
    ["a head ended by LF", `${H}a: b\r\n\n`, "malformed field name"],
    ["a head ended by CR", `${H}content-length: 1\r\n\rx`, "CR without LF"],
    ["NUL in a value", `${H}a: b\0c\r\n${end}`, "control character"],
    ["ESC in a value", `${H}a: b\x1bc\r\n${end}`, "control character"],
    ["DEL in a value", `${H}a: b\x7fc\r\n${end}`, "control character"],
    ["NUL in a name", `${H}a\0: b\r\n${end}`, "malformed field name"],
    ["obs-text in a name", `${H}a\xe9: b\r\n${end}`, "malformed field name"],
    ["a space before the colon", `${H}a : b\r\n${end}`, "malformed field name"],
    ["a space in a name", `${H}a b: c\r\n${end}`, "malformed field name"],
    ["an empty name", `${H}: b\r\n${end}`, "malformed field name"],
    ["a line without colon", `${H}abc\r\n${end}`, "malformed field name"],
    ["a folded line", `${H}a: b\r\n c\r\n${end}`, "malformed field name"],
    ["a folded first line", `${H} a: b\r\n${end}`, "malformed field name"],
    ["two different lengths", `${H}content-length: 1\r\ncontent-length: 2\r\n\r\nxy`, "two lengths"],
    ["two equal lengths", `${H}content-length: 1\r\nContent-Length: 1\r\n\r\nx`, "two lengths"],
    ["a list of lengths", `${H}content-length: 1, 1\r\n\r\nx`, "malformed length"],
    ["an empty length", `${H}content-length:\r\n\r\nx`, "malformed length"],
    ["a signed length", `${H}content-length: +1\r\n\r\nx`, "malformed length"],
    ["a negative length", `${H}content-length: -1\r\n\r\nx`, "malformed length"],
    ["a hexadecimal length", `${H}content-length: 0x1\r\n\r\nx`, "malformed length"],
    ["a fraction as length", `${H}content-length: 1.0\r\n\r\nx`, "malformed length"],
    ["an enormous length", `${H}content-length: 9999999999999999\r\n\r\nx`, "malformed length"],
    ["length and coding", `${H}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, "both a length"],
    ["coding and length", `${H}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n`, "both a length"],
    ["identity, chunked", `${H}transfer-encoding: identity, chunked\r\n\r\n0\r\n\r\n`, "other than chunked"],
    ["gzip, chunked", `${H}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, "other than chunked"],
    ["identity as coding", `${H}transfer-encoding: identity\r\n\r\nx`, "other than chunked"],
    ["an unknown coding", `${H}transfer-encoding: xchunked\r\n\r\nx`, "other than chunked"],
    ["an empty coding", `${H}transfer-encoding:\r\n\r\nx`, "other than chunked"],
    [
      "two codings",
      `${H}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      "two transfer codings",
    ],
    ["chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "in HTTP/1.0"],
    ["a length among the connection's options", `${H}connection: keep-alive, Content-Length\r\n${end}`, "options"],
    ["a coding among the connection's options", `${H}connection: transfer-encoding\r\n${end}`, "options"],
    ["a length announced as trailer", `${H}trailer: x-a,content-length\r\n${end}`, "announced as trailer"],
    ["gzip", `${H}content-encoding: gzip\r\ncontent-length: 1\r\n\r\nx`, "encoded answer"],
    ["an encoded error", "HTTP/1.1 429 T\r\nContent-Encoding: br\r\ncontent-length: 1\r\n\r\nx", "encoded answer"],
    ["identity and gzip", `${H}content-encoding: identity\r\ncontent-encoding: gzip\r\n${end}`, "encoded answer"],
    ["an unasked 101", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "unasked 101"],
    ["interim answers beyond the bound", `${"HTTP/1.1 102 P\r\n\r\n".repeat(4)}${H}${end}`, "more than 3 interim"],
    [
      "an interim answer with a length",
      `HTTP/1.1 100 C\r\ncontent-length: 1\r\n\r\nx${H}${end}`,
      "interim answer with a body",
    ],
    [
      "an interim answer with chunks",
      `HTTP/1.1 100 C\r\ntransfer-encoding: chunked\r\n\r\n${H}${end}`,
      "interim answer with a body",
    ],
    ["an interim answer in HTTP/1.0", `HTTP/1.0 100 C\r\n\r\n${H}${end}`, "in HTTP/1.0"],
    ["a 204 with a length", "HTTP/1.1 204 N\r\ncontent-length: 1\r\n\r\nx", "a 204 with a body"],
    ["a 204 with chunks", "HTTP/1.1 204 N\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "a 204 with a body"],
    ["a 304 with a length", "HTTP/1.1 304 N\r\ncontent-length: 1\r\n\r\nx", "a 304 with a body"],
    ["a chunk size of no digits", `${CHUNKED}\r\nx\r\n`, "malformed chunk size"],
    ["a signed chunk size", `${CHUNKED}+1\r\nx\r\n0\r\n\r\n`, "malformed chunk size"],
    ["a negative chunk size", `${CHUNKED}-1\r\nx\r\n0\r\n\r\n`, "malformed chunk size"],
    ["a chunk size with 0x", `${CHUNKED}0x1\r\nx\r\n0\r\n\r\n`, "malformed chunk size"],
    ["a chunk size with a space before", `${CHUNKED} 1\r\nx\r\n0\r\n\r\n`, "malformed chunk size"],
    ["a chunk size with a space behind", `${CHUNKED}1 \r\nx\r\n0\r\n\r\n`, "malformed chunk size"],
    ["a chunk size with NUL", `${CHUNKED}1\0\r\nx\r\n0\r\n\r\n`, "malformed chunk size"],
    ["a chunk size of nine digits", `${CHUNKED}000000001\r\nx\r\n0\r\n\r\n`, "more than eight digits"],
    ["a chunk size beyond 2^53", `${CHUNKED}fffffffffffffffff\r\nx\r\n`, "more than eight digits"],
    ["a chunk size ended by LF", `${CHUNKED}1\nx\r\n0\r\n\r\n`, "malformed chunk size"],
    ["a chunk size ended by CR", `${CHUNKED}1\rx\r\n0\r\n\r\n`, "without CRLF"],
    ["an extension ended by LF", `${CHUNKED}1;a\nx\r\n0\r\n\r\n`, "malformed chunk extension"],
    ["an extension with NUL", `${CHUNKED}1;a\0\r\nx\r\n0\r\n\r\n`, "malformed chunk extension"],
    ["an extension with white space", `${CHUNKED}1; a\r\nx\r\n0\r\n\r\n`, "malformed chunk extension"],
    ["an empty extension", `${CHUNKED}1;\r\nx\r\n0\r\n\r\n`, "malformed chunk extension"],
    ["a quoted extension", `${CHUNKED}1;a="b"\r\nx\r\n0\r\n\r\n`, "malformed chunk extension"],
    ["an extension with two equals signs", `${CHUNKED}1;a=b=c\r\nx\r\n0\r\n\r\n`, "malformed chunk extension"],
    ["chunk data ended by LF", `${CHUNKED}1\r\nx\n0\r\n\r\n`, "longer than its size"],
    ["chunk data ended by CR", `${CHUNKED}1\r\nx\r0\r\n\r\n`, "without CRLF"],
    ["chunk data beyond its size", `${CHUNKED}1\r\nxy\r\n0\r\n\r\n`, "longer than its size"],
    ["a trailer ended by LF", `${CHUNKED}0\r\na: b\n\r\n`, "in the trailer"],
    ["a folded trailer", `${CHUNKED}0\r\na: b\r\n c\r\n\r\n`, "in the trailer"],
    ["NUL in a trailer", `${CHUNKED}0\r\na: \0\r\n\r\n`, "in the trailer"],
    ["a length in a trailer", `${CHUNKED}0\r\nContent-Length: 0\r\n\r\n`, "in the trailer, a framing field"],
    ["a coding in a trailer", `${CHUNKED}0\r\ntransfer-encoding: chunked\r\n\r\n`, "in the trailer, a framing field"],
    ["a tab behind a length", `${H}content-length: 5\t\r\n\r\nhello`, "malformed length"],
    ["a tab behind chunked", `${H}transfer-encoding: chunked \t\r\n\r\n0\r\n\r\n`, "other than chunked"],
    ["garbage as trailer", `${CHUNKED}0\r\nxx\r\n`, "in the trailer"],
    ["too many trailers", `${CHUNKED}0\r\n${"a: b\r\n".repeat(9)}\r\n`, "in the trailer"],
  ];
  it.each(rows)("%s, for every cut", (_name, input, reason) => {
    expectForEveryCut(input, false, (answer) => {
      expect(answer.failure).toContain(reason);
      expect(answer.isDone).toBe(false);
    });
  });
});

describe("does not end cleanly when the input ends inside", () => {
  const rows: [string, string][] = [
    ["the status line", "HTTP/1.1 20"],
    ["the head", `${H}content-length: 5\r\n`],
    ["a body with a length", `${H}content-length: 5\r\n\r\nhell`],
    ["a chunk size", `${CHUNKED}1`],
    ["chunk data", `${CHUNKED}5\r\nhell`],
    ["the end of chunk data", `${CHUNKED}5\r\nhello\r`],
    ["the chunks, before the last", `${CHUNKED}5\r\nhello\r\n`],
    ["the last chunk", `${CHUNKED}5\r\nhello\r\n0\r\n`],
    ["the trailer", `${CHUNKED}0\r\na: b\r\n`],
    ["interim answers", "HTTP/1.1 100 Continue\r\n\r\n"],
  ];
  it.each(rows)("%s, for every cut", (_name, input) => {
    expectForEveryCut(input, true, (answer) => expect(answer).toMatchObject({ isDone: false, failure: null }));
  });
});

describe("bounds", () => {
  const filler = (bytes: number): string => `a: ${"x".repeat(bytes - 5)}\r\n`;
  const headOf = (bytes: number): string => {
    const tail = "content-length: 0\r\n\r\n";
    return `${H}${filler(bytes - H.length - tail.length)}${tail}`;
  };
  const rows: [string, string, string | null][] = [
    ["a head at the bound", headOf(2048), null],
    ["a head one byte past the bound", headOf(2049), "more than 2048 bytes"],
    ["an endless field", `${H}a: ${"x".repeat(5000)}`, "more than 2048 bytes"],
    ["an endless reason", `HTTP/1.1 200 ${"x".repeat(5000)}`, "more than 2048 bytes"],
    ["as many fields as allowed", `${H}${"a: b\r\n".repeat(7)}content-length: 0\r\n\r\n`, null],
    ["one field more", `${H}${"a: b\r\n".repeat(8)}content-length: 0\r\n\r\n`, "more than 8 fields"],
    ["as many interim answers as allowed", `${"HTTP/1.1 102 P\r\n\r\n".repeat(3)}${H}content-length: 0\r\n\r\n`, null],
    ["an extension at the bound", `${CHUNKED}1;${"a".repeat(255)}\r\nx\r\n0\r\n\r\n`, null],
    ["an extension one byte past the bound", `${CHUNKED}1;${"a".repeat(256)}\r\nx\r\n0\r\n\r\n`, "beyond its bound"],
    ["an endless trailer", `${CHUNKED}0\r\na: ${"x".repeat(5000)}`, "more than 2048 bytes"],
  ];
  it.each(rows)("%s", (_name, input, reason) => {
    const byteByByte = Array.from({ length: input.length }, (_, index) => index);
    for (const cuts of [[], [1024], [2047], [2048], [2049], byteByByte]) {
      const answer = parse(input, cuts);
      expect(answer.isDone).toBe(reason === null);
      expect(answer.failure ?? "").toContain(reason ?? "");
    }
  });
});

describe("keep-alive announcements", () => {
  const rows: [string, number][] = [
    ["timeout=5", 4000],
    ["timeout=5, max=100", 4000],
    ["max=100, Timeout=60", 59_000],
    ["timeout=1", 0],
    ["timeout=0", -1000],
    ["xtimeout=5", Number.POSITIVE_INFINITY],
    ["timeout=x", Number.POSITIVE_INFINITY],
    ["timeout=99999999999", Number.POSITIVE_INFINITY],
  ];
  it.each(rows)("reads %s as %d ms", (value, keepAliveMs) => {
    expect(parse(`${H}keep-alive: ${value}\r\ncontent-length: 0\r\n\r\n`).keepAliveMs).toBe(keepAliveMs);
  });
});

describe("against node:http's client", () => {
  it("reads what it accepts as node:http does, and accepts nothing that node:http refuses", async () => {
    const outcome = await fuzzWireParser(1, 4000);
    expect(outcome.disagreements).toEqual([]);
    // The inputs are of use only when many are sound and many are not.
    expect(outcome.accepted).toBeGreaterThan(500);
    expect(outcome.runs - outcome.accepted).toBeGreaterThan(500);
  });
});

describe("properties", () => {
  const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
  const value = fc.stringMatching(/^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]{0,20}[\x21-\x7e\x80-\xff])?$/);
  const headers = fc.array(
    fc.tuple(
      token.map((name) => `x-${name}`),
      value,
    ),
    { maxLength: 6 },
  );
  const pieces = fc.array(fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 }), { maxLength: 6 });

  it("reads back any head and any way of chunking for any cuts", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        headers,
        pieces,
        fc.array(fc.nat(600), { maxLength: 12 }),
        (code, fields, parts, cuts) => {
          const status = code === 204 || code === 304 ? 200 : code;
          const lines = fields.map(([name, text]) => `${name}: ${text}\r\n`).join("");
          const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
          const input = `HTTP/1.1 ${status} x\r\n${lines}transfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
          expect(
            parse(
              input,
              cuts.toSorted((a, b) => a - b),
            ),
          ).toMatchObject({
            status,
            headers: [...fields.flat(), "transfer-encoding", "chunked"],
            body: parts.join(""),
            isDone: true,
            failure: null,
            rest: 0,
          });
        },
      ),
    );
  });

  it("gives one verdict on any bytes, however they are cut and however often the receiver halts", () => {
    const alphabet = [
      "HTTP/1.1 ",
      "200",
      "100",
      " OK",
      "\r\n",
      "\r",
      "\n",
      "content-length",
      ": ",
      "3",
      "transfer-encoding",
      "chunked",
      "0",
      "abc",
      ";",
      "=",
      "\0",
      "\r\n\r\n",
    ];
    const text = fc.array(fc.oneof(fc.constantFrom(...alphabet), fc.string({ unit: "binary", maxLength: 3 })), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(
        text,
        fc.constantFrom("", H, CHUNKED),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (parts, start, cuts) => {
          const bytes = Buffer.from(start + parts.join(""), "latin1");
          const whole = parseInPieces(bytes, [], LIMITS, true);
          const cut = parseInPieces(
            bytes,
            cuts.toSorted((a, b) => a - b),
            LIMITS,
            true,
          );
          const halting = parseInPieces(
            bytes,
            cuts.toSorted((a, b) => a - b),
            LIMITS,
            true,
            true,
          );
          expect(cut).toEqual(whole);
          expect(halting).toEqual(cut);
        },
      ),
    );
  });
});
