import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { ErrorClass, NeutralError } from "../ir/index.ts";
import { DEFAULT_BREAKER, DeploymentHealth, type BreakerLimits } from "./health.ts";

const LIMITS: BreakerLimits = {
  ...DEFAULT_BREAKER,
  consecutiveFailures: 3,
  minCalls: 10,
  openMs: 1_000,
  maxOpenMs: 5_000,
};
const MAX_COOLDOWN_MS = 10_000;

const error = (name: ErrorClass, retryAfterMs?: number): NeutralError => ({
  class: name,
  origin: "upstream",
  message: "",
  retrySame: true,
  fallback: true,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

const fail = (health: DeploymentHealth, nowMs: number, name: ErrorClass = "overloaded"): void => {
  health.fail(health.begin(nowMs), error(name), nowMs, MAX_COOLDOWN_MS);
};
const succeed = (health: DeploymentHealth, nowMs: number): void => {
  health.succeed(health.begin(nowMs), nowMs);
};

/** A breaker that has just opened at 0. */
function openBreaker(): DeploymentHealth {
  const health = new DeploymentHealth(LIMITS);
  for (let call = 0; call < 3; call++) fail(health, 0);
  expect(health.state).toBe("open");
  return health;
}

describe("DeploymentHealth", () => {
  it("opens at the bound of consecutive failures, not one before", () => {
    const health = new DeploymentHealth(LIMITS);
    fail(health, 0);
    fail(health, 0);
    expect(health.unavailable(0)).toBeNull();
    fail(health, 0);
    expect(health.unavailable(0)).toEqual({ cause: "breaker", retryAfterMs: 1_000 });
  });

  it("begins to count anew after a success", () => {
    const health = new DeploymentHealth(LIMITS);
    for (let round = 0; round < 4; round++) {
      fail(health, 0);
      fail(health, 0);
      for (let call = 0; call < 4; call++) succeed(health, 0);
    }
    expect(health.state).toBe("closed");
  });

  it("opens at the failure rate once enough calls fell into the window", () => {
    const health = new DeploymentHealth(LIMITS);
    for (let round = 0; round < 4; round++) {
      succeed(health, 0);
      fail(health, 0);
    }
    succeed(health, 0);
    expect(health.state).toBe("closed");
    fail(health, 0);
    expect(health.state).toBe("open");
  });

  it("forgets the rate of an earlier window", () => {
    const health = new DeploymentHealth(LIMITS);
    for (let round = 0; round < 4; round++) {
      fail(health, 0);
      succeed(health, 0);
    }
    succeed(health, LIMITS.windowMs);
    fail(health, LIMITS.windowMs);
    expect(health.state).toBe("closed");
  });

  it.each<ErrorClass>(["overloaded", "timeout", "upstream-5xx", "network", "protocol"])(
    "counts failures of class %s",
    (name) => {
      const health = new DeploymentHealth(LIMITS);
      for (let call = 0; call < 3; call++) fail(health, 0, name);
      expect(health.state).toBe("open");
    },
  );

  it.each<ErrorClass>([
    "auth",
    "permission",
    "not-found",
    "invalid-request",
    "too-large",
    "context-length",
    "content-policy",
    "rate-limit",
    "quota",
    "cancelled",
    "internal",
  ])("never counts failures of class %s", (name) => {
    const health = new DeploymentHealth(LIMITS);
    for (let call = 0; call < 100; call++) fail(health, 0, name);
    expect(health.state).toBe("closed");
    expect(health.unavailable(0)).toBeNull();
  });

  it("lets one probe out when the time is over, and closes when it succeeds", () => {
    const health = openBreaker();
    expect(health.unavailable(999)).toEqual({ cause: "breaker", retryAfterMs: 1 });
    expect(health.unavailable(1_000)).toBeNull();
    const probe = health.begin(1_000);
    expect(health.state).toBe("half-open");
    expect(health.unavailable(1_000)).toEqual({ cause: "breaker", retryAfterMs: 1_000 });
    health.succeed(probe, 1_100);
    expect(health.state).toBe("closed");
    expect(health.unavailable(1_100)).toBeNull();
    fail(health, 1_200);
    expect(health.state).toBe("closed");
  });

  it("opens for twice as long after every failed probe, up to the bound, and from the start again once closed", () => {
    const health = openBreaker();
    let nowMs = 1_000;
    for (const expected of [2_000, 4_000, 5_000, 5_000]) {
      fail(health, nowMs);
      expect(health.unavailable(nowMs)?.retryAfterMs).toBe(expected);
      nowMs += expected;
    }
    succeed(health, nowMs);
    for (let call = 0; call < 3; call++) fail(health, nowMs);
    expect(health.unavailable(nowMs)?.retryAfterMs).toBe(1_000);
  });

  it("gives a probe's place back when it ends without a verdict", () => {
    const health = openBreaker();
    health.abandon(health.begin(1_000));
    expect(health.unavailable(1_000)).toBeNull();
    fail(health, 1_000, "invalid-request");
    expect(health.state).toBe("half-open");
    expect(health.unavailable(1_000)).toBeNull();
  });

  it("does not let calls from before the opening decide, nor free a probe's place", () => {
    const health = new DeploymentHealth(LIMITS);
    const late = [health.begin(0), health.begin(0), health.begin(0)];
    for (let call = 0; call < 3; call++) fail(health, 0);
    health.succeed(late[0] as number, 10);
    expect(health.state).toBe("open");
    health.fail(late[1] as number, error("network"), 500, MAX_COOLDOWN_MS);
    expect(health.unavailable(500)?.retryAfterMs).toBe(500);
    health.begin(1_000);
    health.abandon(late[2] as number);
    expect(health.unavailable(1_000)).not.toBeNull();
  });

  it("does not take a probe of an earlier half-open phase for one of this phase", () => {
    const health = new DeploymentHealth({ ...LIMITS, probes: 2 });
    for (let call = 0; call < 3; call++) fail(health, 0);
    const slow = health.begin(1_000);
    fail(health, 1_000);
    health.begin(3_000);
    health.succeed(slow, 3_000);
    expect(health.state).toBe("half-open");
  });

  it.each<{ readonly name: ErrorClass; readonly rests: boolean }>([
    { name: "rate-limit", rests: true },
    { name: "overloaded", rests: true },
    { name: "quota", rests: true },
    { name: "invalid-request", rests: false },
    { name: "upstream-5xx", rests: false },
  ])("rests as long as an upstream asks for with class $name: $rests", ({ name, rests }) => {
    const health = new DeploymentHealth(LIMITS);
    health.fail(health.begin(0), error(name, 2_000), 0, MAX_COOLDOWN_MS);
    expect(health.unavailable(1_999)).toEqual(rests ? { cause: "cooldown", retryAfterMs: 1 } : null);
    expect(health.unavailable(2_000)).toBeNull();
  });

  it("bounds a cooldown, and never shortens one", () => {
    const health = new DeploymentHealth(LIMITS);
    health.fail(health.begin(0), error("rate-limit", 3_600_000), 0, MAX_COOLDOWN_MS);
    health.fail(health.begin(0), error("rate-limit", 5), 0, MAX_COOLDOWN_MS);
    expect(health.unavailable(0)?.retryAfterMs).toBe(MAX_COOLDOWN_MS);
  });

  it("never has more probes out than allowed, and always recovers (model)", () => {
    const step = fc.record({
      kind: fc.constantFrom("call", "succeed", "fail", "abandon", "wait"),
      pick: fc.nat(20),
      waitMs: fc.nat(3_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 3 }), (steps, probes) => {
        const health = new DeploymentHealth({ ...LIMITS, probes });
        const running: { readonly call: number; readonly isProbe: boolean }[] = [];
        let nowMs = 0;
        for (const { kind, pick, waitMs } of steps) {
          if (kind === "wait") nowMs += waitMs;
          else if (kind === "call") {
            if (health.unavailable(nowMs) !== null) continue;
            const call = health.begin(nowMs);
            running.push({ call, isProbe: health.state === "half-open" });
          } else {
            const [ended] = running.splice(pick % Math.max(1, running.length), 1);
            if (ended === undefined) continue;
            if (kind === "succeed") health.succeed(ended.call, nowMs);
            else if (kind === "fail") health.fail(ended.call, error("network"), nowMs, MAX_COOLDOWN_MS);
            else health.abandon(ended.call);
          }
          const newest = Math.max(0, ...running.filter((each) => each.isProbe).map((each) => each.call));
          const probesOut = running.filter((each) => each.call === newest && each.isProbe).length;
          expect(health.state === "half-open" && probesOut > probes).toBe(false);
        }
        for (const { call } of running) health.abandon(call);
        expect(health.unavailable(nowMs + LIMITS.maxOpenMs)).toBeNull();
      }),
    );
  });
});
