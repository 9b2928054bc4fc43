import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { SpillBuffer } from "./spill-buffer.ts";

const contentOf = (spill: SpillBuffer): number[] => [...spill.bytes.subarray(0, spill.length)];

describe("SpillBuffer", () => {
  it("holds what was appended, ranges of itself included, until it is cleared", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.integer({ min: 40, max: 3000 }).map((size) => new Uint8Array(size).fill(size)),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(piece, fc.constantFrom("append", "byte", "self", "clear")), { maxLength: 30 }),
        (steps) => {
          const spill = new SpillBuffer();
          let model: number[] = [];
          for (const [bytes, kind] of steps) {
            if (kind === "append") {
              spill.append(bytes, 0, bytes.length);
              model.push(...bytes);
            } else if (kind === "byte") {
              spill.appendByte(7);
              model.push(7);
            } else if (kind === "self") {
              const start = spill.length >> 1;
              spill.append(spill.bytes, start, spill.length);
              model.push(...model.slice(start));
            } else {
              spill.clear();
              model = [];
            }
          }
          expect(contentOf(spill)).toEqual(model);
        },
      ),
    );
  });

  it("copies at most three times what is appended byte by byte", () => {
    const spill = new SpillBuffer();
    for (let i = 0; i < 1 << 20; i++) spill.appendByte(i);
    expect(spill.copiedBytes).toBeLessThanOrEqual(3 << 20);
  });

  it("keeps memory of up to 64 KiB when cleared and gives up more", () => {
    const kept = new SpillBuffer();
    kept.append(new Uint8Array(65_536), 0, 65_536);
    kept.clear();
    expect(kept.bytes).toHaveLength(65_536);
    const given = new SpillBuffer();
    given.append(new Uint8Array(65_537), 0, 65_537);
    given.clear();
    expect(given.bytes).toHaveLength(0);
  });
});
