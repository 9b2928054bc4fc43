import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { suggest } from "./suggest.ts";

describe("suggest", () => {
  const known = ["host", "port", "maxBody", "maxHeldResponseBytes", "headers", "limits"];
  const rows: readonly { readonly wrong: string; readonly expected: string | undefined }[] = [
    { wrong: "prot", expected: "port" },
    { wrong: "hots", expected: "host" },
    { wrong: "max_body", expected: "maxBody" },
    { wrong: "MAXBODY", expected: "maxBody" },
    { wrong: "maxHeldResponseByte", expected: "maxHeldResponseBytes" },
    { wrong: "header", expected: "headers" },
    { wrong: "workers", expected: undefined },
    { wrong: "x", expected: undefined },
    { wrong: "x".repeat(10_000), expected: undefined },
    { wrong: "", expected: undefined },
  ];
  it.each(rows)("suggests $expected for $wrong", ({ wrong, expected }) => {
    expect(suggest(wrong, known)).toBe(expected);
  });

  it("finds every name that has one character too few, for names of three and more", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,20}$/), fc.nat(19), (name, index) => {
        const cut = index % name.length;
        expect(suggest(name.slice(0, cut) + name.slice(cut + 1), [name])).toBe(name);
      }),
    );
  });
});
