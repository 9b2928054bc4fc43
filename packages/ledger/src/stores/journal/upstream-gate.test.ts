import { describe, expect, it } from "vitest";

import { GateSink, InnerClient, requestOf } from "./fixtures/gate-rig.ts";
import { LogBook, ManualTurns } from "./fixtures/journal-rig.ts";
import { UpstreamGate } from "./upstream-gate.ts";

class Rig {
  readonly inner: InnerClient = new InnerClient();
  readonly turns: ManualTurns = new ManualTurns();
  readonly log: LogBook = new LogBook();
  canWrite = true;
  flushes = 0;
  readonly gate: UpstreamGate = new UpstreamGate({
    inner: this.inner,
    turnEnd: this.turns.turnEnd,
    logger: this.log,
    flush: () => {
      this.flushes += 1;
      return this.canWrite;
    },
  });
}

describe("UpstreamGate", () => {
  it("sends the calls of a turn at its end, in their order, after one flush", () => {
    const { gate, inner, turns, ...rig } = new Rig();
    for (const id of ["a", "b", "c"]) gate.send(requestOf(id), new GateSink());
    expect(inner.calls).toEqual([]);
    expect(rig.flushes).toBe(0);
    turns.end();
    expect(inner.calls.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    gate.send(requestOf("d"), new GateSink());
    turns.end();
    expect(inner.calls.at(-1)?.id).toBe("d");
  });

  it("fails every call of a turn whose lines could not be written, as one that was never sent", () => {
    const rig = new Rig();
    rig.canWrite = false;
    const sinks = [new GateSink(), new GateSink()];
    for (const sink of sinks) rig.gate.send(requestOf("a"), sink);
    rig.turns.end();
    expect(rig.inner.calls).toEqual([]);
    for (const sink of sinks) {
      expect(sink.failures).toMatchObject([{ kind: "connect", hasResponse: false }]);
      expect(sink.released).toBe(1);
    }
    rig.canWrite = true;
    rig.gate.send(requestOf("b"), new GateSink());
    rig.turns.end();
    expect(rig.inner.calls.map(({ id }) => id)).toEqual(["b"]);
  });

  it.each([true, false])(
    "releases a call that was cancelled before it went out once, and sends nothing; written: %s",
    (canWrite) => {
      const rig = new Rig();
      rig.canWrite = canWrite;
      const sink = new GateSink();
      const call = rig.gate.send(requestOf("a"), sink);
      call.cancel();
      call.cancel();
      expect(sink.released).toBe(0);
      rig.turns.end();
      expect(rig.inner.calls).toEqual([]);
      expect(sink).toMatchObject({ released: 1, failures: [] });
      call.cancel();
      call.resume();
      expect(sink.released).toBe(1);
    },
  );

  const controls = [
    { name: "paused before", before: ["pause"], after: [], expected: ["pause"] },
    { name: "paused and resumed before", before: ["pause", "resume"], after: [], expected: [] },
    {
      name: "paused, resumed and cancelled after",
      before: [],
      after: ["pause", "resume", "cancel"],
      expected: ["pause", "resume", "cancel"],
    },
    { name: "paused before and resumed after", before: ["pause"], after: ["resume"], expected: ["pause", "resume"] },
  ] as const;
  it.each(controls)("passes on what a call is told: $name", ({ before, after, expected }) => {
    const { gate, inner, turns } = new Rig();
    const call = gate.send(requestOf("a"), new GateSink());
    for (const each of before) call[each]();
    turns.end();
    for (const each of after) call[each]();
    expect(inner.calls[0]?.controls).toEqual(expected);
  });

  it("cancels a call whose engine gave it up on what the client told from inside its sending", () => {
    const { gate, inner, turns } = new Rig();
    const call = gate.send(requestOf("a"), new GateSink());
    inner.onSend = () => call.cancel();
    turns.end();
    expect(inner.calls[0]?.controls).toEqual(["cancel"]);
  });

  it("fails a call that its client will not take, logs it, and sends the next ones", () => {
    const rig = new Rig();
    rig.inner.onSend = ({ id }) => {
      if (id === "a") throw new TypeError("no such header");
    };
    const sink = new GateSink();
    rig.gate.send(requestOf("a"), sink);
    rig.gate.send(requestOf("b"), new GateSink());
    rig.turns.end();
    expect(sink).toMatchObject({ released: 1, failures: [{ kind: "connect" }] });
    expect(rig.inner.calls.map(({ id }) => id)).toEqual(["b"]);
    expect(rig.log.messages("error")).toEqual(["An upstream call could not be sent."]);
  });

  it("hands waiting calls on before it closes the client", async () => {
    const rig = new Rig();
    rig.gate.send(requestOf("a"), new GateSink());
    await rig.gate.close();
    rig.turns.end();
    expect(rig.inner.calls.map(({ id }) => id)).toEqual(["a"]);
    expect(rig.flushes).toBe(1);
    expect(rig.inner.isClosed).toBe(true);
  });
});
