import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ChunkList } from "./chunk-list.ts";

describe("ChunkList", () => {
  it("joins what it was given, though the chunks' memory was reused since (property)", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 8 }), (chunks) => {
        const list = new ChunkList();
        for (const chunk of chunks) {
          const lent = Uint8Array.from(chunk);
          list.add(lent);
          lent.fill(0xdb);
        }
        const joined = Buffer.concat(chunks);
        expect(list.byteLength).toBe(joined.byteLength);
        expect(list.take().equals(joined)).toBe(true);
        expect([list.byteLength, list.take().byteLength]).toEqual([0, 0]);
      }),
    );
  });
});
