import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { LineFinder } from "./line-finder.ts";

const LF = 0x0a;
const CR = 0x0d;

describe("LineFinder", () => {
  it("finds every line end of any bytes, each byte examined at most four times", () => {
    const run = fc
      .tuple(fc.constantFrom(0x61, LF, CR), fc.integer({ min: 1, max: 120 }))
      .map(([byte, length]) => new Uint8Array(length).fill(byte));
    const short = fc.constantFrom(Uint8Array.of(LF), Uint8Array.of(CR), Uint8Array.of(CR, LF));
    fc.assert(
      fc.property(fc.array(fc.oneof(run, short), { maxLength: 40, size: "max" }), (runs) => {
        const bytes = Buffer.concat(runs);
        const expected = Array.from(bytes.entries())
          .filter(([, byte]) => byte === LF || byte === CR)
          .map(([at]) => at);
        const lines = new LineFinder();
        const found: number[] = [];
        for (let at = lines.find(bytes, 0); at < bytes.length; at = lines.find(bytes, at + 1)) found.push(at);
        expect(found).toEqual(expected);
        expect(lines.examinedBytes).toBeLessThanOrEqual(4 * bytes.length);
      }),
    );
  });

  it("forgets where line ends lay when it is reset for other bytes", () => {
    const lines = new LineFinder();
    const first = new Uint8Array(100).fill(0x61);
    const second = new Uint8Array(100).fill(0x61);
    second[60] = CR;
    second[70] = LF;
    expect(lines.find(first, 0)).toBe(100);
    lines.reset();
    expect(lines.find(second, 0)).toBe(60);
    expect(lines.find(second, 61)).toBe(70);
  });
});
