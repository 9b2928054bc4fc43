// Arguments: what is wrong is said, and how it would be right.
import { describe, expect, it } from "vitest";

import { readAgent, readCount, readList, readTargetOptions, UsageError } from "./arguments.ts";

describe("arguments", () => {
  it("read lists, settings, counts and agents", () => {
    expect(readList(" H1, C8,,")).toEqual(["H1", "C8"]);
    expect(readList(undefined)).toEqual([]);
    expect(readTargetOptions(["external.command=a b=c", "x.y="])).toEqual({ "external.command": "a b=c", "x.y": "" });
    expect(readCount("repetitions", "3")).toBe(3);
    expect(readCount("repetitions", undefined)).toBeUndefined();
    expect(readAgent("10.0.0.7:9400", "secret")).toEqual({ host: "10.0.0.7", port: 9400, token: "secret" });
    expect(readAgent(undefined, undefined)).toBeUndefined();
  });

  it.each([
    {
      name: "a setting without a value",
      read: () => readTargetOptions(["external.command"]),
      says: "--set wants target.option=value",
    },
    {
      name: "a count of zero",
      read: () => readCount("repetitions", "0"),
      says: "--repetitions wants a number of at least 1",
    },
    { name: "a count that is no number", read: () => readCount("seed", "x"), says: "--seed wants" },
    { name: "an agent without a port", read: () => readAgent("host", "t"), says: "HOST:PORT" },
    { name: "an agent without a token", read: () => readAgent("host:1", ""), says: "DRAGOMAN_BENCH_TOKEN" },
  ])("refuse $name", ({ read, says }) => {
    expect(read).toThrow(UsageError);
    expect(read).toThrow(says);
  });
});
