import { describe, expect, it } from "vitest";

import { EventNames } from "./event-names.ts";

describe("EventNames", () => {
  it.each([
    { name: "one name again and again", sequence: ["delta", "delta", "delta"] },
    { name: "names of equal length", sequence: ["ab", "ac", "bc", "ab"] },
    { name: "no name between two", sequence: ["ab", "", "ab"] },
    { name: "a name that begins another", sequence: ["abc", "ab", "abc"] },
    { name: "names of several bytes a character", sequence: ["é", "北", "🙂", "é"] },
    {
      name: "names at the bound of what is remembered and past it",
      sequence: [128, 129, 128, 129].map((length) => "n".repeat(length)),
    },
    { name: "a byte order mark", sequence: ["\ufeffa", "a"] },
  ])("decodes $name", ({ sequence }) => {
    const names = new EventNames();
    const decoded = sequence.map((name) => {
      const bytes = Buffer.concat([Buffer.from("--"), Buffer.from(name), Buffer.from("--")]);
      const seen = names.decode(bytes, 2, bytes.length - 2);
      bytes.fill(0xdb);
      return seen;
    });
    expect(decoded).toEqual(sequence);
  });
});
