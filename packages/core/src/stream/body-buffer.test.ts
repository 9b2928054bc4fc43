import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { PooledBody } from "./body-buffer.ts";
import { BODY_SLACK_BYTES, BodyPool } from "./body-buffer.ts";

const violation = expect.objectContaining({ code: "state_violation" });
const MEBIBYTE = 1 << 20;

/** A pool whose allocations are counted. */
function makePool(maxPooledBytes: number): { pool: BodyPool; allocated: number[] } {
  const allocated: number[] = [];
  const allocate = (size: number): Uint8Array => {
    allocated.push(size);
    return new Uint8Array(size).fill(0xaa);
  };
  return { pool: new BodyPool({ maxPooledBytes, poison: true, allocate }), allocated };
}

function gather(pool: BodyPool, content: Uint8Array, sizeHint: number | null, chunkBytes: number): PooledBody {
  const collector = pool.collect(sizeHint, content.length);
  for (let at = 0; at < content.length; at += chunkBytes)
    expect(collector.push(content.subarray(at, at + chunkBytes))).toBe(true);
  expect(collector.byteLength).toBe(content.length);
  return collector.finish();
}

const slackOf = (body: PooledBody): Uint8Array =>
  new Uint8Array(body.bytes.buffer, body.bytes.byteOffset + body.bytes.length, BODY_SLACK_BYTES);
const pattern = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 7) & 0xff;
  return bytes;
};

describe("BodyCollector", () => {
  it.each(
    [0, 1, 3, 4088, 4089, 4096, 100_000, 4 * MEBIBYTE - 8, 4 * MEBIBYTE - 7, 5 * MEBIBYTE + 1].flatMap((length) => [
      { length, hint: "exact", sizeHint: length },
      { length, hint: "none", sizeHint: null },
      { length, hint: "too small", sizeHint: length >> 1 },
      { length, hint: "too large", sizeHint: length * 2 },
    ]),
  )(
    "gathers $length bytes with length hint $hint into one aligned buffer with zeroed slack",
    ({ length, sizeHint }) => {
      const { pool } = makePool(64 * MEBIBYTE);
      const content = pattern(length);
      const body = gather(pool, content, sizeHint, 65_536);
      expect(Buffer.compare(body.bytes, content)).toBe(0);
      expect(body.bytes.byteOffset % 4).toBe(0);
      expect([...slackOf(body)]).toEqual(Array.from({ length: BODY_SLACK_BYTES }, () => 0));
    },
  );

  it("takes memory of its own by default", () => {
    const body = gather(new BodyPool({ maxPooledBytes: 0 }), pattern(10), null, 3);
    expect(body.bytes.byteOffset).toBe(0);
    expect(body.bytes.buffer.byteLength).toBe(4096);
  });

  it("allocates once for an announced length that is pooled, and little more than the length for a larger one", () => {
    const small = makePool(0);
    gather(small.pool, pattern(100_000), 100_000, 1000);
    expect(small.allocated).toEqual([131_072]);
    const large = makePool(0);
    gather(large.pool, pattern(9 * MEBIBYTE), 9 * MEBIBYTE, 65_536);
    expect(large.allocated).toEqual([4 * MEBIBYTE, 8 * MEBIBYTE, 9 * MEBIBYTE + BODY_SLACK_BYTES]);
  });

  it("claims at most 4 MiB for an announcement alone, and at most the bound", () => {
    const { pool, allocated } = makePool(0);
    pool.collect(1 << 30, 1 << 30);
    pool.collect(1 << 30, 5000);
    expect(allocated).toEqual([4 * MEBIBYTE, 8192]);
  });

  it("grows by doubling, so that copying stays linear without an announced length", () => {
    const { pool, allocated } = makePool(0);
    gather(pool, pattern(3 * MEBIBYTE), null, 100);
    expect(allocated).toEqual(Array.from({ length: 11 }, (_, i) => 4096 << i));
  });

  it("takes a body at the bound and refuses it one byte past it, giving the memory back", () => {
    const { pool } = makePool(MEBIBYTE);
    const collector = pool.collect(null, 10);
    expect(collector.push(new Uint8Array(10))).toBe(true);
    expect(collector.push(new Uint8Array(0))).toBe(true);
    expect(pool.pooledBytes).toBe(0);
    expect(collector.push(new Uint8Array(1))).toBe(false);
    expect(pool.pooledBytes).toBe(4096);
    expect(collector.push(new Uint8Array(0))).toBe(false);
    expect(() => collector.finish()).toThrow(violation);
    collector.discard();
    expect(pool.pooledBytes).toBe(4096);
  });

  it("finishes once, and discard does nothing after it", () => {
    const { pool } = makePool(MEBIBYTE);
    const collector = pool.collect(4, 10);
    collector.push(pattern(4));
    const body = collector.finish();
    collector.discard();
    expect(pool.pooledBytes).toBe(0);
    expect(() => collector.finish()).toThrow(violation);
    expect(collector.push(pattern(1))).toBe(false);
    expect([...body.bytes]).toEqual([...pattern(4)]);
  });

  it("gives the memory back once when discarded", () => {
    const { pool } = makePool(MEBIBYTE);
    const collector = pool.collect(null, 10);
    collector.discard();
    collector.discard();
    expect(pool.pooledBytes).toBe(4096);
  });
});

describe("PooledBody", () => {
  it("returns to the pool with the last release and is poisoned then, slack and all", () => {
    const { pool } = makePool(MEBIBYTE);
    const body = gather(pool, pattern(100), null, 100);
    body.retain();
    body.release();
    expect([...body.bytes]).toEqual([...pattern(100)]);
    body.release();
    expect(pool.pooledBytes).toBe(4096);
    expect(new Set(new Uint8Array(body.bytes.buffer))).toEqual(new Set([0xdb]));
  });

  it("refuses to be released or retained after its last release", () => {
    const { pool } = makePool(MEBIBYTE);
    const body = gather(pool, pattern(1), null, 1);
    body.release();
    expect(() => body.release()).toThrow(violation);
    expect(() => body.retain()).toThrow(violation);
    expect(pool.pooledBytes).toBe(4096);
  });
});

describe("BodyPool", () => {
  it("reuses released memory of the same class", () => {
    const { pool, allocated } = makePool(MEBIBYTE);
    gather(pool, pattern(5000), 5000, 5000).release();
    gather(pool, pattern(8000), 8000, 8000);
    gather(pool, pattern(100), 100, 100);
    expect(allocated).toEqual([8192, 4096]);
    expect(pool.pooledBytes).toBe(0);
  });

  it("gets back the buffers that a body outgrew", () => {
    const { pool } = makePool(MEBIBYTE);
    gather(pool, pattern(10_000), null, 100);
    expect(pool.pooledBytes).toBe(4096 + 8192);
  });

  it("keeps memory up to its bound and no byte more", () => {
    for (const [maxPooledBytes, pooled] of [
      [12_288, 12_288],
      [12_287, 8192],
    ] as const) {
      const { pool } = makePool(maxPooledBytes);
      const bodies = [100, 200, 300].map((length) => gather(pool, pattern(length), length, length));
      for (const body of bodies) body.release();
      expect(pool.pooledBytes).toBe(pooled);
    }
  });

  it("keeps no memory over 4 MiB, and poisons it all the same", () => {
    const { pool } = makePool(64 * MEBIBYTE);
    const body = gather(pool, pattern(4 * MEBIBYTE), null, MEBIBYTE);
    const before = pool.pooledBytes;
    body.release();
    expect(pool.pooledBytes).toBe(before);
    expect(body.bytes.every((byte) => byte === 0xdb)).toBe(true);
  });

  it("does not touch released memory unless asked to", () => {
    const pool = new BodyPool({ maxPooledBytes: 4096 });
    const body = gather(pool, pattern(10), null, 10);
    body.release();
    expect([...body.bytes]).toEqual([...pattern(10)]);
  });

  it("refuses memory of another size or alignment from its allocator", () => {
    const short = new BodyPool({ maxPooledBytes: 0, allocate: (size) => new Uint8Array(size - 1) });
    expect(() => short.collect(null, 10)).toThrow(violation);
    const odd = new BodyPool({ maxPooledBytes: 0, allocate: (size) => new Uint8Array(size + 1).subarray(1) });
    expect(() => odd.collect(null, 10)).toThrow(violation);
  });

  it("never lets two live bodies share memory, and keeps each intact until its last release", () => {
    const step = fc.record({
      isOpening: fc.boolean(),
      size: fc.nat(20_000),
      hint: fc.option(fc.nat(30_000)),
      which: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 10_000, 1 << 20), (steps, maxPooledBytes) => {
        const { pool } = makePool(maxPooledBytes);
        const live: { body: PooledBody; mark: number }[] = [];
        steps.forEach(({ isOpening, size, hint, which }, mark) => {
          const released = isOpening ? undefined : live.splice(which % Math.max(1, live.length), 1)[0]?.body;
          released?.release();
          expect(released?.bytes.every((byte) => byte === 0xdb) ?? true).toBe(true);
          if (isOpening) live.push({ body: gather(pool, new Uint8Array(size).fill(mark), hint, 700), mark });
          expect(new Set(live.map(({ body }) => body.bytes.buffer)).size).toBe(live.length);
          expect(live.every((each) => each.body.bytes.every((byte) => byte === each.mark))).toBe(true);
          expect(pool.pooledBytes).toBeLessThanOrEqual(maxPooledBytes);
        });
      }),
      { numRuns: 50 },
    );
  });
});
