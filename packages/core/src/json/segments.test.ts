import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { COALESCE_BELOW_BYTES, SegmentWriter, concat } from "./segments.ts";
import type { Segments } from "./segments.ts";

const textOf = (segments: Segments): string => Buffer.from(concat(segments)).toString();

describe("SegmentWriter", () => {
  it("writes each kind of piece", () => {
    const bytes = Buffer.from('"a\\n" [1]');
    const writer = new SegmentWriter();
    writer
      .glue('{"t":')
      .token({ bytes, start: 1, end: 4 })
      .glue(',"s":')
      .string('q"é')
      .glue(',"r":')
      .raw({ bytes, start: 6, end: 9 });
    writer
      .glue(',"n":')
      .number(1.5)
      .glue(',"x":')
      .number(NaN)
      .glue(',"m":"')
      .inside("\n")
      .inside({ bytes, start: 1, end: 4 })
      .glue('","k":')
      .token("k");
    writer.bytes(Buffer.from("}"));
    const segments = writer.finish();
    expect(textOf(segments)).toBe('{"t":"a\\n","s":"q\\"é","r":[1],"n":1.5,"x":null,"m":"\\na\\n","k":"k"}');
    expect(segments.parts.length).toBe(1);
  });

  it("is empty when nothing was written", () => {
    expect(new SegmentWriter().finish()).toEqual({ parts: [], byteLength: 0 });
  });

  it("keeps a slice at the threshold and copies one below it", () => {
    const source = new Uint8Array(COALESCE_BELOW_BYTES + 10).fill(0x61);
    const kept = new SegmentWriter().raw({ bytes: source, start: 5, end: 5 + COALESCE_BELOW_BYTES }).finish();
    expect(kept.parts[0]?.buffer).toBe(source.buffer);
    expect(kept.parts[0]?.byteOffset).toBe(5);
    const copied = new SegmentWriter().raw({ bytes: source, start: 5, end: 4 + COALESCE_BELOW_BYTES }).finish();
    expect(copied.parts[0]?.buffer).not.toBe(source.buffer);
    const bytes = new SegmentWriter().bytes(source).finish();
    expect(bytes.parts[0]).toBe(source);
  });

  it("writes into bytes that no other output holds, however many writers work in turn", () => {
    const writers = Array.from({ length: 50 }, () => new SegmentWriter({ firstChunkBytes: 16 }));
    for (let turn = 0; turn < 20; turn++)
      writers.forEach((writer, index) => writer.glue(String.fromCharCode(65 + index)));
    for (const [index, writer] of writers.entries()) {
      const { parts } = writer.finish();
      expect(Buffer.concat(parts).toString()).toBe(String.fromCharCode(65 + index).repeat(20));
    }
  });

  it("adds up to the pieces in order, however they are cut and whatever the sizes", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme" }).map((text) => ({ kind: "glue" as const, text })),
      fc
        .tuple(fc.constantFrom("a", "é", "日", "😀"), fc.nat(3000))
        .map(([unit, times]) => ({ kind: "glue" as const, text: unit.repeat(times) })),
      fc.string({ unit: "binary" }).map((text) => ({ kind: "string" as const, text })),
      fc.nat(3000).map((length) => ({ kind: "raw" as const, text: "r".repeat(length) })),
      fc.nat(100).map((length) => ({ kind: "bytes" as const, text: "b".repeat(length) })),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.constantFrom(0, 1, 64, 1024, Infinity),
        fc.constantFrom(1, 16, 1024),
        (pieces, coalesceBelowBytes, firstChunkBytes) => {
          const writer = new SegmentWriter({ coalesceBelowBytes, firstChunkBytes });
          let expected = "";
          for (const { kind, text } of pieces) {
            const bytes = Buffer.from(text);
            if (kind === "glue") writer.glue(text);
            else if (kind === "string") writer.string(text);
            else if (kind === "bytes") writer.bytes(bytes);
            else writer.raw({ bytes, start: 0, end: bytes.length });
            expected += kind === "string" ? JSON.stringify(text) : text;
          }
          const segments = writer.finish();
          expect(textOf(segments)).toBe(Buffer.from(expected).toString());
          expect(segments.byteLength).toBe(Buffer.byteLength(expected));
          expect(segments.parts.every((part) => part.length > 0)).toBe(true);
        },
      ),
    );
  });
});
