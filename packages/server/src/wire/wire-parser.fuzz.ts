// Differential fuzz of the response parser against node:http's client (llhttp): whatever our parser accepts, node:http accepts and
// reads alike. Deterministic by seed; run as a program it is time-boxed: `npx tsx packages/server/src/wire/wire-parser.fuzz.ts
// [seconds] [seed]` prints each disagreement and then exits with 1.

import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { Duplex } from "node:stream";

import { makeRandom, mutate, pick, runAsProgram } from "./fixtures/differential-fuzz.ts";
import type { Disagreement, NextRandom } from "./fixtures/differential-fuzz.ts";
import { parseInPieces } from "./fixtures/parse-in-pieces.ts";
import type { ParsedAnswer } from "./fixtures/parse-in-pieces.ts";

const LIMITS = { maxHeadBytes: 16 * 1024, maxHeaderCount: 100, maxInformational: 16 };

/** How a run went. `accepted` by both; `stricter` = refused by us alone. */
export interface FuzzOutcome {
  readonly runs: number;
  readonly accepted: number;
  readonly stricter: number;
  readonly disagreements: readonly Disagreement[];
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

/** A mostly sound answer with up to four mutations. */
function makeInput(random: NextRandom): string {
  let text = random(5) === 0 ? pick(random, INTERIM).repeat(1 + random(2)) : "";
  text += `${pick(random, STATUS_LINES)}\r\n`;
  const framing = pick(random, FRAMINGS);
  const lines = Array.from({ length: random(4) }, () => pick(random, FIELDS));
  if (framing !== "") lines.splice(random(lines.length + 1), 0, framing);
  for (const line of lines) text += `${line}\r\n`;
  text += `\r\n${pick(random, framing.toLowerCase().includes("chunked") ? CHUNKED_BODIES : PLAIN_BODIES)}`;
  return mutate(random, text, SPICE);
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

await runAsProgram(import.meta.url, 500, fuzzWireParser);
