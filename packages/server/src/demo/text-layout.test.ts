import { describe, expect, it } from "vitest";

import { COLUMNS, heading, paletteFor, row, shorten, wrap } from "./text-layout.ts";

const plain = paletteFor({ write: () => true });
const coloured = paletteFor({ write: () => true, isTTY: true });

describe("layout", () => {
  it("wraps a row under its own text within the columns", () => {
    const lines = row("label", "word ".repeat(60).trim()).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(2);
    expect(lines[0]).toMatch(/^ {3}label {7}word/u);
    expect(lines[1]).toMatch(/^ {15}word/u);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(COLUMNS);
  });

  it("keeps a word that is longer than the line in one piece", () => {
    expect(wrap(`a ${"b".repeat(200)} c`, 50)).toEqual(["a", "b".repeat(200), "c"]);
  });

  it.each([
    { text: "short", width: 10, expected: "short" },
    { text: "two\n  lines", width: 10, expected: "two lines" },
    { text: "exactly ten", width: 11, expected: "exactly ten" },
    { text: "one too many", width: 11, expected: "one too ma…" },
    { text: "🐉🐉🐉", width: 2, expected: "🐉…" },
  ])("shortens $text to $width characters", ({ text, width, expected }) => {
    expect(shorten(text, width)).toBe(expected);
  });

  it("fills a heading's line to the last column", () => {
    expect(heading("Title", plain)).toMatch(/^Title ─+\n$/u);
    expect(heading("Title", plain).trimEnd()).toHaveLength(COLUMNS);
  });

  it("uses colour on a terminal only", () => {
    expect(plain.good("x")).toBe("x");
    expect(coloured.good("x")).toContain("\u001b[");
  });
});
