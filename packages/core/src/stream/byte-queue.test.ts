import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ByteQueue } from "./byte-queue.ts";

describe("ByteQueue", () => {
  it("takes a chunk up to the bound and refuses it one byte past it", () => {
    const queue = new ByteQueue({ maxBytes: 10 });
    expect(queue.push(new Uint8Array(4))).toBe(true);
    expect(queue.push(new Uint8Array(7))).toBe(false);
    expect(queue.byteLength).toBe(4);
    expect(queue.push(new Uint8Array(6))).toBe(true);
    expect(queue.push(new Uint8Array(1))).toBe(false);
    expect(queue).toMatchObject({ byteLength: 10, count: 2 });
  });

  it("admits one chunk over the bound when nothing waits", () => {
    const queue = new ByteQueue({ maxBytes: 10 });
    expect(queue.push(new Uint8Array(1000))).toBe(true);
    expect(queue.push(new Uint8Array(1))).toBe(false);
    expect(queue.shift()).toHaveLength(1000);
    expect(queue).toMatchObject({ byteLength: 0, count: 0 });
  });

  it("is high at the high water mark and low at the low one", () => {
    const queue = new ByteQueue({ maxBytes: 100, highWaterBytes: 10, lowWaterBytes: 4 });
    const states = [4, 1, 4, 1].map((size) => {
      queue.push(new Uint8Array(size));
      return [queue.isLow, queue.isHigh];
    });
    expect(states).toEqual([
      [true, false],
      [false, false],
      [false, false],
      [false, true],
    ]);
  });

  it("keeps no empty chunks", () => {
    const queue = new ByteQueue({ maxBytes: 1 });
    queue.push(new Uint8Array(1));
    expect(queue.push(new Uint8Array(0))).toBe(true);
    expect(queue.count).toBe(1);
  });

  it("gives chunks back in order, the very ones, like a list that is bounded by bytes", () => {
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant("push" as const), size: fc.integer({ min: 0, max: 30 }) }),
      },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("shift" as const), size: fc.constant(0) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const), size: fc.constant(0) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: "max" }), fc.constantFrom(0, 20, 5000), (steps, maxBytes) => {
        const queue = new ByteQueue({ maxBytes });
        let model: Uint8Array[] = [];
        const waiting = (): number => model.reduce((sum, chunk) => sum + chunk.length, 0);
        for (const { kind, size } of steps) {
          let actual: unknown[] = [];
          let expected: unknown[] = [];
          if (kind === "push") {
            const chunk = new Uint8Array(size);
            const fits = size === 0 || model.length === 0 || waiting() + size <= maxBytes;
            actual = [queue.push(chunk)];
            expected = [fits];
            if (fits && size > 0) model.push(chunk);
          } else if (kind === "shift") {
            actual = [queue.peek(), queue.shift()];
            expected = [model[0] ?? null, model.shift() ?? null];
          } else {
            queue.clear();
            model = [];
          }
          expect(actual.every((value, i) => value === expected[i])).toBe(true);
          expect(queue.byteLength).toBe(waiting());
          expect(queue.count).toBe(model.length);
        }
      }),
    );
  });

  it("keeps the order over many more chunks than the first ring holds", () => {
    const queue = new ByteQueue({ maxBytes: Number.MAX_SAFE_INTEGER });
    let next = 0;
    let taken = 0;
    const take = (): void => expect(new DataView((queue.shift() as Uint8Array).buffer).getUint32(0)).toBe(taken++);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 3000; i++) {
        const chunk = new Uint8Array(4);
        new DataView(chunk.buffer).setUint32(0, next++);
        queue.push(chunk);
        if (i % 3 === 0) take();
      }
      while (queue.count > 0) take();
    }
    expect(taken).toBe(9000);
  });
});
