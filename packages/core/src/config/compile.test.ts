import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import { DEFAULT_CAPABILITIES, DialectRegistry } from "../dialect/index.ts";
import type { ClientDialect, ProviderDialect, ProviderKind } from "../dialect/index.ts";
import { compileConfig } from "./compile.ts";
import type { CompileResult } from "./compile.ts";
import type { GatewayConfig } from "./gateway-config.ts";
import { MAX_REMEMBERED_NAMES } from "./model-index.ts";
import type { SecretResolver } from "./secret-reference.ts";
import type { Deployment, Snapshot } from "./snapshot.ts";
import { ConfigValidator } from "./validate.ts";

const validator = new ConfigValidator();

const providerDialect = (id: string): ProviderDialect => {
  const half: Pick<ProviderDialect, "id" | "compileProfile"> = {
    id,
    compileProfile: (name, overrides) => {
      if (name === "broken") return { ok: false, problems: [{ path: "", message: "unknown profile" }] };
      if ("wrong" in overrides) return { ok: false, problems: [{ path: "/wrong", message: "unknown profile member" }] };
      return { ok: true, profile: { name, ...overrides } };
    },
  };
  return half as ProviderDialect;
};

const plainKind: ProviderKind = {
  id: "plain",
  baseUrl: "https://plain.example.com",
  basePathSuffix: "/v1",
  dialects: ["alpha", "beta", "unregistered"],
  profiles: { alpha: "standard", beta: "standard", unregistered: "standard" },
  credentialHeader: { name: "Authorization", prefix: "Bearer " },
  isCredentialOptional: false,
  disconnect: "drain",
  capabilitiesOf: (model) => (model.startsWith("large") ? { topK: true, tools: { max: 8 } } : {}),
};

const localKind: ProviderKind = {
  id: "local",
  basePathSuffix: "",
  dialects: ["alpha"],
  profiles: { alpha: "loose" },
  credentialHeader: { name: "x-key", prefix: "" },
  isCredentialOptional: true,
  disconnect: "cancel",
  capabilitiesOf: () => ({}),
};

const strangeKind: ProviderKind = { ...localKind, id: "strange", dialects: ["unregistered"] };

const registry = new DialectRegistry(
  [
    { client: { id: "alpha", routes: [] } as unknown as ClientDialect, provider: providerDialect("alpha") },
    { provider: providerDialect("beta") },
  ],
  [plainKind, localKind, strangeKind],
);

const secrets: Readonly<Record<string, string>> = { KEY: "hunter2", HASH: `sha256:${"A".repeat(64)}`, SPACED: "a b" };
const resolveSecret: SecretResolver = ({ name }) => {
  const secret = secrets[name];
  return secret === undefined ? { ok: false, message: `no secret ${name}` } : { ok: true, secret };
};

const compile = (config: unknown): CompileResult =>
  compileConfig(config, { registry, generation: 7, resolveSecret, validator });

const snapshotOf = (config: GatewayConfig): Snapshot => {
  const result = compile(config);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.snapshot;
};

const base: GatewayConfig = {
  version: 1,
  providers: {
    main: { kind: "plain", credentials: ["env:KEY"] },
    near: { kind: "local", baseUrl: "http://127.0.0.1:11434/v1" },
  },
  models: { chat: ["main/large-2", "near/tiny"] },
};

const ids = (tiers: readonly (readonly Deployment[])[] | undefined): readonly (readonly string[])[] | undefined =>
  tiers?.map((tier) => tier.map(({ id }) => id));

describe("compileConfig", () => {
  it("fills in every default", () => {
    const snapshot = snapshotOf(base);
    expect(snapshot.generation).toBe(7);
    expect(snapshot.server).toEqual({
      host: "127.0.0.1",
      port: 8080,
      maxBodyBytes: 33_554_432,
      maxHeldResponseBytes: 1_048_576,
      debugHeaders: "key",
      limits: {
        maxConnections: 10_000,
        maxHeadBytes: 32_768,
        headTimeoutMs: 20_000,
        bodyTimeoutMs: 60_000,
        idleTimeoutMs: 75_000,
        maxQueueBytes: 262_144,
      },
      sse: { keepAliveMs: 15_000, maxRecordBytes: 16_777_216 },
      frontEnd: "wire",
      trustedProxies: [],
      authThrottle: { failures: 20, windowMs: 60_000 },
      shutdownMs: 30_000,
    });
    expect(snapshot.ledger).toEqual({
      store: null,
      durability: null,
      dataDir: null,
      hold: "expected",
      unpriced: "refuse",
      onFull: "refuse",
    });
    expect(snapshot.counters).toEqual({ kind: "local" });
    expect(snapshot.limits).toEqual({ global: [], eachEndUser: [] });
    expect(snapshot.prices).toEqual({ rows: [], fileRows: [] });
    expect(snapshot.owners.size).toBe(0);
    expect(snapshot.telemetry).toEqual({ logLevel: "info", requestLog: true });
    const model = snapshot.models[0];
    expect(model).toMatchObject({
      name: "chat",
      isGlob: false,
      aliases: [],
      strategy: "weighted",
      attempts: 2,
      options: {},
    });
    expect(model?.timeouts).toEqual({
      connectMs: 10_000,
      firstContentMs: 600_000,
      idleMs: 300_000,
      totalMs: 3_600_000,
      commitAfterMs: null,
    });
    expect(model?.lossyAllow.has("cache_hint")).toBe(true);
    expect(model?.lossyAllow.has("seed_unsupported")).toBe(false);
    expect(snapshot.deployments.get("main/large-2")).toMatchObject({
      tier: 1,
      weight: 1,
      disconnect: { mode: "drain", maxMs: 15_000, maxBytes: 1_048_576 },
    });
    expect(snapshot.deployments.get("near/tiny")).toMatchObject({ tier: 2, disconnect: { mode: "cancel" } });
    expect(snapshot.keys.size).toBe(0);
  });

  it("makes addresses, credentials and profiles of a provider", () => {
    const { providers, deployments } = snapshotOf({
      ...base,
      providers: {
        main: {
          kind: "plain",
          credentials: ["env:KEY", "second"],
          profile: { extends: "custom", extra: true },
          headers: { "X-Project": "env:KEY", "x-b": " c " },
        },
        near: { kind: "local", baseUrl: "http://[::1]:8000", credentialHeader: { name: "X-Other", prefix: "P " } },
      },
    });
    const main = providers.get("main");
    expect(main?.origin).toEqual({
      protocol: "https:",
      host: "plain.example.com",
      port: 443,
      authority: "plain.example.com",
      key: "https://plain.example.com:443",
    });
    expect(main?.basePath).toBe("/v1");
    expect(main?.credentialHeader).toEqual({ name: "authorization", prefix: "Bearer " });
    expect(main?.credentials.map(({ id, headerValue }) => [id, headerValue])).toEqual([
      ["main#0", "Bearer hunter2"],
      ["main#1", "Bearer second"],
    ]);
    expect(main?.headers).toEqual(["x-project", "hunter2", "x-b", "c"]);
    expect(main?.profileName).toBe("custom");
    expect([...(deployments.get("main/large-2")?.profiles ?? [])]).toEqual([
      ["alpha", { name: "custom", extra: true }],
      ["beta", { name: "standard" }],
    ]);
    const near = providers.get("near");
    expect(near?.credentials.map(({ id, headerValue }) => [id, headerValue])).toEqual([["near#0", null]]);
    expect(near?.credentialHeader).toEqual({ name: "x-other", prefix: "P " });
  });

  it("lays configured capabilities over the kind's over the defaults", () => {
    const { deployments } = snapshotOf({
      ...base,
      models: {
        chat: {
          deployments: [
            { id: "a", provider: "main", model: "large-2", capabilities: { seed: false, tools: { strict: true } } },
            { id: "b", provider: "main", model: "small", capabilities: { dialects: ["beta"] } },
          ],
        },
      },
    });
    expect(deployments.get("a")?.capabilities).toEqual({
      ...DEFAULT_CAPABILITIES,
      topK: true,
      seed: false,
      tools: { ...DEFAULT_CAPABILITIES.tools, max: 8, strict: true },
    });
    expect([...(deployments.get("b")?.profiles.keys() ?? [])]).toEqual(["beta"]);
  });

  it("orders tiers by number and lets deployments inherit from model and provider", () => {
    const { models } = snapshotOf({
      ...base,
      providers: { ...base.providers, main: { kind: "plain", credentials: ["x"], options: { a: 1, b: 1 } } },
      models: {
        chat: {
          deployments: [
            { id: "late", provider: "near", model: "tiny", tier: 9 },
            { id: "a", provider: "main", model: "large", weight: 3, timeouts: { idle: "off" }, options: { b: 2 } },
            { id: "b", provider: "main", model: "small", lossy: { allow: [] } },
          ],
          timeouts: { connect: "1s", commitAfter: "15s" },
          lossy: { allow: ["seed_unsupported"] },
          options: { b: 3, c: 3 },
        },
      },
    });
    const tiers = models[0]?.tiers;
    expect(ids(tiers)).toEqual([["a", "b"], ["late"]]);
    const [a, b] = tiers?.[0] ?? [];
    expect(a?.timeouts).toMatchObject({ connectMs: 1000, idleMs: null, commitAfterMs: 15_000 });
    expect(a?.options).toEqual({ a: 1, b: 2, c: 3 });
    expect(b?.options).toEqual({ a: 1, b: 3, c: 3 });
    expect([...(a?.lossyAllow ?? [])]).toEqual(["seed_unsupported"]);
    expect(b?.lossyAllow.size).toBe(0);
  });

  it("gives equal encoding keys to deployments whose encodings are equal, and to no others", () => {
    const provider = { kind: "plain", credentials: ["x"] } as const;
    const { deployments } = snapshotOf({
      ...base,
      providers: {
        one: provider,
        two: { ...provider, baseUrl: "https://other.example.com" },
        three: { ...provider, profile: "custom" },
        four: { ...provider, options: { a: 1 } },
      },
      models: {
        a: ["one/x", "two/x", "three/x", "four/x", "one/y"],
        b: { deployments: [{ id: "lossless", provider: "one", model: "x", lossy: { allow: [] } }] },
        c: { deployments: [{ id: "able", provider: "one", model: "x", capabilities: { topK: true } }] },
      },
    });
    const key = (id: string): string | undefined => deployments.get(id)?.encodingKey;
    expect(key("one/x")).toBe(key("two/x"));
    const others = ["one/x", "three/x", "four/x", "one/y", "lossless", "able"].map(key);
    expect(new Set(others).size).toBe(others.length);
    expect(deployments.get("one/x")?.capabilitiesKey).toBe(deployments.get("four/x")?.capabilitiesKey);
    expect(deployments.get("one/x")?.capabilitiesKey).not.toBe(deployments.get("able")?.capabilitiesKey);
  });

  it("takes a short entry without provider for the only provider's model", () => {
    const { models } = snapshotOf({
      version: 1,
      providers: { main: { kind: "plain", credentials: ["x"] } },
      models: { chat: ["large-2"], org: ["main/org/large"] },
    });
    expect(models.map(({ tiers }) => tiers[0]?.[0]?.model)).toEqual(["large-2", "org/large"]);
  });

  it("compiles keys by hash, with references resolved and names in order", () => {
    const { keys } = snapshotOf({
      ...base,
      keys: [
        {
          name: "app",
          hash: "env:HASH",
          models: ["chat"],
          owner: "team",
          tags: ["t"],
          expires: "2030-01-31",
          debug: true,
        },
        { name: "old", hash: `sha256:${"b".repeat(64)}`, models: [], disabled: true },
      ],
    });
    expect([...keys.values()]).toEqual([
      {
        id: "app",
        hash: "a".repeat(64),
        owner: "team",
        tags: ["t"],
        models: ["chat"],
        debug: true,
        isTrusted: false,
        limits: [],
        isDisabled: false,
        expiresMs: Date.UTC(2030, 0, 31),
      },
      {
        id: "old",
        hash: "b".repeat(64),
        owner: null,
        tags: [],
        models: [],
        debug: false,
        isTrusted: false,
        limits: [],
        isDisabled: true,
        expiresMs: null,
      },
    ]);
  });

  it("keeps limits and prices as they are written, by whose they are", () => {
    const limits = [{ usd: 0.1, per: "day" }];
    const snapshot = snapshotOf({
      ...base,
      models: {
        chat: {
          limits,
          deployments: [
            { id: "a", provider: "main", model: "x", limits, prices: { input: 1, output: 2 } },
            {
              id: "b",
              provider: "main",
              model: "y",
              prices: [{ model: "y-*", input: 3, output: 4, day: "2026-11-30" }],
            },
          ],
        },
      },
      owners: { team: { limits } },
      keys: [{ name: "app", hash: "env:HASH", models: [], trusted: true, limits }],
      limits: { eachEndUser: limits },
      prices: { rows: [{ model: "z", input: 5, output: 6 }] },
    });
    expect(snapshot.models[0]?.limits).toEqual(limits);
    expect(snapshot.deployments.get("a")).toMatchObject({ limits, prices: [{ model: "*", input: 1, output: 2 }] });
    expect(snapshot.deployments.get("b")).toMatchObject({ limits: [], prices: [{ model: "y-*", day: "2026-11-30" }] });
    expect(snapshot.owners.get("team")).toEqual({ id: "team", limits, eachKey: [] });
    expect([...snapshot.keys.values()]).toMatchObject([{ id: "app", isTrusted: true, limits }]);
    expect(snapshot.limits).toEqual({ global: [], eachEndUser: limits });
    expect(snapshot.prices).toEqual({ rows: [{ model: "z", input: 5, output: 6 }], fileRows: [] });
  });

  it("resolves paths and secrets of the ledger, and shows no secret", () => {
    const result = compileConfig(
      {
        ...base,
        ledger: { store: { kind: "postgres", url: "env:KEY" }, durability: "store", dataDir: "data" },
        counters: { kind: "valkey", url: "env:KEY", timeout: "1s" },
        prices: { file: "p.yaml" },
      },
      {
        registry,
        generation: 1,
        validator,
        resolveSecret,
        folder: {
          resolve: (path) => `/etc/${path}`,
          readPrices: (path) => ({ ok: true, rows: [{ model: path, input: 1, output: 1 }] }),
        },
      },
    );
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    const { ledger, counters, prices } = result.snapshot;
    expect([ledger, counters]).toMatchObject([
      { store: { kind: "postgres", schema: "dragoman" }, durability: "store", dataDir: "/etc/data" },
      { kind: "valkey", prefix: "dragoman", onDown: "open", timeoutMs: 1000 },
    ]);
    expect(ledger.store?.kind === "postgres" && ledger.store.url.text).toBe("hunter2");
    expect(counters.kind === "valkey" && counters.url.text).toBe("hunter2");
    expect(JSON.stringify([ledger, counters])).not.toContain("hunter2");
    expect(prices.fileRows).toEqual([{ model: "p.yaml", input: 1, output: 1 }]);
  });

  it("puts what a check of its caller finds behind its own problems, and asks it only of what the schema takes", () => {
    const seen: GatewayConfig[] = [];
    const check = (config: GatewayConfig): readonly [{ readonly path: string; readonly message: string }] => {
      seen.push(config);
      return [{ path: "/server", message: "is odd" }];
    };
    const problemsOf = (config: unknown): readonly string[] => {
      const result = compileConfig(config, { registry, generation: 1, validator, resolveSecret, check });
      return result.ok ? [] : result.problems.map(({ path }) => path);
    };
    expect(problemsOf(base)).toEqual(["/server"]);
    expect(problemsOf({ ...base, server: { maxBody: "9GiB" } })).toEqual(["/server/maxBody", "/server"]);
    expect(problemsOf({ version: 3 })).not.toContain("/server");
    expect(seen).toHaveLength(2);
  });

  it("does without secrets where the resolver gives null", () => {
    const result = compileConfig(
      { ...base, keys: [{ name: "app", hash: "file:/none", models: ["*"] }] },
      { registry, generation: 1, validator, resolveSecret: () => ({ ok: true, secret: null }) },
    );
    expect(
      result.ok && [result.snapshot.keys.size, result.snapshot.providers.get("main")?.credentials[0]?.secret],
    ).toEqual([0, null]);
  });

  it("keeps nothing of the object it was given and freezes all it gives back", () => {
    const tags = ["t"];
    const options = { list: [1] };
    const config: GatewayConfig = {
      ...base,
      providers: { main: { kind: "plain", credentials: ["x"], options }, near: { kind: "local", baseUrl: "http://a" } },
      keys: [{ name: "app", hash: `sha256:${"0".repeat(64)}`, models: ["*"], tags }],
    };
    const snapshot = snapshotOf(config);
    tags.push("later");
    options.list.push(2);
    expect([...snapshot.keys.values()][0]?.tags).toEqual(["t"]);
    expect(snapshot.providers.get("main")?.options).toEqual({ list: [1] });
    expect(Object.isFrozen(tags)).toBe(false);
    const visit = (value: unknown, seen: Set<unknown>): void => {
      if (typeof value !== "object" || value === null || seen.has(value)) return;
      seen.add(value);
      if (value === plainKind || value === localKind) return;
      expect(Object.isFrozen(value)).toBe(true);
      if (value instanceof Map) for (const [key, member] of value) visit([key, member].at(1), seen);
      for (const member of Object.values(value)) visit(member, seen);
    };
    visit(snapshot, new Set());
    expect(() => (snapshot.keys as Map<string, unknown>).clear()).toThrow("immutable");
    const lossyAllow = snapshot.models[0]?.lossyAllow;
    expect(lossyAllow).toBeInstanceOf(Set);
    expect(() => (lossyAllow as Set<string>).add("x")).toThrow("immutable");
    expect(Object.isFrozen(DEFAULT_CAPABILITIES.tools)).toBe(false);
  });

  const provider = (more: object): object => ({
    ...base,
    providers: { ...base.providers, main: { kind: "plain", credentials: ["x"], ...more } },
  });
  const models = (value: object): object => ({ ...base, models: value });
  const deployment = (more: object): object =>
    models({ chat: { deployments: [{ provider: "main", model: "x", ...more }] } });
  const keys = (...list: readonly object[]): object => ({ ...base, keys: list });
  const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;

  const rows: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly problems: readonly (readonly [path: string, message: RegExp])[];
  }[] = [
    {
      name: "an unknown kind",
      input: provider({ kind: "plian" }),
      problems: [["/providers/main/kind", /known: plain, local, strange; did you mean "plain"/]],
    },
    {
      name: "a kind named like a built-in member",
      input: provider({ kind: "constructor" }),
      problems: [["/providers/main/kind", /unknown provider kind/]],
    },
    {
      name: "a kind whose dialects are not registered",
      input: provider({ kind: "strange", baseUrl: "http://a" }),
      problems: [["/providers/main/kind", /none of the dialects/]],
    },
    {
      name: "a missing base URL",
      input: { ...base, providers: { ...base.providers, near: { kind: "local" } } },
      problems: [["/providers/near", /baseUrl is required/]],
    },
    {
      name: "a bad base URL",
      input: provider({ baseUrl: "https://u:p@x" }),
      problems: [["/providers/main/baseUrl", /user name/]],
    },
    {
      name: "missing credentials",
      input: { ...base, providers: { ...base.providers, main: { kind: "plain" } } },
      problems: [["/providers/main", /needs credentials/]],
    },
    {
      name: "an unresolvable credential",
      input: provider({ credentials: ["a", "env:NONE"] }),
      problems: [["/providers/main/credentials/1", /no secret NONE/]],
    },
    {
      name: "a reference to nothing",
      input: provider({ credentials: ["env:"] }),
      problems: [["/providers/main/credentials/0", /variable after env:/]],
    },
    {
      name: "a credential with a space",
      input: provider({ credentials: ["env:SPACED"] }),
      problems: [["/providers/main/credentials/0", /printable ASCII/]],
    },
    {
      name: "headers the gateway owns, the credential's, a repeated one and a bad value",
      input: provider({ headers: { Host: "a", authorization: "b", "x-a": "c", "X-A": "d", "x-b": "e\n" } }),
      problems: [
        ["/providers/main/headers/Host", /itself writes/],
        ["/providers/main/headers/authorization", /use credentials/],
        ["/providers/main/headers/X-A", /there twice/],
        ["/providers/main/headers/x-b", /printable ASCII/],
      ],
    },
    {
      name: "a credential header the gateway owns",
      input: provider({ credentialHeader: { name: "Host" } }),
      problems: [["/providers/main/credentialHeader/name", /itself writes/]],
    },
    {
      name: "an unknown profile",
      input: provider({ profile: "broken" }),
      problems: [["/providers/main/profile", /unknown profile/]],
    },
    {
      name: "an unknown profile member",
      input: provider({ profile: { extends: "standard", wrong: 1 } }),
      problems: [["/providers/main/profile/wrong", /unknown profile member/]],
    },
    {
      name: "an unknown provider in a short form",
      input: models({ chat: ["mian/x"] }),
      problems: [["/models/chat/0", /unknown provider "mian"; did you mean "main"/]],
    },
    {
      name: "an unknown provider in a long form",
      input: deployment({ provider: "other" }),
      problems: [["/models/chat/deployments/0/provider", /unknown provider "other"$/]],
    },
    {
      name: "a short entry without provider",
      input: models({ chat: ["large"] }),
      problems: [["/models/chat/0", /several providers: main, near/]],
    },
    {
      name: "a short entry without model",
      input: models({ chat: ["main/"] }),
      problems: [["/models/chat/0", /model id/]],
    },
    {
      name: "a star without a glob",
      input: models({ chat: ["main/*"] }),
      problems: [["/models/chat/0", /must hold no "\*"/]],
    },
    {
      name: "two stars",
      input: models({ "a*": { deployments: [{ provider: "main", model: "**" }] } }),
      problems: [["/models/a*/deployments/0/model", /at most one/]],
    },
    {
      name: "an alias that is a model",
      input: models({
        chat: { aliases: ["other"], deployments: [{ provider: "main", model: "x" }] },
        other: ["main/x"],
      }),
      problems: [["/models/chat/aliases/0", /is a model's name/]],
    },
    {
      name: "an alias of two models",
      input: models({
        one: { aliases: ["a"], deployments: [{ provider: "main", model: "x" }] },
        two: { aliases: ["b", "a"], deployments: [{ provider: "main", model: "x" }] },
      }),
      problems: [["/models/two/aliases/1", /already stands for the model "one"/]],
    },
    {
      name: "an alias of a glob",
      input: models({ "x-*": { aliases: ["a"], deployments: [{ provider: "main", model: "*" }] } }),
      problems: [["/models/x-*/aliases", /has no aliases/]],
    },
    {
      name: "unknown lossy codes",
      input: deployment({ lossy: { allow: ["@hints", "@hint", "constructor", "seed_unsuported"] } }),
      problems: [
        ["/models/chat/deployments/0/lossy/allow/1", /did you mean "@hints"/],
        ["/models/chat/deployments/0/lossy/allow/2", /unknown reason code/],
        ["/models/chat/deployments/0/lossy/allow/3", /did you mean "seed_unsupported"/],
      ],
    },
    {
      name: "a dialect the kind does not speak",
      input: deployment({ capabilities: { dialects: ["alpha", "bata"] } }),
      problems: [["/models/chat/deployments/0/capabilities/dialects/1", /it speaks: alpha, beta; did you mean "beta"/]],
    },
    {
      name: "the same deployment twice in a model",
      input: models({ chat: ["main/x", "near/x", "main/x"] }),
      problems: [["/models/chat/2", /"main\/x" is in this model twice/]],
    },
    {
      name: "an id for two upstreams",
      input: models({
        a: { deployments: [{ id: "i", provider: "main", model: "x" }] },
        b: { deployments: [{ id: "i", provider: "main", model: "y" }] },
      }),
      problems: [["/models/b", /"i" stands for main\/y here and for main\/x elsewhere/]],
    },
    {
      name: "a deployment id with limits and prices of two kinds",
      input: models({
        a: { deployments: [{ id: "i", provider: "main", model: "x", limits: [{ requests: 1, per: "day" }] }] },
        b: { deployments: [{ id: "i", provider: "main", model: "x", prices: { input: 1, output: 1 } }] },
        c: { deployments: [{ id: "i", provider: "main", model: "x", limits: [{ requests: 2, per: "day" }] }] },
        d: { deployments: [{ id: "i", provider: "main", model: "x", prices: { input: 1, output: 2 } }] },
        e: { deployments: [{ id: "i", provider: "main", model: "x" }] },
      }),
      problems: [
        ["/models/c", /"i" has other limits here than elsewhere/],
        ["/models/d", /"i" has other prices here than elsewhere/],
      ],
    },
    {
      name: "members of another kind of store and counter",
      input: {
        ...base,
        ledger: { store: { kind: "memory", file: "x", schema: "y" } },
        counters: { kind: "local", url: "env:KEY" },
      },
      problems: [
        ["/ledger/store/file", /no meaning with the kind "memory"/],
        ["/ledger/store/schema", /no meaning/],
        ["/counters/url", /no meaning with the kind "local"/],
      ],
    },
    {
      name: "a store and counters without their URL",
      input: { ...base, ledger: { store: { kind: "postgres" } }, counters: { kind: "valkey" } },
      problems: [
        ["/ledger/store", /must have the member "url"/],
        ["/counters", /must have the member "url"/],
      ],
    },
    {
      name: "a journal for a store that forgets",
      input: { ...base, ledger: { store: { kind: "memory" }, durability: "journal" } },
      problems: [["/ledger/durability", /"journal" needs a store that outlasts the process/]],
    },
    {
      name: "a price file where no file can be read",
      input: { ...base, prices: { file: "prices.yaml" } },
      problems: [["/prices/file", /files cannot be read here/]],
    },
    {
      name: "a duration that is too long",
      input: { ...base, server: { shutdown: "25d" } },
      problems: [["/server/shutdown", /at most 24 days/]],
    },
    {
      name: "a size that is too large",
      input: { ...base, server: { maxBody: "2GiB" } },
      problems: [["/server/maxBody", /at most 1GiB/]],
    },
    {
      name: "key names and hashes that repeat",
      input: keys(
        { name: "a", hash: hash("1"), models: [] },
        { name: "a", hash: hash("2"), models: [] },
        { name: "b", hash: hash("1"), models: [] },
      ),
      problems: [
        ["/keys/1/name", /"a" is there twice/],
        ["/keys/2/hash", /"a" and "b" have the same hash/],
      ],
    },
    {
      name: "a hash that resolves to something else",
      input: keys({ name: "a", hash: "env:KEY", models: [] }),
      problems: [["/keys/0/hash", /must resolve to "sha256:"/]],
    },
    {
      name: "a day that does not exist",
      input: keys({ name: "a", hash: hash("1"), models: [], expires: "2030-02-31" }),
      problems: [["/keys/0/expires", /that exist/]],
    },
    {
      name: "an hour that does not exist",
      input: keys({ name: "a", hash: hash("1"), models: [], expires: "2030-02-01T25:00:00Z" }),
      problems: [["/keys/0/expires", /that exist/]],
    },
    {
      name: "a value that is no JSON",
      input: { ...base, server: { port: Number.NaN } },
      problems: [["/server/port", /number that JSON can write/]],
    },
    {
      name: "a function",
      input: provider({ options: { f: () => 1 } }),
      problems: [["/providers/main/options/f", /not a function/]],
    },
    {
      name: "an instance",
      input: provider({ options: new Date(0) }),
      problems: [["/providers/main/options", /plain object/]],
    },
    {
      name: "problems of several parts at once",
      input: {
        ...base,
        server: { maxBody: "9GiB" },
        providers: { main: { kind: "plain" } },
        models: { chat: ["main/x", "near/y"] },
      },
      problems: [
        ["/server/maxBody", /1GiB/],
        ["/providers/main", /credentials/],
        ["/models/chat/1", /unknown provider "near"/],
      ],
    },
  ];
  it.each(rows)("reports $name", ({ input, problems }) => {
    const result = compile(input);
    expect(result.ok ? [] : result.problems.map(({ path }) => path)).toEqual(problems.map(([path]) => path));
    problems.forEach(([, message], index) => expect(result.ok ? "" : result.problems[index]?.message).toMatch(message));
    expect(JSON.stringify(result)).not.toContain("hunter2");
  });

  it("reports references where there is no resolver", () => {
    const result = compileConfig(base, { registry, generation: 1, validator });
    expect(result.ok ? [] : result.problems).toEqual([
      {
        path: "/providers/main/credentials/0",
        message: "env: references cannot be resolved here; give the secret itself",
      },
    ]);
  });

  it("reports a cycle as too deep", () => {
    const options: Record<string, unknown> = {};
    options["self"] = options;
    const result = compile(provider({ options }));
    expect(result.ok ? "" : result.problems[0]?.message).toBe("must be nested at most 32 levels deep");
  });

  it("never throws, for any JSON value in any place", () => {
    const places = [
      (value: unknown) => value,
      (value: unknown) => ({ ...base, server: value }),
      (value: unknown) => ({ ...base, providers: { main: value } }),
      (value: unknown) => provider({ profile: value, headers: value, options: value }),
      (value: unknown) => models({ chat: value }),
      (value: unknown) => deployment({ capabilities: value, lossy: { allow: value } }),
      (value: unknown) => keys({ name: value, hash: value, models: value }),
    ];
    const json = fc.oneof(fc.jsonValue(), fc.array(fc.string()), fc.dictionary(fc.string(), fc.string()));
    fc.assert(
      fc.property(fc.constantFrom(...places), json, (place, value) => {
        const result = compile(place(value));
        expect(result.ok || result.problems.length > 0).toBe(true);
      }),
    );
  });
});

describe("findModel", () => {
  let snapshot: Snapshot;
  beforeAll(() => {
    snapshot = snapshotOf({
      ...base,
      models: {
        chat: { aliases: ["best"], deployments: [{ provider: "main", model: "large-2" }] },
        "c*": ["main/any-*"],
        "chat-*": ["near/*", "main/fixed"],
        "*-chat": ["near/tail-*"],
        "main/*": ["main/*"],
        __proto__x: ["main/proto"],
      },
    });
  });

  const rows: readonly {
    readonly name: string;
    readonly expected: readonly [model: string, name: string, upstream: readonly string[]] | null;
  }[] = [
    { name: "chat", expected: ["chat", "chat", ["large-2"]] },
    { name: "best", expected: ["chat", "chat", ["large-2"]] },
    { name: "chat-9", expected: ["chat-*", "chat-9", ["9", "fixed"]] },
    { name: "chat-", expected: ["c*", "chat-", ["any-hat-"]] },
    { name: "cool", expected: ["c*", "cool", ["any-ool"]] },
    { name: "c-chat", expected: ["*-chat", "c-chat", ["tail-c"]] },
    { name: "chat-chat", expected: ["chat-*", "chat-chat", ["chat", "fixed"]] },
    { name: "main/org/large-1:x", expected: ["main/*", "main/org/large-1:x", ["org/large-1:x"]] },
    { name: "__proto__x", expected: ["__proto__x", "__proto__x", ["proto"]] },
    { name: "__proto__", expected: null },
    { name: "constructor", expected: ["c*", "constructor", ["any-onstructor"]] },
    { name: "main/../x", expected: null },
    { name: "main/a b", expected: null },
    { name: "c*", expected: null },
    { name: "BEST", expected: null },
    { name: "", expected: null },
  ];
  it.each(rows)("finds $expected for $name", ({ name, expected }) => {
    const resolved = snapshot.findModel(name);
    const found = resolved && [resolved.model.name, resolved.name, resolved.tiers.flat().map(({ model }) => model)];
    expect(found).toEqual(expected);
  });

  it("knows capabilities of the upstream model that a glob stands for, under the configured id", () => {
    const [deployment] = snapshot.findModel("main/large-7")?.tiers.flat() ?? [];
    expect([deployment?.id, deployment?.model, deployment?.capabilities.topK]).toEqual(["main/*", "large-7", true]);
    expect(snapshot.findModel("main/small-7")?.tiers[0]?.[0]?.capabilities.topK).toBe(false);
  });

  it("remembers a bounded number of glob names and answers the same for forgotten ones", () => {
    const first = snapshot.findModel("main/n0");
    expect(snapshot.findModel("main/n0")).toBe(first);
    for (let index = 1; index <= MAX_REMEMBERED_NAMES; index++) snapshot.findModel(`main/n${index}`);
    const again = snapshot.findModel("main/n0");
    expect(again).not.toBe(first);
    expect(again?.tiers.flat().map(({ encodingKey }) => encodingKey)).toEqual(
      first?.tiers.flat().map(({ encodingKey }) => encodingKey),
    );
  });
});
