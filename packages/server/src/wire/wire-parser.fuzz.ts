// Differential fuzz of the response parser against node:http's client (llhttp): whatever our parser accepts, node:http accepts and
// reads alike. Deterministic by seed; run as a program it is time-boxed: `npx tsx packages/server/src/wire/wire-parser.fuzz.ts
// [seconds] [seed]` prints each disagreement and then exits with 1.

import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { pathToFileURL } from "node:url";

import { parseInPieces } from "./fixtures/parse-in-pieces.ts";
import type { ParsedAnswer } from "./fixtures/parse-in-pieces.ts";

const LIMITS = { maxHeadBytes: 16 * 1024, maxHeaderCount: 100, maxInformational: 16 };

/** A case in which the two readings differ. */
export interface Disagreement {
  readonly seed: number;
  readonly input: string;
  readonly ours: string;
  readonly theirs: string;
}

/** How a run went. `accepted` by both; `stricter` = refused by us alone. */
export interface FuzzOutcome {
  readonly runs: number;
  readonly accepted: number;
  readonly stricter: number;
  readonly disagreements: readonly Disagreement[];
}

type NextRandom = (below: number) => number;

/** mulberry32: small, seeded, good enough to vary inputs. */
function makeRandom(seed: number): NextRandom {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

const STATUS_LINES = [
  "HTTP/1.1 200 OK",
  "HTTP/1.1 200",
  "HTTP/1.1 200 ",
  "HTTP/1.0 200 OK",
  "HTTP/1.1 429 Too Many",
  "HTTP/1.1 204 N",
  "HTTP/1.1 304 N",
  "HTTP/1.1 599 x",
];
const FIELDS = [
  "content-type: text/event-stream",
  "X-A:  b ",
  "x-b:",
  "connection: close",
  "connection: keep-alive",
  "keep-alive: timeout=5",
  "date: now",
  "x-c: \t\x80\xff",
  "trailer: x-sum",
  "content-encoding: identity",
  "set-cookie: a=b; c",
];
const FRAMINGS = [
  "content-length: 5",
  "content-length: 0",
  "Content-Length: 005",
  "transfer-encoding: chunked",
  "Transfer-Encoding: CHUNKED",
  "transfer-encoding: chunked",
  "",
];
const PLAIN_BODIES = ["hello", "", "hell", "hello!"];
const CHUNKED_BODIES = [
  "5\r\nhello\r\n0\r\n\r\n",
  "1\r\nh\r\n004\r\nello\r\n0\r\n\r\n",
  "A;a=b;c\r\n0123456789\r\n0\r\n\r\n",
  "0\r\nx-sum: 1\r\n\r\n",
  "5\r\nhello\r\n0\r\n",
];
const INTERIM = ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"];
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
  "1",
  "-",
  "+",
  "x",
  "\x7f",
  "\x80",
  '"',
  "chunked",
  "content-length: 5\r\n",
  "transfer-encoding: chunked\r\n",
  "\r\n ",
  "0\r\n\r\n",
  "HTTP/1.1 200 OK\r\n",
  ';a="b"',
];

function pick(random: NextRandom, list: readonly string[]): string {
  return list[random(list.length)] as string;
}

/** A mostly sound answer with up to four mutations. */
function makeInput(random: NextRandom): string {
  let text = random(5) === 0 ? pick(random, INTERIM).repeat(1 + random(2)) : "";
  text += `${pick(random, STATUS_LINES)}\r\n`;
  const framing = pick(random, FRAMINGS);
  const lines = Array.from({ length: random(4) }, () => pick(random, FIELDS));
  if (framing !== "") lines.splice(random(lines.length + 1), 0, framing);
  for (const line of lines) text += `${line}\r\n`;
  text += `\r\n${pick(random, framing.toLowerCase().includes("chunked") ? CHUNKED_BODIES : PLAIN_BODIES)}`;
  for (let mutations = random(5); mutations > 0; mutations -= 1) {
    const at = random(text.length + 1);
    const kind = random(4);
    if (kind === 0) text = text.slice(0, at) + pick(random, SPICE) + text.slice(at);
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1 + random(3));
    else if (kind === 2) text = text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1);
    else text = text.slice(0, at) + text.slice(random(text.length + 1), at + 20) + text.slice(at);
  }
  return text;
}

function makeCuts(random: NextRandom, length: number): readonly number[] {
  const density = random(3);
  if (density === 0) return [];
  if (density === 1) return Array.from({ length: random(6) }, () => random(length + 1)).sort((a, b) => a - b);
  return Array.from({ length }, (_, index) => index);
}

/** Gives fixed bytes, then the end of input, and swallows what is written. */
class BytesSocket extends Duplex {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    super();
    this.#bytes = bytes;
  }

  override _read(): void {
    this.push(this.#bytes);
    this.push(null);
  }

  override _write(_chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

/** What node:http's client makes of the bytes, in words that compare; starts with "refused" when it is no complete answer. */
function readWithNode(bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = request({
      method: "POST",
      host: "upstream.test",
      maxHeaderSize: LIMITS.maxHeadBytes,
      createConnection: () => new BytesSocket(bytes),
    });
    outgoing.on("error", (error: Error & { code?: string }) => resolve(`refused: ${error.code ?? error.message}`));
    outgoing.on("upgrade", () => resolve("refused: upgrade"));
    outgoing.on("response", (response: IncomingMessage) => {
      let body = "";
      response.setEncoding("latin1");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("error", (error: Error & { code?: string }) => resolve(`refused: ${error.code ?? error.message}`));
      response.on("close", () => {
        if (!response.complete) resolve("refused: incomplete");
        else resolve(JSON.stringify([response.statusCode, response.rawHeaders, body]));
      });
    });
    outgoing.end();
  });
}

function describeOurs(answer: ParsedAnswer): string {
  if (answer.failure !== null) return `refused: ${answer.failure}`;
  return answer.isDone ? JSON.stringify([answer.status, answer.headers, answer.body]) : "refused: incomplete";
}

/** One case: `both`, `stricter`, `neither`, or the disagreement. */
async function compare(seed: number): Promise<"both" | "stricter" | "neither" | Disagreement> {
  const random = makeRandom(seed);
  const input = makeInput(random);
  const bytes = Buffer.from(input, "latin1");
  const answer = parseInPieces(bytes, makeCuts(random, bytes.length), LIMITS, true);
  const ours = describeOurs(answer);
  // Bytes behind a complete answer cost us the connection, not the answer; node:http reads on, so it is not given them.
  const theirs = await readWithNode(bytes.subarray(0, bytes.length - answer.rest));
  const isRefusedThere = theirs.startsWith("refused");
  if (ours.startsWith("refused")) return isRefusedThere ? "neither" : "stricter";
  return ours === theirs ? "both" : { seed, input, ours, theirs };
}

/** Runs `runs` cases from `seed` on. */
export async function fuzzWireParser(seed: number, runs: number): Promise<FuzzOutcome> {
  const disagreements: Disagreement[] = [];
  let accepted = 0;
  let stricter = 0;
  for (let index = 0; index < runs; index += 1) {
    const verdict = await compare(seed + index);
    if (verdict === "both") accepted += 1;
    else if (verdict === "stricter") stricter += 1;
    else if (verdict !== "neither") disagreements.push(verdict);
  }
  return { runs, accepted, stricter, disagreements };
}

async function main(seconds: number, firstSeed: number): Promise<void> {
  const until = performance.now() + seconds * 1000;
  const total = { runs: 0, accepted: 0, stricter: 0 };
  for (let seed = firstSeed; performance.now() < until; seed += 500) {
    const outcome = await fuzzWireParser(seed, 500);
    total.runs += outcome.runs;
    total.accepted += outcome.accepted;
    total.stricter += outcome.stricter;
    for (const each of outcome.disagreements) process.stdout.write(`${JSON.stringify(each)}\n`);
    if (outcome.disagreements.length > 0) process.exitCode = 1;
  }
  process.stdout.write(`${JSON.stringify({ firstSeed, ...total })}\n`);
}

const program = process.argv[1];
if (program !== undefined && import.meta.url === pathToFileURL(program).href) {
  await main(Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 1));
}
