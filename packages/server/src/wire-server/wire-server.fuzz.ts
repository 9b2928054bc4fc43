// Differential fuzz of the front end over plain sockets against the one over node:http (llhttp and the strict checks): whatever ours
// hands to the engine, node:http's hands over too, in the same order and read alike. Deterministic by seed; run as a program it is
// time-boxed: `npx tsx packages/server/src/wire-server/wire-server.fuzz.ts [seconds] [seed]` prints each disagreement, then exits with 1.

import { METHODS } from "node:http";
import type { Server } from "node:net";
import { Duplex } from "node:stream";

import { BodyPool } from "@dragoman/core";
import type { ClientRequest, Responder } from "@dragoman/core";

import { createHttpServer } from "../http/http-server.ts";
import type { HttpServerOptions } from "../http/http-server.ts";
import { makeRandom, mutate, pick, runAsProgram } from "../wire/fixtures/differential-fuzz.ts";
import type { Disagreement, NextRandom } from "../wire/fixtures/differential-fuzz.ts";
import { createWireServer } from "./wire-server.ts";

/** How a run went. `served` requests were served by both; `stricter` = cases in which ours served fewer. */
export interface FuzzOutcome {
  readonly runs: number;
  readonly served: number;
  readonly stricter: number;
  readonly disagreements: readonly Disagreement[];
}

/** `unread` paths are answered without a look at their body, `late` ones after other input has come. */
const LINES = [
  "GET /v1/models HTTP/1.1",
  "POST /v1/chat?a=%41 HTTP/1.1",
  "POST /x HTTP/1.1",
  "POST /old HTTP/1.0",
  "HEAD /x HTTP/1.1",
  "OPTIONS /x HTTP/1.1",
  "POST /unread HTTP/1.1",
  "POST /late HTTP/1.1",
  "GET /late HTTP/1.1",
  "CONNECT /x HTTP/1.1",
];
/** What a request line may have instead of a plain path (RFC 9112 §3.2), and what some proxies make of it. */
const TARGETS = ["/x", "*", "a:443", "http://a/x", "//a/x", "/x#f", "/x?a=b?c", "/%2e%2e/x", "/x%00", "/x y", "/\x80"];
const FIELDS = [
  "Host: a",
  "Host: a",
  "host:\ta:80 ",
  "X-A:  b ",
  "x-b:",
  "Connection: close",
  "Connection: keep-alive",
  "x-c: \t\x80\xff",
  "Expect: 100-continue",
  "Expect: x",
  "Upgrade: h2c",
  "Connection: upgrade\r\nUpgrade: h2c",
  "Upgrade: websocket",
  "Connection: x, close, upgrade",
  "Proxy-Connection: keep-alive",
  "Trailer: x-sum",
  "TE: trailers",
];
const BODIES = [
  ["", ""],
  ["Content-Length: 5", "hello"],
  ["Content-Length: 0", ""],
  ["content-length: 005", "hello"],
  ["Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"],
  ["transfer-encoding: chunked", "1\r\nh\r\n004;a=b\r\nello\r\n0\r\nx-sum: 1\r\n\r\n"],
  ["Transfer-Encoding: chunked", "A;a=b;c\r\n0123456789\r\n0\r\n\r\n"],
  ["Transfer-Encoding: chunked", "5\r\nhello\r\n0;last\r\nContent-Length: 9\r\n\r\n"],
  ["Transfer-Encoding: chunked", '5;a="b"\r\nhello\r\n0\r\nx-a: 1\r\nx-b:\r\n\r\n'],
  ["Transfer-Encoding: chunked", "00000005\r\nhello\r\n000\r\n\r\n"],
  ["Transfer-Encoding:chunked ", "5\r\nhello\r\n0\r\n\r\n"],
  ["Content-Length:  40 ", "GET /hidden HTTP/1.1\r\nHost: a\r\nX-A: b\r\n\r\n"],
] as const;
const SPICE = [
  "\r",
  "\n",
  "\r\n",
  "\0",
  " ",
  "\t",
  ":",
  ";",
  "=",
  ",",
  "0",
  "-",
  "+",
  "x",
  "\x7f",
  "\x80",
  '"',
  "chunked",
  "Content-Length: 5\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Host: b\r\n",
  "\r\n ",
  "0\r\n\r\n",
  "GET /h HTTP/1.1\r\nHost: a\r\n\r\n",
  " HTTP/1.1\r\n",
  "#",
  "%",
  "/..",
  "//",
];

/** One to three mostly sound requests with up to four mutations. */
function makeInput(random: NextRandom): string {
  let text = "";
  for (let count = 1 + random(3); count > 0; count -= 1) {
    const [framing, body] = pick(random, BODIES);
    const lines = ["Host: a", ...Array.from({ length: random(3) }, () => pick(random, FIELDS))];
    if (random(8) === 0) lines.shift();
    if (framing !== "") lines.splice(random(lines.length + 1), 0, framing);
    const line =
      random(6) === 0 ? `${pick(random, METHODS)} ${pick(random, TARGETS)} HTTP/1.${random(2)}` : pick(random, LINES);
    text += `${line}\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n${body}`;
  }
  return mutate(random, text, SPICE);
}

function makePieces(random: NextRandom, bytes: Buffer): readonly Buffer[] {
  const density = random(3);
  const cuts = Array.from({ length: density === 0 ? 0 : density === 1 ? random(6) : 60 }, () =>
    random(bytes.length + 1),
  );
  const edges = [0, ...cuts.sort((left, right) => left - right), bytes.length];
  return edges
    .slice(1)
    .map((edge, index) => bytes.subarray(edges[index], edge))
    .filter((piece) => piece.length > 0);
}

/** A connection in memory: what both servers ask of a socket. */
class MemorySocket extends Duplex {
  override _read(): void {
    // Bytes come from the test.
  }

  override _write(_chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    done();
  }

  setTimeout(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  destroySoon(): void {
    this.end();
  }
}

interface Served {
  readonly head: string;
  /** The body, or why there is none; null while it is incomplete. */
  body: string | null;
  isWhole: boolean;
}

/** What reaches an engine that answers 200. */
async function serve(
  create: (options: HttpServerOptions) => { readonly server: Server },
  pieces: readonly Buffer[],
): Promise<readonly Served[]> {
  const served: Served[] = [];
  const { server } = create({
    handle: (request, responder) => {
      const entry: Served = {
        head: JSON.stringify([request.method, request.path, request.query, request.headers]),
        body: null,
        isWhole: false,
      };
      served.push(entry);
      void answer(request, responder, entry);
    },
    encodeRefusal: () => ({ headers: [], body: Buffer.from("refused") }),
    pool: new BodyPool({ maxPooledBytes: 100_000, poison: true }),
    schedule: () => ({ cancel: () => undefined }),
  });
  const socket = new MemorySocket();
  server.emit("connection", socket);
  for (const piece of pieces) {
    if (!socket.destroyed) socket.push(Buffer.from(piece));
    await turn();
  }
  for (let quiet = 0; quiet < 12; quiet += 1) await turn();
  socket.destroy();
  await turn();
  return served;
}

async function answer(request: ClientRequest, responder: Responder, entry: Served): Promise<void> {
  if (request.path === "/unread") {
    responder.head(200, []);
    responder.end(Buffer.from("ok"), false);
    return;
  }
  if (request.path === "/late") await turn();
  const reading = await request.readBody(1000);
  if (reading.ok) {
    entry.body = Buffer.from(reading.body.bytes).toString("latin1");
    entry.isWhole = true;
    reading.body.release();
  } else entry.body = reading.reason;
  responder.head(reading.ok ? 200 : 400, []);
  responder.end(Buffer.from("ok"), !reading.ok);
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * Garbage behind a request may cost it its body, or its turn, in node:http, which parses a whole chunk before it tells of its parts.
 * So a request that ours serves and theirs does not is given to both without what follows it: the shortest input, cut as before, that
 * brings it.
 */
async function checkAlone(pieces: readonly Buffer[], index: number, isWhole: boolean): Promise<Difference | null> {
  let tooShort = 0;
  let enough = pieces.reduce((sum, piece) => sum + piece.length, 0);
  while (enough - tooShort > 1) {
    const middle = (tooShort + enough) >> 1;
    const served = await serve(createWireServer, takeBytes(pieces, middle));
    const entry = served[index];
    if (entry !== undefined && (entry.isWhole || !isWhole)) enough = middle;
    else tooShort = middle;
  }
  const alone = takeBytes(pieces, enough);
  return findDifference(await serve(createWireServer, alone), await serve(createHttpServer, alone));
}

function takeBytes(pieces: readonly Buffer[], count: number): readonly Buffer[] {
  let left = count;
  return pieces.flatMap((piece) => {
    const taken = piece.subarray(0, left);
    left -= taken.length;
    return taken.length === 0 ? [] : [taken];
  });
}

interface Difference {
  readonly index: number;
  readonly ours: string;
  readonly theirs: string;
}

/** The first request that ours serves and theirs does not, or reads in another way; null without one. */
function findDifference(ours: readonly Served[], theirs: readonly Served[]): Difference | null {
  for (const [index, mine] of ours.entries()) {
    const other = theirs[index];
    const isAlike =
      other !== undefined && other.head === mine.head && (!mine.isWhole || (other.isWhole && other.body === mine.body));
    if (!isAlike) return { index, ours: JSON.stringify(mine), theirs: JSON.stringify(other ?? null) };
  }
  return null;
}

/** Runs `runs` cases from `seed` on. */
export async function fuzzWireServer(seed: number, runs: number): Promise<FuzzOutcome> {
  const disagreements: Disagreement[] = [];
  let served = 0;
  let stricter = 0;
  for (let index = 0; index < runs; index += 1) {
    const random = makeRandom(seed + index);
    const input = makeInput(random);
    const pieces = makePieces(random, Buffer.from(input, "latin1"));
    const ours = await serve(createWireServer, pieces);
    const theirs = await serve(createHttpServer, pieces);
    let difference = findDifference(ours, theirs);
    if (difference !== null)
      difference = await checkAlone(pieces, difference.index, ours[difference.index]?.isWhole === true);
    if (difference !== null)
      disagreements.push({ seed: seed + index, input, ours: difference.ours, theirs: difference.theirs });
    served += ours.length;
    if (ours.length < theirs.length) stricter += 1;
  }
  return { runs, served, stricter, disagreements };
}

await runAsProgram(import.meta.url, 200, fuzzWireServer);
