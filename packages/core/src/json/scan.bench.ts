// How long a scan takes next to JSON.parse of the decoded bytes. For comparing changes only: here the
// modules run unbundled, where the scanner took about five times as long as in the built package (3.5 against 0.65 µs for 1 KB, Node 20), slower
// than JSON.parse. `packages/core/bench/scan.mjs` measures the built package.

import { bench, describe } from "vitest";

import { scan } from "./scan.ts";
import { Scanner } from "./scanner.ts";

function chatBody(messages: number, characters: number): Buffer {
  const content = "The caller asked for a summary of the report: risks, open questions, next steps.\n"
    .repeat(Math.ceil(characters / 82))
    .slice(0, characters);
  const list = Array.from({ length: messages }, (_, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }));
  return Buffer.from(
    JSON.stringify({ model: "a-model", messages: list, temperature: 0.7, max_tokens: 512, stream: true }),
  );
}

const bodies = [
  { name: "1 KB chat", bytes: chatBody(4, 200) },
  { name: "16 KB chat", bytes: chatBody(20, 760) },
  { name: "100 KB chat", bytes: chatBody(70, 1400) },
];

describe.each(bodies)("$name", ({ bytes }) => {
  const scanner = new Scanner();
  bench("JSON.parse", () => {
    JSON.parse(bytes.toString());
  });
  bench("Scanner.scan", () => {
    scanner.scan(bytes);
  });
  bench("scan", () => {
    scan(bytes);
  });
});
