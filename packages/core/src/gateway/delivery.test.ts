import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { Delivery, type DeliveryHost } from "./delivery.ts";
import type { Responder } from "./ports.ts";

/** Records what is done to a client's connection, and throws at what may not be done any more. */
class FakeResponder implements Responder {
  readonly log: string[] = [];
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  hasRoom = true;
  isOver = false;

  head(status: number): void {
    this.#note(`head ${status}`);
  }
  write(bytes: Uint8Array): boolean {
    this.#note(`write ${Buffer.from(bytes).toString()}`);
    return this.hasRoom;
  }
  end(bytes: Uint8Array | null, closeConnection: boolean): void {
    this.#note(`end ${bytes === null ? "-" : Buffer.from(bytes).toString()}${closeConnection ? " close" : ""}`);
    this.isOver = true;
  }
  abort(): void {
    this.#note("abort");
    this.isOver = true;
  }
  leave(): void {
    this.isOver = true;
    this.onGone?.();
  }

  #note(what: string): void {
    if (this.isOver) throw new Error(`${what} after the end`);
    this.log.push(what);
  }
}

interface Fixture {
  readonly responder: FakeResponder;
  readonly delivery: Delivery;
  readonly heard: string[];
}

function makeFixture(maxQueuedBytes = 8, sealing: Promise<boolean> | null = null): Fixture {
  const heard: string[] = [];
  const host: DeliveryHost = {
    onPressure: (isHigh) => heard.push(isHigh ? "high" : "low"),
    onProgress: () => heard.push("progress"),
    onGone: () => heard.push("gone"),
    onDelivered: () => heard.push("delivered"),
    sealing: () => sealing,
  };
  const responder = new FakeResponder();
  return { responder, delivery: new Delivery(responder, maxQueuedBytes, host), heard };
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe("Delivery", () => {
  it("writes a whole answer in one go", () => {
    const { responder, delivery, heard } = makeFixture();
    delivery.whole(200, [], bytes("body"), true);
    expect(responder.log).toEqual(["head 200", "end body close"]);
    expect(heard).toEqual(["delivered"]);
    expect(delivery.deliveredBytes).toBe(4);
  });

  it("writes an answer in pieces and ends it once", () => {
    const { responder, delivery, heard } = makeFixture();
    delivery.push(bytes("early"));
    delivery.open(200, []);
    delivery.open(500, []);
    delivery.push(bytes("a"));
    delivery.end();
    delivery.end();
    delivery.push(bytes("late"));
    expect(responder.log).toEqual(["head 200", "write a", "end -"]);
    expect(heard).toEqual(["delivered"]);
  });

  it("ends only when a slow client has taken everything", () => {
    const { responder, delivery, heard } = makeFixture();
    delivery.open(200, []);
    responder.hasRoom = false;
    delivery.push(bytes("a"));
    delivery.push(bytes("b"));
    delivery.end();
    expect([delivery.isEnding, heard]).toEqual([true, []]);
    responder.hasRoom = true;
    responder.onDrain?.();
    expect(responder.log).toEqual(["head 200", "write a", "write b", "end -"]);
    expect(heard).toEqual(["progress", "delivered"]);
  });

  it("tells of pressure and relief around its queue's bound", () => {
    const { responder, delivery, heard } = makeFixture(4);
    delivery.open(200, []);
    responder.hasRoom = false;
    for (const piece of ["a", "bb", "ccc"]) delivery.push(bytes(piece));
    expect(heard).toEqual(["high"]);
    responder.hasRoom = true;
    responder.onDrain?.();
    expect(heard).toEqual(["high", "progress", "low"]);
  });

  it("discards what comes after the client has left, and says so once", () => {
    const { responder, delivery, heard } = makeFixture();
    delivery.open(200, []);
    delivery.push(bytes("a"));
    responder.leave();
    responder.onGone?.();
    delivery.push(bytes("b"));
    delivery.end();
    delivery.abort();
    delivery.cutOff();
    expect(responder.log).toEqual(["head 200", "write a"]);
    expect(heard).toEqual(["gone"]);
    expect([delivery.isGone, delivery.deliveredBytes]).toEqual([true, 1]);
  });

  it("writes nothing to a client that left before the answer", () => {
    const { responder, delivery, heard } = makeFixture();
    responder.leave();
    delivery.whole(200, [], bytes("x"), false);
    delivery.open(200, []);
    expect([responder.log, heard]).toEqual([[], ["gone"]]);
  });

  it("does not end a whole answer when the connection is lost while its head is written", () => {
    const { responder, delivery, heard } = makeFixture();
    const head = responder.head.bind(responder);
    responder.head = (status) => {
      head(status);
      responder.leave();
    };
    delivery.whole(200, [], bytes("x"), false);
    expect([responder.log, heard]).toEqual([["head 200"], ["gone"]]);
  });

  const sealed: readonly {
    readonly name: string;
    readonly isKept: boolean;
    readonly answer: (delivery: Delivery) => void;
    readonly before: readonly string[];
    readonly after: readonly string[];
  }[] = [
    {
      name: "a whole answer",
      isKept: true,
      answer: (delivery) => delivery.whole(200, [], bytes("body"), false),
      before: [],
      after: ["head 200", "end body"],
    },
    {
      name: "a whole answer that could not be kept",
      isKept: false,
      answer: (delivery) => delivery.whole(200, [], bytes("body"), false),
      before: [],
      after: ["abort"],
    },
    {
      name: "the end of pieces",
      isKept: true,
      answer: (delivery) => {
        delivery.open(200, []);
        delivery.push(bytes("a"));
        delivery.end();
      },
      before: ["head 200", "write a"],
      after: ["head 200", "write a", "end -"],
    },
    {
      name: "the end of pieces that could not be kept",
      isKept: false,
      answer: (delivery) => {
        delivery.open(200, []);
        delivery.push(bytes("a"));
        delivery.end();
      },
      before: ["head 200", "write a"],
      after: ["head 200", "write a", "abort"],
    },
  ];
  it.each(sealed)("lets $name wait for its seal", async ({ isKept, answer, before, after }) => {
    const seal = Promise.resolve(isKept);
    const { responder, delivery, heard } = makeFixture(8, seal);
    answer(delivery);
    // Nothing else can become the answer while the seal is on its way.
    delivery.whole(500, [], bytes("other"), false);
    delivery.push(bytes("late"));
    expect([responder.log, heard, delivery.isEnding]).toEqual([before, [], true]);
    await seal;
    expect([responder.log, heard]).toEqual([after, ["delivered"]]);
    expect(delivery.deliveredBytes).toBe(before.length === 0 ? 4 : 1);
  });

  it("forgets an answer whose client leaves while its seal is on its way", async () => {
    const seal = Promise.resolve(true);
    const { responder, delivery, heard } = makeFixture(8, seal);
    delivery.whole(200, [], bytes("body"), false);
    responder.leave();
    await seal;
    expect([responder.log, heard]).toEqual([[], ["gone"]]);
  });

  it("breaks a transfer off, dropping what waits", () => {
    const { responder, delivery, heard } = makeFixture();
    delivery.open(200, []);
    responder.hasRoom = false;
    delivery.push(bytes("a"));
    delivery.push(bytes("b"));
    delivery.end();
    delivery.abort();
    expect(responder.log).toEqual(["head 200", "write a", "abort"]);
    expect(heard).toEqual(["delivered"]);
    responder.onGone?.();
    expect(heard).toEqual(["delivered"]);
  });

  it("counts a client that is cut off as lost", () => {
    const { responder, delivery, heard } = makeFixture();
    delivery.open(200, []);
    delivery.cutOff();
    expect([responder.log, heard]).toEqual([["head 200", "abort"], ["gone"]]);
  });

  it("keeps order, one head, one end and one last word, whatever is called when (model)", () => {
    const step = fc.constantFrom(
      "open",
      "push",
      "push",
      "push",
      "end",
      "whole",
      "abort",
      "cutOff",
      "leave",
      "fill",
      "drain",
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { responder, delivery, heard } = makeFixture(6);
        let pushed = 0;
        for (const name of steps) {
          if (name === "open") delivery.open(200, []);
          else if (name === "push") delivery.push(bytes(`<${pushed++}>`));
          else if (name === "end") delivery.end();
          else if (name === "whole") delivery.whole(200, [], bytes("whole"), false);
          else if (name === "abort") delivery.abort();
          else if (name === "cutOff") delivery.cutOff();
          else if (name === "fill") responder.hasRoom = false;
          else if (name === "drain") {
            responder.hasRoom = true;
            if (!responder.isOver) responder.onDrain?.();
          } else if (!responder.isOver) responder.leave();
        }
        const heads = responder.log.filter((each) => each.startsWith("head"));
        expect(heads.length).toBeLessThanOrEqual(1);
        const hasBody = responder.log.some((each) => each.startsWith("write") || each.startsWith("end"));
        expect(hasBody && responder.log[0] !== "head 200").toBe(false);
        const lastWords = heard.filter((each) => each === "gone" || each === "delivered");
        expect(lastWords.length).toBe(responder.isOver ? 1 : 0);
        expect(
          heard
            .filter((each) => each === "high" || each === "low")
            .every((each, index) => each === (index % 2 === 0 ? "high" : "low")),
        ).toBe(true);
        const numbers = [...responder.log.join("").matchAll(/<(\d+)>/g)].map((match) => Number(match[1]));
        expect(numbers).toEqual([...numbers].sort((left, right) => left - right));
        expect(new Set(numbers).size).toBe(numbers.length);
      }),
    );
  });
});
