import { describe, expect, it } from "vitest";

import type { ProviderDialect, UpstreamErrorAnswer } from "../dialect/index.ts";
import { ErrorReader, type ErrorAnswer } from "./answer-error.ts";
import { brokenAnswer } from "./failures.ts";

function makeReader(maxBytes: number): {
  readonly reader: ErrorReader;
  readonly answers: ErrorAnswer[];
  readonly classified: UpstreamErrorAnswer[];
} {
  const answers: ErrorAnswer[] = [];
  const classified: UpstreamErrorAnswer[] = [];
  const provider = {
    classifyError: (answer: UpstreamErrorAnswer) => {
      classified.push(answer);
      return brokenAnswer("x");
    },
  } as unknown as ProviderDialect;
  const context = { profile: {}, upstreamModel: "m", headers: [], count: () => undefined };
  const reader = new ErrorReader({
    status: 503,
    headers: ["a", "b"],
    provider,
    context,
    maxBytes,
    nowMs: 9,
    onError: (answer) => answers.push(answer),
  });
  return { reader, answers, classified };
}

describe("ErrorReader", () => {
  it("classifies a whole answer once, with status, headers and time", () => {
    const { reader, answers, classified } = makeReader(10);
    reader.data(Buffer.from("01234"));
    reader.data(Buffer.from("56789"));
    expect(answers).toEqual([]);
    reader.end();
    reader.end();
    reader.data(Buffer.from("more"));
    expect(classified).toMatchObject([{ status: 503, headers: ["a", "b"], nowMs: 9 }]);
    expect(answers.map(({ isWhole, body }) => [isWhole, Buffer.from(body).toString()])).toEqual([[true, "0123456789"]]);
  });

  it("cuts an answer one byte past the bound, and waits for no more of it", () => {
    const { reader, answers } = makeReader(10);
    reader.data(Buffer.from("0123456"));
    reader.data(Buffer.from("789A"));
    expect(answers.map(({ isWhole, body }) => [isWhole, Buffer.from(body).toString()])).toEqual([
      [false, "0123456789"],
    ]);
    reader.data(Buffer.from("BC"));
    reader.end();
    expect(answers).toHaveLength(1);
  });

  it("classifies an empty answer", () => {
    const { reader, answers } = makeReader(10);
    reader.end();
    expect(answers[0]?.body.byteLength).toBe(0);
  });
});
