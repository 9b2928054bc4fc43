import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { Scanner } from "./scanner.ts";

describe("Scanner", () => {
  it("gives the same document object for every text", () => {
    const scanner = new Scanner();
    const first = scanner.scan(Buffer.from('{"a":1}'));
    const second = scanner.scan(Buffer.from("[true]"));
    expect(second).toBe(first);
    expect(second?.value(0)).toEqual([true]);
  });

  it("clears its error with the next good text", () => {
    const scanner = new Scanner();
    expect(scanner.scan(Buffer.from("{"))).toBeNull();
    expect(scanner.error?.code).toBe("json_syntax");
    expect(scanner.scan(Buffer.from("{}"))).not.toBeNull();
    expect(scanner.error).toBeNull();
  });

  it("scans ranges of one buffer one after another", () => {
    const lines = ['{"n":1}', "bad", '{"n":"é"}', '{"n":[2]}'];
    const bytes = Buffer.from(lines.join("\n"));
    const scanner = new Scanner();
    let start = 0;
    const seen = lines.map((line) => {
      const end = start + Buffer.byteLength(line);
      const document = scanner.scan(bytes, start, end);
      start = end + 1;
      return document === null ? scanner.error?.line : document.value(document.member(0, "n"));
    });
    expect(seen).toEqual([1, 1, "é", [2]]);
  });

  it("gives for texts in any order what a fresh scanner gives for each", () => {
    const text = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.string(),
      fc.constantFrom("[", '{"a":1,"a":2}', '{"\\u0061":1,"a":2}', '{"a":[{"b":', `[${"0,".repeat(300)}0]`),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (texts) => {
        const reused = new Scanner();
        for (const each of texts) {
          const fresh = new Scanner();
          const bytes = Buffer.from(each);
          expect(reused.scan(bytes)?.value(0)).toEqual(fresh.scan(bytes)?.value(0));
          expect(reused.error).toEqual(fresh.error);
        }
      }),
    );
  });
});

describe("Scanner, repeated names", () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `name-${i}`);
  const objectOf = (keys: readonly string[]): Buffer =>
    Buffer.from(`{${keys.map((key) => `"${key}":[{"x":1}]`).join(",")}}`);

  it.each([2, 3, 15, 16, 17, 18, 40, 1000])("finds the one repeated name among %d", (count) => {
    const keys = names(count - 1);
    for (const place of [0, (count - 1) >> 1, count - 2]) {
      const scanner = new Scanner();
      expect(scanner.scan(objectOf([...keys, keys[place] ?? ""]))).toBeNull();
      expect(scanner.error?.code).toBe("json_duplicate_member");
    }
    expect(new Scanner().scan(objectOf(names(count)))).not.toBeNull();
  });

  const rows = [
    { name: "two empty names", input: '{"":1,"":2}', repeats: true },
    { name: "an empty name beside others", input: '{"":1,"a":2,"\\"":3}', repeats: false },
    { name: "an escaped name and the plain one", input: '{"\\u0061b":1,"ab":2}', repeats: true },
    { name: "the plain name and an escaped one", input: '{"ab":1,"a\\u0062":2}', repeats: true },
    { name: "two spellings of one character beyond the BMP", input: '{"\\ud83d\\ude00":1,"😀":2}', repeats: true },
    { name: "two spellings of a lone surrogate", input: '{"\\ud800":1,"\\uD800":2}', repeats: true },
    { name: "a backslash and what looks like its escape", input: '{"\\\\u0061":1,"a":2}', repeats: false },
    { name: "one name in two objects", input: '{"a":{"a":1},"b":{"a":2}}', repeats: false },
    { name: "a repeat after a nested object", input: '{"a":{"b":{"c":1}},"b":2,"a":3}', repeats: true },
    { name: "an escaped name after a nested object", input: '{"ab":{"x":[{}]},"\\u0061b":3}', repeats: true },
    { name: "names with one signature", input: '{"aXbYa":1,"aZbWa":2}', repeats: false },
    { name: "names of length 2 and 18 with one signature", input: `{"aa":1,"${"a".repeat(18)}":2}`, repeats: false },
  ];
  it.each(rows)("answers $repeats for $name", ({ input, repeats }) => {
    const scanner = new Scanner();
    expect(scanner.scan(Buffer.from(input)) === null).toBe(repeats);
    expect(scanner.error?.code).toBe(repeats ? "json_duplicate_member" : undefined);
  });

  it("refuses an object exactly when a decoded name occurs twice", () => {
    const name = fc.stringMatching(/^[ab\\"é]{0,3}$/);
    const spelled = fc.tuple(name, fc.boolean()).map(([text, isEscaped]) => {
      const plain = JSON.stringify(text);
      const spelling = isEscaped
        ? `"${text
            .split("")
            .map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
            .join("")}"`
        : plain;
      return { text, spelling };
    });
    fc.assert(
      fc.property(fc.array(spelled, { maxLength: 30 }), (members) => {
        const text = `{${members.map(({ spelling }) => `${spelling}:0`).join(",")}}`;
        const isRepeated = new Set(members.map((member) => member.text)).size < members.length;
        expect(new Scanner().scan(Buffer.from(text)) === null).toBe(isRepeated);
      }),
    );
  });
});
