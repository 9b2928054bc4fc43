import { describe, expect, it } from "vitest";

import { compileConfig } from "@dragoman/core";

import { FAKE_REGISTRY } from "../../test/fake-registry.ts";
import { createSecretResolver } from "./secret-resolver.ts";
import { configFromEnvironment, discoveryVariables } from "./zero-config.ts";

describe("configFromEnvironment", () => {
  it("has a provider for each variable that is set, and refers to the variable", () => {
    expect(configFromEnvironment({ HOSTED_API_KEY: "hunter2", OTHER: "x" }, FAKE_REGISTRY)).toEqual({
      version: 1,
      providers: { hosted: { kind: "hosted", credentials: ["env:HOSTED_API_KEY"] } },
      models: { "big-*": ["hosted/big-*"], "b*": ["hosted/b*"], "hosted/*": ["hosted/*"] },
    });
  });

  it("is null when no variable is set", () => {
    expect(configFromEnvironment({}, FAKE_REGISTRY)).toBeNull();
    expect(configFromEnvironment({ HOSTED_API_KEY: "" }, FAKE_REGISTRY)).toBeNull();
    expect(discoveryVariables(FAKE_REGISTRY)).toEqual(["HOSTED_API_KEY"]);
  });

  it("compiles, and finds the usual names upstream", () => {
    const env = { HOSTED_API_KEY: "hunter2" };
    const readFile = (): string => {
      throw new Error("no file is named");
    };
    const result = compileConfig(configFromEnvironment(env, FAKE_REGISTRY), {
      registry: FAKE_REGISTRY,
      generation: 1,
      resolveSecret: createSecretResolver({ env, readFile, folder: "." }),
    });
    const upstream = (name: string): string | undefined =>
      result.ok ? result.snapshot.findModel(name)?.tiers[0]?.[0]?.model : undefined;
    expect(["big-2", "b1", "hosted/other-3", "unknown"].map(upstream)).toEqual(["big-2", "b1", "other-3", undefined]);
  });
});
