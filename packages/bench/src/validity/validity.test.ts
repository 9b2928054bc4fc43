// Every rule at its bound and one past it; a bad gateway is never a reason.
import { describe, expect, it } from "vitest";

import type { LoadRecord } from "../contract/record.ts";
import { isSaturated, voidReasons, type ValidityInput } from "./validity.ts";

const LATENCY = { count: 10_000, mean: 300, p50: 250, p90: 400, p99: 900, p999: 1500, max: 3000 };

function run(change: Partial<LoadRecord> = {}): LoadRecord {
  return {
    offeredRps: 1000,
    windowSeconds: 10,
    offered: 10_000,
    succeeded: 10_000,
    achievedRps: 1000,
    errorFraction: 0,
    lateSends: 0,
    maxLateUs: 200,
    queuedSends: 0,
    connectErrors: 0,
    timeouts: 0,
    brokenBodies: 0,
    statuses: {},
    connectionsPeak: 8,
    latencyUs: LATENCY,
    generatorCpuShare: 0.3,
    mockCpuShare: 0.2,
    clockDriftMs: 0,
    upstreamCalls: 10_000,
    ...change,
  };
}

function input(change: Partial<ValidityInput> = {}): ValidityInput {
  return { gateway: run(), direct: run(), scriptedMs: 0, areCoresShared: false, isClosedLoop: false, ...change };
}

const withP99 = (p99: number): LoadRecord => run({ latencyUs: { ...LATENCY, p99 } });

describe("a repetition stands", () => {
  it.each<{ name: string; change: Partial<ValidityInput> }>([
    { name: "as it should be", change: {} },
    { name: "with 0.1 % of late sends", change: { gateway: run({ lateSends: 10 }), direct: run({ lateSends: 10 }) } },
    {
      name: "with generator and mock at 60 % each on cores of their own",
      change: { gateway: run({ generatorCpuShare: 0.6, mockCpuShare: 0.6 }) },
    },
    {
      name: "with a direct p99 of the scripted delay + 1 ms",
      change: { direct: withP99(1_501_000), scriptedMs: 1500 },
    },
    { name: "with 99.5 % of the direct requests completed", change: { direct: run({ succeeded: 9950 }) } },
    { name: "without any load", change: { gateway: undefined, direct: undefined } },
    {
      name: "with a gateway that fails everything",
      change: { gateway: run({ succeeded: 0, achievedRps: 0, errorFraction: 1, timeouts: 10_000 }) },
    },
    { name: "with a gateway that is slow", change: { gateway: withP99(30_000_000) } },
    {
      name: "with a closed-loop direct run at its limit",
      change: { direct: { ...withP99(9000), generatorCpuShare: 0.9 }, isClosedLoop: true },
    },
    { name: "with a mock whose CPU cannot be read", change: { gateway: run({ mockCpuShare: undefined }) } },
  ])("$name", ({ change }) => {
    expect(voidReasons(input(change))).toEqual([]);
  });
});

describe("a repetition is void", () => {
  it.each<{ name: string; change: Partial<ValidityInput>; says: RegExp }>([
    {
      name: "by late sends of the gateway run",
      change: { gateway: run({ lateSends: 11, maxLateUs: 3000 }) },
      says: /^gateway run: 0\.11 % of the sends were later than 1 ms .*latest 3\.0 ms/,
    },
    {
      name: "by late sends of the direct run",
      change: { direct: run({ lateSends: 500 }) },
      says: /^direct run: 5\.0 % of the sends/,
    },
    {
      name: "by a busy generator",
      change: { gateway: run({ generatorCpuShare: 0.61 }) },
      says: /gateway run: the generator used 61\.0 %/,
    },
    {
      name: "by a busy mock",
      change: { direct: run({ mockCpuShare: 0.7 }) },
      says: /direct run: the mock used 70\.0 %/,
    },
    {
      name: "by generator and mock that fill a shared core",
      change: { gateway: run({ generatorCpuShare: 0.35, mockCpuShare: 0.3 }), areCoresShared: true },
      says: /generator and mock together used 65\.0 %/,
    },
    {
      name: "by a slow path to the mock",
      change: { direct: withP99(1001) },
      says: /direct run: p99 of 1\.00 ms is above the scripted 0 ms \+ 1 ms/,
    },
    {
      name: "by a slow mock",
      change: { direct: withP99(1_502_000), scriptedMs: 1500 },
      says: /above the scripted 1500 ms/,
    },
    {
      name: "by direct requests that did not complete",
      change: { direct: run({ succeeded: 9949 }) },
      says: /completed 99\.5 % of the requests/,
    },
    {
      name: "by an empty window",
      change: { gateway: run({ offered: 0 }) },
      says: /gateway run: no request fell in the measurement window/,
    },
    { name: "by a clock that lies", change: { direct: run({ clockDriftMs: -500 }) }, says: /wall clock moved -500 ms/ },
  ])("$name", ({ change, says }) => {
    expect(voidReasons(input(change))).toEqual([expect.stringMatching(says)]);
  });

  it("for every reason at once", () => {
    const bad = run({ lateSends: 5000, generatorCpuShare: 0.9, mockCpuShare: 0.9, clockDriftMs: 99, succeeded: 1 });
    expect(voidReasons(input({ gateway: bad, direct: { ...bad, latencyUs: { ...LATENCY, p99: 5000 } } }))).toHaveLength(
      10,
    );
  });
});

describe("saturation", () => {
  it.each([
    { name: "holds the rate", change: {}, expected: false },
    { name: "misses less than an edge of the window explains", change: { achievedRps: 994.9 }, expected: false },
    { name: "misses the rate", change: { achievedRps: 990 }, expected: true },
    { name: "has no rate to hold", change: { offeredRps: undefined, achievedRps: 10 }, expected: false },
  ])("$name", ({ change, expected }) => {
    expect(isSaturated(run(change))).toBe(expected);
  });
});
