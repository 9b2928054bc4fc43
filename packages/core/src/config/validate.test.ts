import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { CONFIG_SCHEMA } from "./schema.ts";
import { ConfigValidator } from "./validate.ts";

const validator = new ConfigValidator();

const base = {
  version: 1,
  providers: { main: { kind: "plain" } },
  models: { chat: ["main/large"] },
};

const withModel = (model: unknown): unknown => ({ ...base, models: { chat: model } });
const withDeployment = (more: object): unknown =>
  withModel({ deployments: [{ provider: "main", model: "large", ...more }] });
const withProvider = (more: object): unknown => ({ ...base, providers: { main: { kind: "plain", ...more } } });
const withKey = (more: object): unknown => ({
  ...base,
  keys: [{ name: "app", hash: `sha256:${"0".repeat(64)}`, models: ["*"], ...more }],
});

describe("ConfigValidator", () => {
  it("accepts the smallest configuration", () => {
    expect(validator.validate(base)).toEqual([]);
  });

  it("accepts every member at once", () => {
    const full = {
      $schema: "./dragoman.schema.json",
      version: 1,
      server: {
        host: "0.0.0.0",
        port: 0,
        maxBody: "8MiB",
        maxHeldResponseBytes: 1024,
        headers: { debug: "on" },
        limits: {
          maxConnections: 5,
          maxHead: "8KiB",
          headTimeout: "1s",
          bodyTimeout: "2s",
          idleTimeout: "3s",
          maxQueue: "64KiB",
        },
        sse: { keepAlive: "off", maxRecord: "1MiB" },
        trustedProxies: ["10.0.0.0/8", "::1"],
        authThrottle: { failures: 5, per: "10s" },
        shutdown: "5s",
      },
      providers: {
        main: {
          kind: "plain",
          baseUrl: "https://llm.example.com",
          credentials: ["env:A", "file:/b", "c"],
          credentialHeader: { name: "x-key", prefix: "Key " },
          profile: { extends: "generic", anything: [1] },
          headers: { "x-a": "b" },
          options: { any: { thing: 1 } },
        },
      },
      models: {
        chat: {
          aliases: ["best"],
          deployments: [
            {
              id: "a",
              provider: "main",
              model: "large",
              tier: 2,
              weight: 0.5,
              capabilities: { topK: true, tools: { max: 5 }, reasoning: { efforts: ["low"] } },
              disconnect: { mode: "drain", maxMs: 0, maxBytes: "1MiB" },
              timeouts: { connect: "1s", commitAfter: "15s" },
              lossy: { allow: [] },
              limits: [{ requests: 1, per: "10m" }],
              prices: [
                { input: 0, output: 0 },
                { from: "2027-01-01", input: 1, output: 1 },
              ],
              options: {},
            },
            { id: "b", provider: "main", model: "small", prices: { input: 1, output: 2, cacheWrite: 3 } },
          ],
          limits: [{ usd: 1, per: "day" }],
          strategy: "weighted",
          attempts: 3,
          timeouts: { firstContent: "off", idle: "1m", total: "5m" },
          lossy: { allow: ["@hints"] },
          options: { count: { estimate: true } },
        },
        "main/*": ["main/*"],
      },
      keys: [
        {
          name: "app",
          hash: "env:HASH",
          owner: "team-a",
          tags: ["x"],
          models: ["chat", "main/*"],
          expires: "2030-01-31T12:00:00Z",
          disabled: false,
          debug: true,
          trusted: true,
          limits: [{ requests: 600, per: "minute" }, { parallel: 8 }],
        },
      ],
      owners: {
        "team-a": { limits: [{ usd: 2000, per: "month", alertAt: [0.8, 1] }], eachKey: [{ usd: 0.5, per: "30s" }] },
      },
      limits: { global: [{ tokens: 1, per: "hour" }], eachEndUser: [{ inputTokens: 0, outputTokens: 0, per: "week" }] },
      prices: {
        file: "prices.yaml",
        rows: [
          {
            model: "large-*",
            from: "2026-01-01",
            input: 1,
            output: 2.5,
            cacheRead: 0.1,
            cacheWrite: { 300: 1.25, 3600: 2 },
            inputAudio: 1,
            inputImage: 1,
            reasoning: 1,
            outputAudio: 1,
            perRequest: 0.001,
            serverTools: { search: 0.01 },
            tiers: [{ aboveInputTokens: 200_000, input: 2, output: 5 }],
            source: "contract",
            day: "2026-11-30",
          },
        ],
      },
      ledger: {
        store: { kind: "postgres", url: "env:URL", schema: "x" },
        durability: "strict",
        dataDir: "data",
        hold: "worst",
        unpriced: "allow",
        onFull: "continue",
      },
      counters: { kind: "valkey", url: "env:URL", prefix: "p", onDown: "closed", timeout: "1s" },
      telemetry: { logLevel: "debug", requestLog: false },
    };
    expect(validator.validate(full)).toEqual([]);
  });

  const rows: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly path: string;
    readonly message: string;
    readonly suggestion?: string;
  }[] = [
    { name: "no object", input: [], path: "", message: "must be an object" },
    { name: "null", input: null, path: "", message: "must be an object" },
    {
      name: "no version",
      input: { providers: base.providers, models: base.models },
      path: "",
      message: 'must have the member "version"',
    },
    { name: "another version", input: { ...base, version: 2 }, path: "/version", message: "must be 1" },
    {
      name: "unknown member at the top",
      input: { ...base, provider: {} },
      path: "/provider",
      message: 'unknown member "provider"; did you mean "providers"?',
      suggestion: "providers",
    },
    {
      name: "unknown member with nothing near it",
      input: { ...base, server: { headers: { colour: 1 } } },
      path: "/server/headers/colour",
      message: 'unknown member "colour"; known here: debug',
    },
    {
      name: "a member with an escaped name",
      input: { ...base, server: { "a/b~c": 1 } },
      path: "/server/a~1b~0c",
      message:
        'unknown member "a/b~c"; known here: host, port, maxBody, maxHeldResponseBytes, headers, limits, sse, frontEnd, trustedProxies, authThrottle, shutdown',
    },
    {
      name: "an unknown member of a limit",
      input: { ...base, limits: { global: [{ token: 1, per: "day" }] } },
      path: "/limits/global/0/token",
      message: 'unknown member "token"; did you mean "tokens"?',
      suggestion: "tokens",
    },
    {
      name: "an unknown window",
      input: { ...base, owners: { team: { eachKey: [{ usd: 1, per: "year" }] } } },
      path: "/owners/team/eachKey/0/per",
      message:
        'must be minute, hour, day, week, month, or a duration of at most an hour, such as "minute" or "month" or "10m"',
    },
    {
      name: "an alert beyond the limit",
      input: { ...base, limits: { global: [{ usd: 1, per: "day", alertAt: [1.5] }] } },
      path: "/limits/global/0/alertAt/0",
      message: "must be <= 1",
    },
    {
      name: "a misspelt member of a deployment's only price",
      input: {
        ...base,
        models: {
          m: { deployments: [{ provider: "main", model: "x", prices: { input: 1, output: 1, cacheRaed: 1 } }] },
        },
      },
      path: "/models/m/deployments/0/prices/cacheRaed",
      message: 'unknown member "cacheRaed"; did you mean "cacheRead"?',
      suggestion: "cacheRead",
    },
    {
      name: "a price of a list without output",
      input: { ...base, models: { m: { deployments: [{ provider: "main", model: "x", prices: [{ input: 1 }] }] } } },
      path: "/models/m/deployments/0/prices/0",
      message: 'must have the member "output"',
    },
    {
      name: "a price of no model in the table",
      input: { ...base, prices: { rows: [{ input: 1, output: 1 }] } },
      path: "/prices/rows/0",
      message: 'must have the member "model"',
    },
    {
      name: "a time to live in words",
      input: { ...base, prices: { rows: [{ model: "m", input: 1, output: 1, cacheWrite: { "5m": 1 } }] } },
      path: "/prices/rows/0/cacheWrite/5m",
      message: "the name must be a number of seconds",
    },
    {
      name: "an unknown store",
      input: { ...base, ledger: { store: { kind: "postgresql" } } },
      path: "/ledger/store/kind",
      message: 'must be one of "memory", "sqlite", "postgres"; did you mean "postgres"?',
      suggestion: "postgres",
    },
    {
      name: "a throttle that is on",
      input: { ...base, server: { authThrottle: "on" } },
      path: "/server/authThrottle",
      message: 'must be an object of failures and per, or "off", such as {"failures":20,"per":"1m"} or "off"',
    },
    {
      name: "a port that is too high",
      input: { ...base, server: { port: 65_536 } },
      path: "/server/port",
      message: "must be <= 65535",
    },
    {
      name: "a port as text",
      input: { ...base, server: { port: "80" } },
      path: "/server/port",
      message: "must be an integer",
    },
    {
      name: "a misspelt duration",
      input: { ...base, server: { shutdown: "10 sec" } },
      path: "/server/shutdown",
      message: 'must be a duration, such as "250ms" or "10s" or "5m" or "1h"',
    },
    {
      name: "a duration as number",
      input: { ...base, server: { shutdown: 10 } },
      path: "/server/shutdown",
      message: 'must be a duration, such as "250ms" or "10s" or "5m" or "1h"',
    },
    {
      name: "a misspelt size",
      input: { ...base, server: { maxBody: "32mb" } },
      path: "/server/maxBody",
      message: 'must be a size, such as 65536 or "256KiB" or "32MiB"',
    },
    {
      name: "a wrong word",
      input: { ...base, server: { headers: { debug: "keys" } } },
      path: "/server/headers/debug",
      message: 'must be one of "off", "key", "on"; did you mean "key"?',
      suggestion: "key",
    },
    { name: "no providers", input: { ...base, providers: {} }, path: "/providers", message: "must not be empty" },
    {
      name: "a provider name with a slash",
      input: { ...base, providers: { "a/b": { kind: "plain" } } },
      path: "/providers/a~1b",
      message:
        'the name must be a name of letters, digits, dots, underscores and hyphens, at most 64, starting with a letter or digit, such as "team-a"',
    },
    {
      name: "a provider without kind",
      input: { ...base, providers: { main: {} } },
      path: "/providers/main",
      message: 'must have the member "kind"',
    },
    {
      name: "credentials that are no list",
      input: withProvider({ credentials: "env:A" }),
      path: "/providers/main/credentials",
      message: 'must be a list, such as ["env:PROVIDER_API_KEY"]',
    },
    {
      name: "an empty credential list",
      input: withProvider({ credentials: [] }),
      path: "/providers/main/credentials",
      message: "must not be empty",
    },
    {
      name: "a credential that is no text",
      input: withProvider({ credentials: [1] }),
      path: "/providers/main/credentials/0",
      message:
        'must be a secret: "env:NAME", "file:PATH", or the text itself, such as "env:PROVIDER_API_KEY" or "file:/run/secrets/provider"',
    },
    {
      name: "a profile without base",
      input: withProvider({ profile: {} }),
      path: "/providers/main/profile",
      message: 'must have the member "extends"',
    },
    {
      name: "a header name with a space",
      input: withProvider({ headers: { "a b": "c" } }),
      path: "/providers/main/headers/a b",
      message: "the name must be a header name",
    },
    { name: "no models", input: { ...base, models: {} }, path: "/models", message: "must not be empty" },
    { name: "a model without tiers", input: withModel([]), path: "/models/chat", message: "must not be empty" },
    {
      name: "a model that is a text",
      input: withModel("main/large"),
      path: "/models/chat",
      message: 'must be a list of "provider/model" texts, or an object with deployments',
    },
    {
      name: "a model name with two stars",
      input: { ...base, models: { "a*b*": ["main/x"] } },
      path: "/models/a*b*",
      message:
        'the name must be a public model name of letters, digits and . _ : @ / - with at most one "*", such as "chat" or "vendor/*"',
    },
    {
      name: "a model without deployments",
      input: withModel({ aliases: [] }),
      path: "/models/chat",
      message: 'must have the member "deployments"',
    },
    {
      name: "an unknown member of a model",
      input: withModel({ deployment: [], deployments: [{ provider: "main", model: "x" }] }),
      path: "/models/chat/deployment",
      message: 'unknown member "deployment"; did you mean "deployments"?',
      suggestion: "deployments",
    },
    {
      name: "a weight of zero",
      input: withDeployment({ weight: 0 }),
      path: "/models/chat/deployments/0/weight",
      message: "must be > 0",
    },
    {
      name: "a capability of the wrong type",
      input: withDeployment({ capabilities: { topK: "yes" } }),
      path: "/models/chat/deployments/0/capabilities/topK",
      message: "must be true or false",
    },
    {
      name: "an unknown capability",
      input: withDeployment({ capabilities: { tools: { functions: true } } }),
      path: "/models/chat/deployments/0/capabilities/tools/functions",
      message: 'unknown member "functions"; did you mean "function"?',
      suggestion: "function",
    },
    {
      name: "an unknown effort",
      input: withDeployment({ capabilities: { reasoning: { efforts: ["hi"] } } }),
      path: "/models/chat/deployments/0/capabilities/reasoning/efforts/0",
      message: 'must be one of "none", "minimal", "low", "medium", "high", "xhigh", "max"',
    },
    {
      name: "a total time that is off",
      input: withModel({ deployments: [{ provider: "main", model: "x" }], timeouts: { total: "off" } }),
      path: "/models/chat/timeouts/total",
      message: 'must be a duration, such as "250ms" or "10s" or "5m" or "1h"',
    },
    {
      name: "a strategy of another version",
      input: withModel({ deployments: [{ provider: "main", model: "x" }], strategy: "sticky" }),
      path: "/models/chat/strategy",
      message: 'must be one of "weighted"',
    },
    {
      name: "a key without models",
      input: { ...base, keys: [{ name: "app", hash: "env:H" }] },
      path: "/keys/0",
      message: 'must have the member "models"',
    },
    {
      name: "a key in clear",
      input: withKey({ hash: "dgm_hunter2" }),
      path: "/keys/0/hash",
      message:
        'must be the key\'s hash, "sha256:" and 64 hexadecimal digits, or a reference to it, such as "env:APP_KEY_HASH"',
    },
    {
      name: "a local time",
      input: withKey({ expires: "2030-01-31T12:00:00" }),
      path: "/keys/0/expires",
      message: 'must be a day or a moment in UTC, such as "2030-01-31" or "2030-01-31T12:00:00Z"',
    },
  ];
  it.each(rows)("reports $name", ({ input, path, message, suggestion }) => {
    expect(validator.validate(input)).toEqual([
      suggestion === undefined ? { path, message } : { path, message, suggestion },
    ]);
  });

  it("reports all problems and not only the first", () => {
    const problems = validator.validate({ version: 2, providers: {}, models: { chat: [] }, serve: {} });
    expect(problems.map(({ path }) => path).toSorted()).toEqual(["/models/chat", "/providers", "/serve", "/version"]);
  });

  it("never throws and never repeats a value, for any JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const marked = { ...base, keys: [{ name: "app", hash: "hunter2", models: value }], server: value };
        for (const { message } of validator.validate(marked)) expect(message).not.toContain("hunter2");
        validator.validate(value);
      }),
    );
  });
});

describe("CONFIG_SCHEMA", () => {
  interface Node {
    readonly default?: unknown;
    readonly examples?: readonly unknown[];
    readonly properties?: Readonly<Record<string, Node>>;
    readonly items?: Node;
    readonly additionalProperties?: Node | boolean;
  }

  const walk = (node: Node, path: string, visit: (node: Node, path: string) => void): void => {
    visit(node, path);
    for (const [name, member] of Object.entries(node.properties ?? {})) walk(member, `${path}/${name}`, visit);
    if (node.items !== undefined) walk(node.items, `${path}/0`, visit);
    if (typeof node.additionalProperties === "object") walk(node.additionalProperties, `${path}/x`, visit);
  };

  it("describes every member, and its examples and defaults are valid in their place", () => {
    let checked = 0;
    const set = (path: string, value: unknown): unknown => {
      const root: Record<string, unknown> = {};
      let holder: Record<string, unknown> = root;
      const tokens = path.split("/").slice(1);
      tokens.forEach((token, index) => {
        const isLast = index === tokens.length - 1;
        const next: Record<string, unknown> =
          tokens[index + 1] === "0" ? ([] as unknown as Record<string, unknown>) : {};
        holder[token] = isLast ? value : next;
        holder = next;
      });
      return root;
    };
    walk(CONFIG_SCHEMA as Node, "", (node, path) => {
      const described = node as { readonly description?: string };
      const last = path.split("/").at(-1) ?? "";
      const isMember = path !== "" && last !== "0" && last !== "x";
      expect([path, isMember && described.description === undefined]).toEqual([path, false]);
      const values = [...(node.examples ?? []), ...(node.default === undefined ? [] : [node.default])];
      for (const value of path === "" ? [] : values) {
        checked += 1;
        const problems = validator.validate(set(path, value)).filter((problem) => problem.path.startsWith(path));
        expect([path, problems.filter(({ message }) => !message.startsWith("must have the member"))]).toEqual([
          path,
          [],
        ]);
      }
    });
    expect(checked).toBeGreaterThan(20);
  });
});

describe("validatePrices", () => {
  it.each<{ readonly name: string; readonly input: unknown; readonly problems: readonly object[] }>([
    { name: "an empty list", input: [], problems: [] },
    { name: "a row", input: [{ model: "m", input: 1, output: 2 }], problems: [] },
    { name: "no list", input: {}, problems: [{ path: "", message: "must be a list of prices" }] },
    {
      name: "a misspelt member",
      input: [{ model: "m", input: 1, ouput: 2 }],
      problems: [
        { path: "/0", message: 'must have the member "output"' },
        { path: "/0/ouput", message: 'unknown member "ouput"; did you mean "output"?', suggestion: "output" },
      ],
    },
  ])("judges $name", ({ input, problems }) => {
    expect(validator.validatePrices(input)).toEqual(problems);
  });
});
