import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { hashKey } from "../keys/index.ts";
import { createBuiltInRegistry } from "./built-in-registry.ts";
import { createFakeIo } from "./fixtures/fake-io.ts";
import type { FakeIo } from "./fixtures/fake-io.ts";
import { run } from "./run.ts";

const kinds = createBuiltInRegistry().kinds;
const kind = kinds.find(({ discovery }) => discovery !== undefined);
const discovery = kind?.discovery;
if (kind === undefined || discovery === undefined) throw new Error("no built-in kind can be discovered");

const config = `version: 1
server: { host: 127.0.0.1, port: 0 }
telemetry: { logLevel: silent }
providers:
  main: { kind: ${kind.id}, credentials: ["env:MAIN_KEY"] }
models:
  chat: [main/some-model]
`;

const urlIn = (io: FakeIo): string => /http:\/\/\S+/.exec(io.out())?.[0] ?? "";

const statusOf = (url: string, key: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url, { headers: { authorization: `Bearer ${key}`, connection: "close" } }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end();
  });

describe("dragoman check", () => {
  it("says what a valid file holds", async () => {
    const io = createFakeIo({ files: { "a.yaml": config }, env: { MAIN_KEY: "x" } });
    expect(await run(["check", "a.yaml"], io)).toBe(0);
    expect(io.out()).toBe("a.yaml: valid: 1 provider, 1 model, 1 deployment, 0 keys\n");
  });

  it("needs secrets unless it is offline", async () => {
    const io = createFakeIo({ files: { "a.yaml": config } });
    expect(await run(["check", "a.yaml"], io)).toBe(2);
    expect(io.err()).toMatch(
      /^a\.yaml:5:\d+: \/providers\/main\/credentials\/0: the environment variable MAIN_KEY is not set\n$/,
    );
    expect(await run(["check", "a.yaml", "--offline"], io)).toBe(0);
    expect(io.out()).toContain("valid, secrets not resolved");
  });

  it("reports each problem on a line of its own", async () => {
    const io = createFakeIo({ files: { "a.yaml": "version: 2\nprovider: {}\n" } });
    expect(await run(["check", "a.yaml"], io)).toBe(2);
    expect(io.err().trimEnd().split("\n")).toHaveLength(4);
    expect(io.out()).toBe("");
  });
});

describe("docs/configuration.md", () => {
  it("shows a configuration that is valid as it stands", async () => {
    const page = readFileSync(new URL("../../../../docs/configuration.md", import.meta.url), "utf8");
    const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const io = createFakeIo({ files: { "dragoman.yaml": example } });
    expect([await run(["check", "dragoman.yaml", "--offline"], io), io.err()]).toEqual([0, ""]);
    expect(io.out()).toContain("3 providers, 3 models, 6 deployments, 1 key");
  });

  it("shows the message that the mistake really gives", async () => {
    const page = readFileSync(new URL("../../../../docs/configuration.md", import.meta.url), "utf8");
    const [, shown = ""] = /```\n(dragoman\.yaml:.*)\n```/.exec(page) ?? [];
    const io = createFakeIo({ files: { "dragoman.yaml": config.replace("port: 0", "prot: 0") } });
    expect(await run(["check", "dragoman.yaml", "--offline"], io)).toBe(2);
    expect(io.err()).toBe(`${shown}\n`);
  });
});

describe("dragoman explain", () => {
  const clients = createBuiltInRegistry().clients;
  const dialect = clients[0]?.id ?? "";
  const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] });

  it("prints a verdict for each deployment and resolves no secret", async () => {
    const io = createFakeIo({ files: { "a.yaml": config, "r.json": body } });
    expect(await run(["explain", "--config", "a.yaml", "--dialect", dialect, "r.json"], io)).toBe(0);
    expect(JSON.parse(io.out())).toMatchObject({ ok: true, plan: [{ deployment: "main/some-model" }] });
  });

  it("fails on a request that cannot be planned", async () => {
    const io = createFakeIo({ files: { "a.yaml": config, "r.json": "{" } });
    expect(await run(["explain", "--config", "a.yaml", "--dialect", dialect, "r.json"], io)).toBe(1);
    expect(JSON.parse(io.out())).toMatchObject({ ok: false });
  });

  const mistakes: readonly { readonly name: string; readonly args: readonly string[]; readonly message: RegExp }[] = [
    { name: "no configuration", args: ["--dialect", "d", "r.json"], message: /needs --config FILE/ },
    { name: "no dialect", args: ["--config", "a.yaml", "r.json"], message: /needs --dialect ID/ },
    { name: "no such request", args: ["--config", "a.yaml", "--dialect", "d", "x.json"], message: /x\.json: .*ENOENT/ },
    {
      name: "no such file",
      args: ["--config", "x.yaml", "--dialect", "d", "r.json"],
      message: /x\.yaml:1:1: .*ENOENT/,
    },
  ];
  it.each(mistakes)("refuses $name", async ({ args, message }) => {
    const io = createFakeIo({ files: { "a.yaml": config, "r.json": body } });
    expect(await run(["explain", ...args], io)).toBe(2);
    expect(io.err()).toMatch(message);
  });
});

describe("dragoman serve", () => {
  const folders: string[] = [];
  const freshFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "dragoman-serve-"));
    folders.push(folder);
    return folder;
  };
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  it("serves a file's configuration until it is asked to end", async () => {
    let status = 0;
    const key = "dgm_test";
    const io: FakeIo = createFakeIo({
      files: { "a.yaml": `${config}keys:\n  - { name: app, hash: "${hashKey(key)}", models: ["*"] }\n` },
      env: { MAIN_KEY: "x" },
      untilStopped: async () => {
        status = await statusOf(`${urlIn(io)}/v1/models`, key);
      },
    });
    expect([
      await run(["serve", "--config", "a.yaml", "--host", "127.0.0.1", "--data", freshFolder()], io),
      io.err(),
    ]).toEqual([0, ""]);
    expect(status).toBe(200);
    await expect(statusOf(urlIn(io), key)).rejects.toThrow("ECONNREFUSED");
  });

  it("starts without a file from the environment, prints its key once, and keeps only the hash", async () => {
    const seen: { key: string; status: number }[] = [];
    const files = new Map<string, string>();
    const folder = freshFolder();
    let key = "";
    for (const round of [1, 2]) {
      const io: FakeIo = createFakeIo({
        files: Object.fromEntries(files),
        env: { [discovery.environment]: "x" },
        untilStopped: async () => {
          key = /dgm_\w+/.exec(io.out())?.[0] ?? key;
          seen.push({ key, status: await statusOf(`${urlIn(io)}/v1/models`, key) });
        },
      });
      expect([await run(["--port", "0", "--data", folder], io), io.err()]).toEqual([0, ""]);
      expect(/dgm_\w+/.test(io.out())).toBe(round === 1);
      for (const [path, text] of io.files) files.set(path, text);
    }
    expect(seen.map(({ status }) => status)).toEqual([200, 200]);
    expect([...files.values()]).toEqual([`${hashKey(key)}\n`]);
  });

  it("refuses to start with nothing to serve, and names the variables", async () => {
    const io = createFakeIo();
    expect(await run([], io)).toBe(2);
    expect(io.err()).toContain(discovery.environment);
    expect(io.err()).toContain("dragoman demo");
  });

  it.each(["65536", "x", "-1", "1e3"])("refuses the port %s", async (port) => {
    const io = createFakeIo();
    expect(await run([`--port=${port}`], io)).toBe(2);
    expect(io.err()).toMatch(/65535/);
  });
});
