import { describe, expect, it } from "vitest";

import { ContentEstimate } from "./content-estimate.ts";

const estimateOf = (records: readonly number[], texts: readonly number[] = []): number => {
  const estimate = new ContentEstimate();
  for (const bytes of records) estimate.addRecord(bytes);
  for (const bytes of texts) estimate.addText(bytes);
  return estimate.tokens;
};

describe("ContentEstimate", () => {
  it.each([
    { name: "nothing of a stream that brought nothing", records: [], texts: [], expected: 0 },
    {
      name: "a token for each record of one token, whatever is around it",
      records: [290, 290, 290, 290],
      texts: [],
      expected: 4,
    },
    { name: "what records have beyond the smallest", records: [120, 140, 160], texts: [], expected: 3 + 15 },
    { name: "a single large record by its bytes beyond an envelope", records: [4400], texts: [], expected: 1 + 1000 },
    { name: "a single small record as one token", records: [150], texts: [], expected: 1 },
    {
      name: "texts by their bytes, each at least one token",
      records: [],
      texts: [1, 4, 5, 40],
      expected: 1 + 1 + 2 + 10,
    },
  ])("estimates $name", ({ records, texts, expected }) => {
    expect(estimateOf(records, texts)).toBe(expected);
  });
});
