import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Part } from "./part.ts";
import { eventsOfResponse, ResponseAssembler } from "./response-events.ts";
import type { Candidate, NeutralResponse, StreamEvent } from "./response.ts";

const assemble = (events: Iterable<StreamEvent>): ResponseAssembler => {
  const assembler = new ResponseAssembler();
  for (const event of events) assembler.add(event);
  return assembler;
};

const signature = fc.record({ origin: fc.constantFrom("o1", "o2"), data: fc.string() });
const optional = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(arbitrary, { nil: undefined });
/** Leaves out what is undefined, as decoders do. */
const dense = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
const at = fc.constant("");

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: fc.string(), at }),
  fc.record({ type: fc.constant("refusal" as const), text: fc.string(), at }),
  fc
    .record({
      type: fc.constant("reasoning" as const),
      form: fc.constantFrom("summary" as const, "raw" as const),
      texts: fc.array(fc.string(), { maxLength: 3 }),
      redacted: optional(fc.string()),
      itemId: optional(fc.string()),
      signature: optional(signature),
      at,
    })
    .map((part) => dense(part) as Part),
  fc
    .record({
      type: fc.constant("tool-call" as const),
      id: fc.string(),
      name: fc.string(),
      namespace: optional(fc.string()),
      kind: fc.constantFrom("function" as const, "custom" as const),
      json: fc.json(),
      signature: optional(signature),
      at,
    })
    .map(({ json, ...part }) => dense({ ...part, arguments: { text: json, encoded: true } }) as Part),
  fc.record({
    type: fc.constantFrom("image" as const, "audio" as const),
    media: fc.record({ from: fc.constant("base64" as const), data: fc.string() }),
    at,
  }),
  fc.record({
    type: fc.constant("server-tool" as const),
    dialect: fc.constant("d"),
    raw: fc.record({ value: fc.jsonValue() }),
    at,
  }),
);

const anyResponse: fc.Arbitrary<NeutralResponse> = fc
  .record({
    id: optional(fc.string()),
    model: optional(fc.string()),
    serviceTier: optional(fc.string()),
    usage: optional(
      fc.record({
        input: fc.nat(),
        output: fc.nat(),
        source: fc.constant("upstream" as const),
        final: fc.constant(true),
      }),
    ),
    parts: fc.array(fc.array(anyPart, { maxLength: 4 }), { maxLength: 3 }),
    logprobs: optional(fc.record({ value: fc.jsonValue() })),
  })
  .map(
    ({ parts, logprobs, ...rest }) =>
      dense({
        ...rest,
        candidates: parts.map(
          (each, index): Candidate =>
            dense({ index, parts: each, stop: { reason: "end", raw: `r${index}` }, logprobs }) as Candidate,
        ),
        extensions: [],
      }) as NeutralResponse,
  );

describe("eventsOfResponse and ResponseAssembler", () => {
  it("give the same answer back (property)", () => {
    fc.assert(
      fc.property(anyResponse, (response) => {
        const assembler = assemble(eventsOfResponse(response));
        expect(assembler.isEnded).toBe(true);
        expect(assembler.response()).toEqual(response);
      }),
    );
  });

  it("make streams of the contract's order: starts, deltas and ends nest, one stop a candidate, one end, last (property)", () => {
    fc.assert(
      fc.property(anyResponse, (response) => {
        const events = [...eventsOfResponse(response)];
        expect([events[0]?.type, events.at(-1)?.type]).toEqual(["start", "end"]);
        const open = new Set<string>();
        const stopped = new Set<number>();
        const counts = new Map<number, number>();
        for (const event of events) {
          if (!("candidate" in event)) continue;
          expect(stopped.has(event.candidate)).toBe(false);
          if (event.type === "stop") stopped.add(event.candidate);
          if (!("part" in event)) continue;
          const key = `${event.candidate}/${event.part}`;
          const isStart = event.type === "part-start";
          expect(isStart ? event.part === (counts.get(event.candidate) ?? 0) : open.has(key)).toBe(true);
          if (isStart) {
            counts.set(event.candidate, event.part + 1);
            open.add(key);
          }
          if (event.type === "part-end") open.delete(key);
        }
        expect(open.size).toBe(0);
        expect(stopped.size).toBe(response.candidates.length);
      }),
    );
  });

  it("leaves out parts that only requests have, without a gap in the numbers", () => {
    const text = (value: string): Part => ({ type: "text", text: value, at: "" });
    const file: Part = { type: "file", media: { from: "text", text: "x" }, at: "" };
    const response: NeutralResponse = {
      candidates: [{ index: 0, parts: [text("a"), file, text("b")], stop: { reason: "end", raw: "" } }],
      extensions: [],
    };
    const numbers = [...eventsOfResponse(response)].flatMap((event) =>
      event.type === "part-start" ? [event.part] : [],
    );
    expect(numbers).toEqual([0, 1]);
  });
});

describe("ResponseAssembler", () => {
  it("joins deltas of overlapping parts and keeps segments of reasoning apart", () => {
    const response = assemble([
      { type: "start", id: "r" },
      { type: "part-start", candidate: 0, part: 0, head: { type: "reasoning", form: "summary" } },
      { type: "part-start", candidate: 0, part: 1, head: { type: "text" } },
      { type: "text-delta", candidate: 0, part: 1, text: "a" },
      { type: "reasoning-delta", candidate: 0, part: 0, text: "x", segment: 1 },
      { type: "text-delta", candidate: 0, part: 1, text: "b" },
      { type: "ping" },
      { type: "part-end", candidate: 0, part: 1 },
      { type: "part-end", candidate: 0, part: 0 },
      { type: "stop", candidate: 0, stop: { reason: "end", raw: "stop" } },
      { type: "end" },
    ]).response();
    expect(response.candidates[0]?.parts).toEqual([
      { type: "reasoning", form: "summary", texts: ["", "x"], at: "" },
      { type: "text", text: "ab", at: "" },
    ]);
  });

  it("unescapes argument bytes of a JSON string and takes plain JSON as it stands", () => {
    const bytes = Buffer.from(String.raw`{\"a\":1}`);
    const plain = Buffer.from(String.raw`{"b":"\n"}`);
    const assembler = assemble([
      { type: "part-start", candidate: 0, part: 0, head: { type: "tool-call", id: "1", name: "f", kind: "function" } },
      { type: "arguments-delta", candidate: 0, part: 0, text: { bytes, start: 0, end: bytes.length }, encoded: true },
      { type: "part-start", candidate: 0, part: 1, head: { type: "tool-call", id: "2", name: "g", kind: "function" } },
      {
        type: "arguments-delta",
        candidate: 0,
        part: 1,
        text: { bytes: plain, start: 0, end: plain.length },
        encoded: false,
      },
      { type: "stop", candidate: 0, stop: { reason: "tool-calls", raw: "" } },
    ]);
    expect(assembler.response().candidates[0]?.parts).toMatchObject([
      { arguments: { text: '{"a":1}' } },
      { arguments: { text: String.raw`{"b":"\n"}` } },
    ]);
    expect(assembler.isEnded).toBe(false);
  });

  it("refuses a delta of a part that never started", () => {
    expect(() => assemble([{ type: "text-delta", candidate: 0, part: 0, text: "x" }])).toThrow(
      expect.objectContaining({ code: "state_violation" }),
    );
  });
});
