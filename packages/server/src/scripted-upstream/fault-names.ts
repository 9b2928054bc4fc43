// Faults by name, as they are written in model names: `scripted-text:cut-after-3`, `scripted-stall`, `scripted-tools:split-1`.
import type { Fault, GarbageKind } from "./faults.ts";
import { ODD_RESPONSES } from "./odd-responses.ts";

const GARBAGE: readonly GarbageKind[] = [
  "text",
  "html",
  "invalid-utf8",
  "null",
  "array",
  "number",
  "empty",
  "deep",
  "truncated-json",
  "duplicate-names",
];

const FIXED: Readonly<Record<string, Fault>> = {
  stall: { kind: "stall", after: "request" },
  "stall-after-head": { kind: "stall", after: "head" },
  slow: { kind: "slow", delayMs: 25 },
  gzip: { kind: "gzip" },
  "gzip-bomb": { kind: "gzip", bombBytes: 64 * 1024 * 1024 },
  "error-record": { kind: "error-record", afterRecords: 0, status: 529 },
  "early-429": { kind: "early", afterBodyBytes: 0, afterwards: "read-on" },
  "no-finish": { kind: "omit", what: "finish" },
  "no-end": { kind: "omit", what: "end" },
  "no-ending": { kind: "omit", what: "both" },
  "no-usage": { kind: "usage", mode: "none" },
  "usage-twice": { kind: "usage", mode: "twice" },
  "usage-in-content": { kind: "usage", mode: "in-content" },
  crlf: { kind: "spelling", lineEnd: "\r\n" },
  cr: { kind: "spelling", lineEnd: "\r" },
  comments: { kind: "spelling", comments: true },
  bom: { kind: "spelling", bom: true },
  "no-space": { kind: "spelling", space: false },
  "until-close": { kind: "until-close" },
  "wrong-type": { kind: "content-type", value: "text/html" },
  "no-type": { kind: "content-type", value: null },
  interim: { kind: "interim", status: 103, count: 3 },
  "interim-flood": { kind: "interim", status: 102, count: Number.POSITIVE_INFINITY },
  trailers: { kind: "trailers", fields: [["x-scripted-trailer", "1"]] },
  "extra-bytes": {
    kind: "extra-bytes",
    bytes: "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nstolen",
    when: "at-once",
  },
};

type NumberedFault = (first: number, word: string) => Fault;

const NUMBERED: readonly { readonly pattern: RegExp; readonly build: NumberedFault }[] = [
  { pattern: /^cut-at-(\d+)$/u, build: (bytes) => ({ kind: "cut", bytes, by: "end" }) },
  { pattern: /^reset-at-(\d+)$/u, build: (bytes) => ({ kind: "cut", bytes, by: "reset" }) },
  { pattern: /^cut-after-(\d+)$/u, build: (records) => ({ kind: "cut-after", records, by: "end" }) },
  { pattern: /^reset-after-(\d+)$/u, build: (records) => ({ kind: "cut-after", records, by: "reset" }) },
  { pattern: /^stall-after-(\d+)$/u, build: (records) => ({ kind: "stall", after: records }) },
  { pattern: /^error-after-(\d+)$/u, build: (afterRecords) => ({ kind: "error-record", afterRecords, status: 529 }) },
  { pattern: /^slow-(\d+)$/u, build: (delayMs) => ({ kind: "slow", delayMs }) },
  { pattern: /^split-(\d+)$/u, build: (bytes) => ({ kind: "split", bytes: Math.max(1, bytes) }) },
  { pattern: /^html-([45]\d\d)$/u, build: (status) => ({ kind: "status", status, body: "html" }) },
  { pattern: /^text-([45]\d\d)$/u, build: (status) => ({ kind: "status", status, body: "text" }) },
  { pattern: /^empty-([45]\d\d)$/u, build: (status) => ({ kind: "status", status, body: "empty" }) },
  { pattern: /^huge-([45]\d\d)$/u, build: (status) => ({ kind: "status", status, body: "huge" }) },
  {
    pattern: /^oversize-(\d+)-(text|record|records|line|comments)$/u,
    build: (megabytes, what) => ({ kind: "oversize", what: oversizeOf(what), bytes: megabytes * 1_000_000 }),
  },
];

function oversizeOf(word: string): Extract<Fault, { kind: "oversize" }>["what"] {
  return word === "record" || word === "records" || word === "line" || word === "comments" ? word : "text";
}

function garbageOfName(name: string): Fault | null {
  const match = /^garbage-(record-)?(.+)$/u.exec(name);
  const what = GARBAGE.find((kind) => kind === match?.[2]);
  if (what === undefined) return null;
  return { kind: "garbage", what, as: match?.[1] === undefined ? "body" : "record" };
}

/** Names of the faults that take no number. `garbage-<kind>`, `garbage-record-<kind>` and `head-<odd response>` come on top. */
export const SCRIPTED_FAULTS: readonly string[] = Object.keys(FIXED);

/** Reads a fault's name, or returns null when it names none. */
export function faultOfName(name: string): Fault | null {
  if (Object.hasOwn(FIXED, name)) return FIXED[name] ?? null;
  const garbage = garbageOfName(name);
  if (garbage !== null) return garbage;
  const odd = name.startsWith("head-") ? ODD_RESPONSES[name.slice("head-".length)] : undefined;
  if (odd !== undefined) return { kind: "raw", bytes: odd.bytes, afterwards: odd.afterwards };
  for (const { pattern, build } of NUMBERED) {
    const match = pattern.exec(name);
    if (match !== null) return build(Number(match[1]), match[2] ?? "");
  }
  return null;
}
