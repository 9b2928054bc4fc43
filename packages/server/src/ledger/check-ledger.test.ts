import { describe, expect, it } from "vitest";

import type { DeploymentConfig, GatewayConfig, LimitConfig } from "@dragoman/core";

import { checkLedger } from "./check-ledger.ts";

const base = { version: 1, providers: { main: { kind: "plain" } }, models: { chat: ["main/x"] } } as const;
const FINE = [{ usd: 0.1, per: "day" }] satisfies readonly LimitConfig[];
const TOO_FINE = [
  { requests: 1, per: "day" },
  { usd: 1e-10, per: "day" },
] satisfies readonly LimitConfig[];

const problemsOf = (more: Partial<GatewayConfig>): readonly string[] =>
  checkLedger({ ...base, ...more }).map(({ path, message }) => `${path}: ${message}`);

describe("checkLedger", () => {
  it.each<{ readonly path: string; readonly config: Partial<GatewayConfig> }>([
    { path: "/limits/global", config: { limits: { global: TOO_FINE, eachEndUser: FINE } } },
    { path: "/limits/eachEndUser", config: { limits: { global: FINE, eachEndUser: TOO_FINE } } },
    { path: "/owners/team.a/limits", config: { owners: { fine: { limits: FINE }, "team.a": { limits: TOO_FINE } } } },
    { path: "/owners/team/eachKey", config: { owners: { team: { limits: FINE, eachKey: TOO_FINE } } } },
    {
      path: "/keys/1/limits",
      config: {
        keys: [
          { name: "a", hash: "h", models: [], limits: FINE },
          { name: "b", hash: "i", models: [], limits: TOO_FINE },
        ],
      },
    },
    {
      path: "/models/vendor~1*/limits",
      config: {
        models: { ...base.models, "vendor/*": { deployments: [{ provider: "main", model: "*" }], limits: TOO_FINE } },
      },
    },
    {
      path: "/models/m/deployments/1/limits",
      config: {
        models: {
          m: {
            deployments: [
              { provider: "main", model: "x" },
              { provider: "main", model: "y", limits: TOO_FINE },
            ],
          },
        },
      },
    },
  ])("places a limit that is too fine at $path", ({ path, config }) => {
    expect(problemsOf(config)).toEqual([`${path}/1/usd: must be USD from 0 to 9007199 with at most nine decimals`]);
  });

  const deployment = (prices: NonNullable<DeploymentConfig["prices"]>): Partial<GatewayConfig> => ({
    models: { m: { deployments: [{ provider: "main", model: "x", prices }] } },
  });

  it.each<{ readonly name: string; readonly config: Partial<GatewayConfig>; readonly problems: readonly RegExp[] }>([
    {
      name: "two limits of one thing",
      config: { limits: { global: [...FINE, ...FINE] } },
      problems: [/^\/limits\/global\/1: must be the only limit of usd per day$/],
    },
    {
      name: "limits of nothing and of two things",
      config: { limits: { global: [{ per: "day" }, { usd: 1, tokens: 1, per: "day" }] } },
      problems: [/^\/limits\/global\/0: must have exactly one of/, /^\/limits\/global\/1: must have exactly one of/],
    },
    {
      name: "a deployment's only price that is too fine",
      config: deployment({ input: 1e-7, output: 1 }),
      problems: [/^\/models\/m\/deployments\/0\/prices\/input: .*six decimals$/],
    },
    {
      name: "a deployment's second price from the same day",
      config: deployment([
        { input: 1, output: 1 },
        { input: 2, output: 2 },
      ]),
      problems: [/^\/models\/m\/deployments\/0\/prices\/1: is the second price of \* that holds from the same day$/],
    },
    {
      name: "tiers out of order in the table",
      config: {
        prices: {
          rows: [
            {
              model: "m",
              input: 1,
              output: 1,
              tiers: [
                { aboveInputTokens: 9, input: 1, output: 1 },
                { aboveInputTokens: 9, input: 1, output: 1 },
              ],
            },
          ],
        },
      },
      problems: [/^\/prices\/rows\/0\/tiers\/1\/aboveInputTokens: must be a whole number above 9$/],
    },
  ])("reports $name", ({ config, problems }) => {
    expect(problemsOf(config)).toEqual(problems.map((problem) => expect.stringMatching(problem)));
  });

  it("finds nothing in a configuration that is fine", () => {
    expect(
      problemsOf({
        limits: { global: FINE },
        ...deployment([
          { input: 1, output: 1 },
          { from: "2027-01-01", input: 2, output: 2 },
        ]),
      }),
    ).toEqual([]);
  });
});
