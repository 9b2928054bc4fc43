// Any bytes give a document or a typed error, never an exception, and the verdict of JSON.parse. Time-boxed: `npx tsx
// packages/core/src/json/scan.fuzz.ts [seconds]`; a failure prints the counter-example and its seed, and exits with 1.

import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";

import fc from "fast-check";

import { ERROR_CODES } from "../errors/codes.ts";
import { scan } from "./scan.ts";

const seconds = Number(process.argv[2] ?? 30);
const fragments = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  '"a"',
  '"a":',
  "\\",
  "\\u",
  "d800",
  "\\u0061",
  "0",
  "-",
  "1.5e3",
  "true",
  "nul",
  "null",
  " ",
  "\n",
  "\u0000",
  "é",
];
const bytesOf = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...fragments).map((text) => Buffer.from(text)) },
      fc.json({ maxDepth: 3 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 3 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.concat(parts));

function isAcceptedByParse(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The refusal is the answer.
    return false;
  }
}

let runs = 0;
fc.assert(
  fc.property(bytesOf, fc.boolean(), (bytes, isTolerant) => {
    runs++;
    const result = scan(bytes, { duplicates: isTolerant ? "last-wins" : "refuse", maxDepth: 64 });
    const isJson = isUtf8(bytes) && isAcceptedByParse(bytes.toString());
    if (result.ok) {
      assert.equal(isJson, true);
      result.document.value(0);
      return;
    }
    assert.ok(Object.hasOwn(ERROR_CODES, result.error.code));
    assert.ok(result.error.offset >= 0 && result.error.offset <= bytes.length);
    if (isJson)
      assert.ok(result.error.code === "json_depth" || (!isTolerant && result.error.code === "json_duplicate_member"));
  }),
  { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: seconds * 1000 },
);
process.stdout.write(`${runs} texts\n`);
