import { describe, expect, it } from "vitest";

import type { Deployment, ResolvedModel } from "../config/index.ts";
import {
  DialectRegistry,
  type ClientDialect,
  type EncodedRequest,
  type Issue,
  type ProviderDialect,
} from "../dialect/index.ts";
import { HealthBoard } from "./health-board.ts";
import { chooseDialect, Plan, type EncodeFor } from "./plan.ts";

const provider = (id: string, operations: readonly string[]): { readonly provider: ProviderDialect } => ({
  provider: { id, operations } as unknown as ProviderDialect,
});
const registry = new DialectRegistry(
  [
    { client: { id: "alpha", routes: [] } as unknown as ClientDialect, ...provider("alpha", ["generate"]) },
    provider("beta", ["generate", "count-tokens"]),
    provider("gamma", ["embed"]),
  ],
  [],
);

interface Sketch {
  readonly id: string;
  readonly dialects: readonly string[];
  readonly own?: readonly string[];
  readonly key?: string;
  readonly window?: number;
}

const deployment = ({ id, dialects, own, key, window }: Sketch): Deployment =>
  ({
    id,
    model: "m",
    weight: 1,
    encodingKey: key ?? id,
    capabilities: {
      ...(own === undefined ? {} : { dialects: own }),
      ...(window === undefined ? {} : { contextWindow: window }),
    },
    provider: { kind: { dialects } },
  }) as unknown as Deployment;

const ISSUES: readonly Issue[] = [{ code: "seed_unsupported", path: "/seed", severity: "reject", detail: "" }];
const encodedFor = (id: string): EncodedRequest => ({
  body: { parts: [], byteLength: 0 },
  path: `/${id}`,
  headers: [],
  toolMap: null,
});

/** A plan whose draws keep the given order, with what was encoded so far. */
function makePlan(
  tiers: readonly (readonly Sketch[])[],
  refused: readonly string[] = [],
): { readonly plan: Plan; readonly encoded: string[]; readonly health: HealthBoard } {
  const encoded: string[] = [];
  const health = new HealthBoard();
  const encode: EncodeFor = (target, dialect, isForward) => {
    encoded.push(`${target.id}:${dialect.id}:${isForward ? "forward" : "encode"}`);
    return refused.includes(target.id)
      ? { ok: false, issues: ISSUES }
      : { ok: true, encoded: encodedFor(target.id), issues: [] };
  };
  const model = { tiers: tiers.map((tier) => tier.map(deployment)) } as unknown as ResolvedModel;
  return {
    plan: new Plan({ model, clientDialect: "alpha", operation: "generate", registry, health, random: () => 0, encode }),
    encoded,
    health,
  };
}

const idsOf = (plan: Plan, nowMs = 0): readonly string[] => {
  const ids: string[] = [];
  for (let candidate = plan.next(nowMs); candidate !== null; candidate = plan.next(nowMs))
    ids.push(candidate.deployment.id);
  return ids;
};

describe("chooseDialect", () => {
  it.each([
    {
      name: "the client's own where it is spoken",
      sketch: { id: "x", dialects: ["beta", "alpha"] },
      operation: "generate",
      expected: "alpha",
    },
    {
      name: "the first spoken one otherwise",
      sketch: { id: "x", dialects: ["beta"] },
      operation: "generate",
      expected: "beta",
    },
    {
      name: "one that serves the operation, though the client's own is spoken",
      sketch: { id: "x", dialects: ["alpha", "beta"] },
      operation: "count-tokens",
      expected: "beta",
    },
    {
      name: "the deployment's dialects over its kind's",
      sketch: { id: "x", dialects: ["alpha"], own: ["beta"] },
      operation: "generate",
      expected: "beta",
    },
    {
      name: "none where none serves",
      sketch: { id: "x", dialects: ["gamma", "unknown"] },
      operation: "generate",
      expected: null,
    },
  ] as const)("takes $name", ({ sketch, operation, expected }) => {
    expect(chooseDialect(deployment(sketch), "alpha", operation, registry)?.id ?? null).toBe(expected);
  });
});

describe("Plan", () => {
  it("goes through the tiers in order and encodes a deployment only when it is reached", () => {
    const { plan, encoded } = makePlan([[{ id: "a", dialects: ["alpha"] }], [{ id: "b", dialects: ["beta"] }]]);
    expect(plan.size).toBe(2);
    expect(plan.next(0)).toMatchObject({ isForward: true, encoded: { path: "/a" } });
    expect(encoded).toEqual(["a:alpha:forward"]);
    expect(plan.next(0)).toMatchObject({ isForward: false, encoded: { path: "/b" } });
    expect(encoded).toEqual(["a:alpha:forward", "b:beta:encode"]);
    expect(plan.next(0)).toBeNull();
  });

  it("shares an encoding between deployments of one key and dialect, and only between those", () => {
    const { plan, encoded } = makePlan([
      [
        { id: "a", dialects: ["alpha"], key: "same" },
        { id: "b", dialects: ["alpha"], key: "same" },
        { id: "c", dialects: ["beta"], key: "same" },
        { id: "d", dialects: ["alpha"], key: "other" },
      ],
    ]);
    expect(idsOf(plan)).toEqual(["a", "b", "c", "d"]);
    expect(encoded).toEqual(["a:alpha:forward", "c:beta:encode", "d:alpha:forward"]);
  });

  it("shares a refusal too", () => {
    const { plan, encoded } = makePlan(
      [
        [
          { id: "a", dialects: ["alpha"], key: "same" },
          { id: "b", dialects: ["alpha"], key: "same" },
        ],
      ],
      ["a"],
    );
    expect(idsOf(plan)).toEqual([]);
    expect(encoded).toHaveLength(1);
    expect(plan.refused.map((refused) => refused.deployment.id)).toEqual(["a", "b"]);
  });

  it("keeps what was refused with its reasons and goes on", () => {
    const { plan } = makePlan(
      [
        [
          { id: "a", dialects: ["alpha"] },
          { id: "b", dialects: ["gamma"] },
          { id: "c", dialects: ["beta"] },
        ],
      ],
      ["a"],
    );
    expect(idsOf(plan)).toEqual(["c"]);
    expect(plan.refused.map(({ deployment: { id }, issues }) => [id, issues[0]?.code])).toEqual([
      ["a", "seed_unsupported"],
      ["b", "capability_missing"],
    ]);
  });

  it("passes over what rests, without encoding for it, and says for how long", () => {
    const { plan, encoded, health } = makePlan([
      [
        { id: "a", dialects: ["alpha"] },
        { id: "b", dialects: ["alpha"] },
      ],
    ]);
    const resting = health.deployment({ id: "a", model: "m" });
    resting.fail(
      resting.begin(0),
      { class: "rate-limit", origin: "upstream", message: "", retrySame: true, fallback: true, retryAfterMs: 700 },
      0,
      10_000,
    );
    expect(idsOf(plan, 200)).toEqual(["b"]);
    expect(plan.resting).toMatchObject([{ deployment: { id: "a" }, retryAfterMs: 500, cause: "cooldown" }]);
    expect(encoded).toEqual(["b:alpha:forward"]);
  });

  it.each([
    { minWindow: 1_000, expected: "larger" },
    { minWindow: 0, expected: "equal" },
    { minWindow: 2_000, expected: null },
  ])("looks for a window above $minWindow only among those known to have one", ({ minWindow, expected }) => {
    const { plan } = makePlan([
      [
        { id: "unknown", dialects: ["alpha"] },
        { id: "equal", dialects: ["alpha"], window: 1_000 },
      ],
      [{ id: "larger", dialects: ["alpha"], window: 2_000 }],
    ]);
    expect(plan.next(0, minWindow)?.deployment.id ?? null).toBe(expected);
  });
});
