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
  ];
  it.each(rows)("places the problems of $name", ({ text, expected }) => {
    expect(lines(load(text, { files: { "/etc/app/secret": "x" } }))).toEqual(expected);
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
