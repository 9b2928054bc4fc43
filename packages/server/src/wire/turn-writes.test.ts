import { describe, expect, it } from "vitest";

import { TurnWrites } from "./turn-writes.ts";
import type { TurnWriter } from "./turn-writes.ts";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

describe("the writes of a turn", () => {
  const rig = (): { writes: TurnWrites; flushed: number[]; add: (name: number, onFlush?: () => void) => void } => {
    const writes = new TurnWrites();
    const flushed: number[] = [];
    const add = (name: number, onFlush?: () => void): void => {
      const writer: TurnWriter = {
        flushTurn: () => {
          flushed.push(name);
          onFlush?.();
        },
      };
      writes.add(writer);
    };
    return { writes, flushed, add };
  };

  it("leave at its end, in order, and not before", async () => {
    const { flushed, add } = rig();
    add(1);
    add(2);
    await nextTick();
    expect(flushed).toEqual([]);
    await nextTurn();
    expect(flushed).toEqual([1, 2]);
  });

  it.each([
    { count: 31, early: 0 },
    { count: 32, early: 32 },
    { count: 33, early: 33 },
    { count: 80, early: 80 },
  ])(
    "wait for at most a few others: of $count, $early leave once the caller has returned",
    async ({ count, early }) => {
      const { flushed, add } = rig();
      const names = Array.from({ length: count }, (_, index) => index);
      for (const name of names) add(name);
      expect(flushed).toEqual([]);
      await nextTick();
      expect(flushed).toEqual(names.slice(0, early));
      await nextTurn();
      expect(flushed).toEqual(names);
    },
  );

  it("go out each once however they are spread over callers and turns", async () => {
    const { flushed, add } = rig();
    const names = Array.from({ length: 100 }, (_, index) => index);
    for (const name of names) {
      add(name);
      if (name % 7 === 0) await nextTick();
      if (name % 31 === 0) await nextTurn();
    }
    await nextTurn();
    expect(flushed).toEqual(names);
  });

  it("that begin while others leave go out with the next turn", async () => {
    const { flushed, add } = rig();
    add(1, () => add(2));
    await nextTurn();
    expect(flushed).toEqual([1]);
    await nextTurn();
    expect(flushed).toEqual([1, 2]);
  });
});
