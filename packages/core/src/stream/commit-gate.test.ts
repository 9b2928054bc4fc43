import { describe, expect, it } from "vitest";

import { CommitGate } from "./commit-gate.ts";

const violation = expect.objectContaining({ code: "state_violation" });

describe("CommitGate", () => {
  it("gives what it held, the very pieces in order, when it opens", () => {
    const gate = new CommitGate(10);
    const pieces = [Uint8Array.of(1), Uint8Array.of(2, 3)];
    for (const piece of pieces) expect(gate.hold(piece)).toBe(true);
    expect(gate).toMatchObject({ state: "holding", heldBytes: 3 });
    const held = gate.open();
    expect(held[0]).toBe(pieces[0]);
    expect(held[1]).toBe(pieces[1]);
    expect(gate).toMatchObject({ state: "open", heldBytes: 0 });
  });

  it("holds up to the bound and refuses a piece one byte past it, keeping the rest", () => {
    const gate = new CommitGate(10);
    expect(gate.hold(new Uint8Array(4))).toBe(true);
    expect(gate.hold(new Uint8Array(7))).toBe(false);
    expect(gate.hold(new Uint8Array(6))).toBe(true);
    expect(gate.hold(new Uint8Array(1))).toBe(false);
    expect(gate.open().map(({ length }) => length)).toEqual([4, 6]);
  });

  it("opens once", () => {
    const gate = new CommitGate(10);
    gate.open();
    expect(() => gate.open()).toThrow(violation);
    expect(() => gate.hold(new Uint8Array(1))).toThrow(violation);
    gate.discard();
    expect(gate.state).toBe("open");
  });

  it("neither holds nor opens once discarded", () => {
    const gate = new CommitGate(10);
    gate.hold(new Uint8Array(4));
    gate.discard();
    gate.discard();
    expect(gate).toMatchObject({ state: "discarded", heldBytes: 0 });
    expect(() => gate.open()).toThrow(violation);
    expect(() => gate.hold(new Uint8Array(1))).toThrow(violation);
  });
});
