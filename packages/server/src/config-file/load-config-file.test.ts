import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ConfigValidator } from "@dragoman/core";

import { FAKE_REGISTRY } from "../../test/fake-registry.ts";
import { formatFileProblem, loadConfigFile } from "./load-config-file.ts";
import type { LoadResult } from "./load-config-file.ts";

const validator = new ConfigValidator();
const FILE = "/etc/app/dragoman.yaml";

const load = (
  text: string,
  more: { readonly isOffline?: boolean; readonly files?: Readonly<Record<string, string>> } = {},
): LoadResult =>
  loadConfigFile(FILE, {
    registry: FAKE_REGISTRY,
    validator,
    env: { KEY: "hunter2" },
    readFile: (path) => {
      const found = path === FILE ? text : more.files?.[path];
      if (found === undefined) throw Object.assign(new Error("gone"), { code: "ENOENT" });
      return found;
    },
    isOffline: more.isOffline ?? false,
  });

const lines = (result: LoadResult): readonly string[] => (result.ok ? [] : result.problems.map(formatFileProblem));

const GOOD = `version: 1
providers:
  main: { kind: hosted, credentials: ["env:KEY", "file:secret"] }
models:
  chat: [main/large]
`;

describe("loadConfigFile", () => {
  it("compiles a file, resolves its secrets, and names the files that were read", () => {
    const result = load(GOOD, { files: { "/etc/app/secret": "from-file\n" } });
    expect(lines(result)).toEqual([]);
    if (!result.ok) return;
    expect(result.snapshot.providers.get("main")?.credentials.map(({ secret }) => secret)).toEqual([
      "hunter2",
      "from-file",
    ]);
    expect(result.files).toEqual([FILE, "/etc/app/secret"]);
    expect(JSON.stringify(result.config)).not.toContain("hunter2");
    expect(result.resolveSecret({ scheme: "env", name: "KEY" })).toEqual({ ok: true, secret: "hunter2" });
  });

  it("reads the price file from its folder, names it among the files, and resolves the ledger's paths", () => {
    const result = load(`${GOOD}prices: { file: prices.yaml }\nledger: { dataDir: data }\n`, {
      files: { "/etc/app/secret": "x", "/etc/app/prices.yaml": "- { model: large, input: 1, output: 2 }\n" },
    });
    expect(lines(result)).toEqual([]);
    if (!result.ok) return;
    expect(result.snapshot.prices.fileRows).toEqual([{ model: "large", input: 1, output: 2 }]);
    expect(result.snapshot.ledger.dataDir).toBe("/etc/app/data");
    expect(result.files).toContain("/etc/app/prices.yaml");
  });

  it("checks without secrets when it is offline", () => {
    const result = load(GOOD.replace("env:KEY", "env:NONE"), { isOffline: true });
    expect(lines(result)).toEqual([]);
    expect(result.ok && result.files).toEqual([FILE]);
  });

  it("reads JSON", () => {
    const json = {
      version: 1,
      providers: { main: { kind: "hosted", credentials: ["x"] } },
      models: { chat: ["main/large"] },
    };
    expect(lines(load(JSON.stringify(json, null, "\t")))).toEqual([]);
  });

  const rows: readonly { readonly name: string; readonly text: string; readonly expected: readonly string[] }[] = [
    {
      name: "an empty file",
      text: "",
      expected: [`${FILE}:1:1: must be an object`],
    },
    {
      name: "a repeated provider",
      text: "version: 1\nproviders:\n  main: { kind: hosted }\n  main: { kind: hosted }\n",
      expected: [`${FILE}:4:3: this member is there twice; names are unique within an object`],
    },
    {
      name: "an unknown member",
      text: `${GOOD}server:\n  prot: 80\n`,
      expected: [`${FILE}:7:3: /server/prot: unknown member "prot"; did you mean "port"?`],
    },
    {
      name: "a missing member",
      text: "version: 1\nproviders:\n  main: { kind: hosted, credentials: [x] }\nmodels:\n  chat:\n    deployments:\n      - { id: a, model: large }\n",
      expected: [`${FILE}:7:9: /models/chat/deployments/0: must have the member "provider"`],
    },
    {
      name: "an unset variable, a missing file and an unknown provider, in the order of the file",
      text: 'version: 1\nmodels:\n  chat: [mian/large]\nproviders:\n  main:\n    kind: hosted\n    credentials:\n      - "env:NONE"\n      - "file:none"\n',
      expected: [
        `${FILE}:3:10: /models/chat/0: unknown provider "mian"; did you mean "main"?`,
        `${FILE}:8:9: /providers/main/credentials/0: the environment variable NONE is not set`,
        `${FILE}:9:9: /providers/main/credentials/1: the file none cannot be read (ENOENT)`,
      ],
    },
    {
      name: "a member behind an alias",
      text: "version: 1\nproviders:\n  main: &p\n    kind: hosted\n    credentials: [x]\n    baseUrl: nowhere\n  other: *p\nmodels:\n  chat: [main/large]\n",
      expected: [
        `${FILE}:6:5: /providers/main/baseUrl: must be an absolute URL such as "https://llm.example.com/v1"`,
        `${FILE}:6:5: /providers/other/baseUrl: must be an absolute URL such as "https://llm.example.com/v1"`,
      ],
    },
    {
      name: "an infinite number",
      text: `${GOOD}server: { port: .inf }\n`,
      expected: [`${FILE}:6:11: /server/port: must be a number that JSON can write`],
    },
    {
      name: "a binary value",
      text: `${GOOD}server: { host: !!binary aGk= }\n`,
      expected: [`${FILE}:6:11: /server/host: must be a plain object`],
    },
    {
      name: "limits and prices that only the ledger can judge",
      text: `${GOOD}limits:\n  global:\n    - { usd: 1, per: day }\n    - { usd: 2, per: day }\nprices:\n  rows:\n    - { model: m, input: 0.0000001, output: 1 }\n`,
      expected: [
        `${FILE}:9:7: /limits/global/1: must be the only limit of usd per day`,
        `${FILE}:12:19: /prices/rows/0/input: must be USD per million tokens from 0 to 9000 with at most six decimals`,
      ],
    },
    {
      name: "a trusted proxy that is no address",
      text: `${GOOD}server: { trustedProxies: [10.0.0.0/8, 10.0.0.0/64] }\n`,
      expected: [`${FILE}:6:40: /server/trustedProxies/1: must have at most 32 bits after the slash`],
    },
    {
      name: "a price file that is not there",
      text: `${GOOD}prices: { file: none.yaml }\n`,
      expected: [`${FILE}:6:11: /prices/file: the file none.yaml cannot be read (ENOENT)`],
    },
    {
      name: "a price file that breaks its schema",
      text: `${GOOD}prices: { file: bad.yaml }\n`,
      expected: [`${FILE}:6:11: /prices/file: bad.yaml:2:16: /1/ouput: unknown member "ouput"; did you mean "output"?`],
    },
    {
      name: "a price file whose rows clash",
      text: `${GOOD}prices: { file: clash.yaml }\n`,
      expected: [
        `${FILE}:6:11: /prices/file: clash.yaml:2:3: /1: is the second price of m that holds from the same day`,
      ],
    },
    {
      name: "a price file that is no YAML",
      text: `${GOOD}prices: { file: broken.yaml }\n`,
      expected: [expect.stringMatching(/:6:11: \/prices\/file: broken\.yaml:\d+:\d+: \S/) as unknown as string],
    },
  ];
  const files = {
    "/etc/app/secret": "x",
    "/etc/app/bad.yaml": "- { model: m, input: 1, output: 1 }\n- { model: m2, ouput: 1, output: 1, input: 1 }\n",
    "/etc/app/clash.yaml": "- { model: m, input: 1, output: 1 }\n- { model: m, input: 2, output: 1 }\n",
    "/etc/app/broken.yaml": "- { model: m\n",
  };
  it.each(rows)("places the problems of $name", ({ text, expected }) => {
    expect(lines(load(text, { files }))).toEqual(expected);
  });

  it("reports a file that cannot be read", () => {
    const result = loadConfigFile("none.yaml", {
      registry: FAKE_REGISTRY,
      env: {},
      readFile: () => {
        throw Object.assign(new Error("denied"), { code: "EACCES" });
      },
    });
    expect(lines(result)).toEqual(["none.yaml:1:1: the file cannot be read (EACCES)"]);
  });

  it("never throws, for any text and for any JSON", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const result = load(text);
        expect(result.ok || result.problems.length > 0).toBe(true);
      }),
    );
  });
});
