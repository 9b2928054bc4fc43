// From which size on a slice is better kept than copied into the glue: the same output written both ways.

import { closeSync, openSync, writevSync } from "node:fs";
import { devNull } from "node:os";

import { afterAll, bench, describe } from "vitest";

import { SegmentWriter } from "./segments.ts";
import type { Segments } from "./segments.ts";

const SLICES = 10;
const sink = openSync(devNull, "w");
afterAll(() => closeSync(sink));

function write(bytes: Uint8Array, length: number, coalesceBelowBytes: number): Segments {
  const writer = new SegmentWriter({ coalesceBelowBytes });
  for (let i = 0; i < SLICES; i++) {
    writer
      .glue('{"role":"user","content":"')
      .raw({ bytes, start: i * length, end: (i + 1) * length })
      .glue('"},');
  }
  return writer.finish();
}

describe.each([128, 512, 1024, 2048, 4096])("10 slices of %d bytes", (length) => {
  const bytes = new Uint8Array(SLICES * length).fill(0x61);
  bench("kept", () => {
    writevSync(sink, write(bytes, length, 0).parts as Uint8Array[]);
  });
  bench("copied", () => {
    writevSync(sink, write(bytes, length, Infinity).parts as Uint8Array[]);
  });
});
