import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { Relay } from "./relay.ts";

/** A connection with `room` bytes; it takes whatever it is given and says whether room is left. */
class FakeConnection {
  readonly writes: Uint8Array[] = [];
  readonly pressure: boolean[] = [];
  room: number;
  onWrite: (() => void) | null = null;
  readonly relay: Relay;

  constructor(room: number, highWaterBytes = 100, lowWaterBytes = 50) {
    this.room = room;
    this.relay = new Relay({
      write: (bytes) => {
        this.writes.push(bytes);
        this.room -= bytes.length;
        const hasRoom = this.room > 0;
        this.onWrite?.();
        return hasRoom;
      },
      highWaterBytes,
      lowWaterBytes,
      onPressure: (isHigh) => this.pressure.push(isHigh),
    });
  }

  drain(room: number): void {
    this.room = room;
    this.relay.drained();
  }
}

describe("Relay", () => {
  it("writes the very bytes through while the connection has room", () => {
    const connection = new FakeConnection(100);
    const piece = Uint8Array.of(1, 2);
    connection.relay.push(piece);
    expect(connection.writes[0]).toBe(piece);
    expect(connection.relay).toMatchObject({ pushedBytes: 2, waitingBytes: 0 });
  });

  it("never writes an empty piece", () => {
    const connection = new FakeConnection(100);
    connection.relay.push(new Uint8Array(0));
    expect(connection.writes).toEqual([]);
  });

  it("queues once the connection is full and writes nothing until it drained", () => {
    const connection = new FakeConnection(1);
    for (const byte of [1, 2, 3]) connection.relay.push(Uint8Array.of(byte));
    expect(connection.writes).toHaveLength(1);
    expect(connection.relay).toMatchObject({ pushedBytes: 3, waitingBytes: 2 });
    connection.drain(10);
    expect(connection.writes.map((bytes) => [...bytes])).toEqual([[1], [2, 3]]);
  });

  it("tells of pressure at the high water mark and of relief at the low one, once each", () => {
    const connection = new FakeConnection(1);
    connection.relay.push(new Uint8Array(1));
    connection.relay.push(new Uint8Array(99));
    expect(connection.pressure).toEqual([]);
    connection.relay.push(new Uint8Array(1));
    connection.relay.push(new Uint8Array(70_000));
    expect(connection.pressure).toEqual([true]);
    connection.drain(1);
    expect(connection.relay.waitingBytes).toBe(70_000);
    expect(connection.pressure).toEqual([true]);
    connection.drain(1);
    connection.drain(1);
    expect(connection.pressure).toEqual([true, false]);
  });

  it("hears of relief with exactly the low water mark waiting, and not with one byte more", () => {
    for (const [left, pressure] of [
      [50, [true, false]],
      [51, [true]],
    ] as const) {
      const connection = new FakeConnection(1, 65_536);
      connection.relay.push(new Uint8Array(1));
      connection.relay.push(new Uint8Array(65_536));
      connection.relay.push(new Uint8Array(left));
      connection.drain(1);
      expect(connection.relay.waitingBytes).toBe(left);
      expect(connection.pressure).toEqual(pressure);
    }
  });

  it("coalesces small pieces up to 64 KiB a write and leaves larger ones alone", () => {
    const connection = new FakeConnection(1, 1 << 30);
    const large = new Uint8Array(100_000);
    connection.relay.push(new Uint8Array(1));
    for (let i = 0; i < 200; i++) connection.relay.push(new Uint8Array(1000).fill(i));
    connection.relay.push(large);
    connection.drain(1 << 30);
    expect(connection.writes.map(({ length }) => length)).toEqual([1, 65_000, 65_000, 65_000, 5000, 100_000]);
    expect(connection.writes.at(-1)).toBe(large);
  });

  it("calls back at once when nothing waits, and otherwise once everything was handed over", () => {
    const connection = new FakeConnection(1);
    let calls = 0;
    connection.relay.whenEmpty(() => calls++);
    expect(calls).toBe(1);
    connection.relay.push(new Uint8Array(1));
    connection.relay.push(new Uint8Array(10));
    connection.relay.push(new Uint8Array(65_536));
    connection.relay.whenEmpty(() => calls++);
    connection.drain(1);
    expect(calls).toBe(1);
    connection.drain(1);
    connection.drain(1);
    expect(calls).toBe(2);
  });

  it("refuses a second waiting callback", () => {
    const connection = new FakeConnection(0);
    connection.relay.push(new Uint8Array(1));
    connection.relay.push(new Uint8Array(1));
    connection.relay.whenEmpty(() => {});
    expect(() => connection.relay.whenEmpty(() => {})).toThrow(expect.objectContaining({ code: "state_violation" }));
  });

  it("drops what waits, lets the producer go on and forgets the callback when the client is gone", () => {
    const connection = new FakeConnection(0);
    let calls = 0;
    connection.relay.push(new Uint8Array(1));
    connection.relay.push(new Uint8Array(100));
    connection.relay.whenEmpty(() => calls++);
    connection.relay.discard();
    connection.relay.discard();
    connection.relay.push(new Uint8Array(5));
    connection.drain(100);
    connection.relay.whenEmpty(() => calls++);
    expect(connection.writes).toHaveLength(1);
    expect(connection.pressure).toEqual([true, false]);
    expect(connection.relay).toMatchObject({ pushedBytes: 101, waitingBytes: 0 });
    expect(calls).toBe(0);
  });

  it("goes on when the connection reports room from inside the write", () => {
    const connection = new FakeConnection(0);
    connection.onWrite = () => connection.relay.drained();
    for (const byte of [1, 2, 3]) connection.relay.push(Uint8Array.of(byte));
    expect(connection.writes.map((bytes) => [...bytes])).toEqual([[1], [2], [3]]);
  });

  it("hands over any number of pieces to a connection that reports room from inside every write", () => {
    const connection = new FakeConnection(0, 1 << 30);
    const piece = new Uint8Array(65_536);
    for (let i = 0; i < 20_000; i++) connection.relay.push(piece);
    connection.onWrite = () => connection.relay.drained();
    connection.relay.drained();
    expect(connection.writes).toHaveLength(20_000);
  });

  it("stops at once when the client goes from inside the write", () => {
    const connection = new FakeConnection(1, 1 << 20);
    connection.relay.push(new Uint8Array(1));
    for (let i = 0; i < 4; i++) connection.relay.push(new Uint8Array(65_536));
    connection.onWrite = () => connection.relay.discard();
    connection.drain(1 << 20);
    expect(connection.writes).toHaveLength(2);
  });

  it("lets the producer push from inside the relief, after what waited", () => {
    const writes: number[] = [];
    const relay: Relay = new Relay({
      write: (bytes) => {
        writes.push(...bytes);
        return writes.length > 1;
      },
      highWaterBytes: 2,
      lowWaterBytes: 0,
      onPressure: (isHigh) => {
        if (!isHigh) relay.push(Uint8Array.of(9));
      },
    });
    for (const byte of [1, 2, 3]) relay.push(Uint8Array.of(byte));
    relay.drained();
    expect(writes).toEqual([1, 2, 3, 9]);
  });

  it("gives out the bytes it took in order, and an obedient producer leaves at most the mark and one piece waiting", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("push" as const), size: fc.integer({ min: 0, max: 60 }) }),
      fc.record({ kind: fc.constant("drain" as const), size: fc.integer({ min: 0, max: 200 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: "max" }), fc.integer({ min: 0, max: 100 }), (steps, room) => {
        const connection = new FakeConnection(room);
        const { relay, writes, pressure } = connection;
        let pushed = 0;
        let isEmptied = false;
        const written = (): Buffer => Buffer.concat(writes);
        for (const { kind, size } of steps) {
          if (kind === "drain") {
            if (connection.room <= 0) connection.drain(size);
          } else if (pressure.at(-1) !== true) {
            relay.push(Uint8Array.from({ length: size }, () => pushed++ & 0xff));
          }
          expect(relay.waitingBytes).toBeLessThan(100 + 60);
          expect(relay.waitingBytes).toBe(pushed - written().length);
          expect(relay.pushedBytes).toBe(pushed);
          expect(pressure).toEqual(pressure.map((_, i) => i % 2 === 0));
          const isHigh = pressure.at(-1) ?? false;
          expect(isHigh ? relay.waitingBytes > 50 : relay.waitingBytes < 100).toBe(true);
        }
        relay.whenEmpty(() => (isEmptied = true));
        while (relay.waitingBytes > 0) {
          expect(isEmptied).toBe(false);
          connection.drain(1000);
        }
        expect(isEmptied).toBe(true);
        expect(written()).toEqual(Buffer.from(Array.from({ length: pushed }, (_, i) => i & 0xff)));
      }),
    );
  });
});
