import { parse } from "yaml";
import { describe, expect, it } from "vitest";

import { ConfigValidator } from "@dragoman/core";

import { hashKey } from "../keys/index.ts";
import { createFakeIo } from "./fixtures/fake-io.ts";
import { run } from "./run.ts";

describe("run", () => {
  it("prints help with every command and option", async () => {
    const io = createFakeIo();
    expect(await run(["--help"], io)).toBe(0);
    for (const word of ["serve", "demo", "check", "schema", "explain", "keys create", "--offline", "DRAGOMAN_CONFIG"])
      expect(io.out()).toContain(word);
    for (const line of io.out().split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });

  it("prints its version", async () => {
    const io = createFakeIo();
    expect(await run(["--version"], io)).toBe(0);
    expect(io.out()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("exits with 2 and says why when the usage is wrong", async () => {
    const io = createFakeIo();
    expect(await run(["serv"], io)).toBe(2);
    expect(io.err()).toBe('dragoman: unknown command "serv"; did you mean "serve"?\nSee: dragoman --help\n');
    expect(io.out()).toBe("");
  });

  it("prints a schema that is JSON and names its draft", async () => {
    const io = createFakeIo();
    expect(await run(["schema"], io)).toBe(0);
    expect(JSON.parse(io.out())).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema" });
  });

  it("creates a key whose printed lines let exactly that key in", async () => {
    const io = createFakeIo();
    expect(await run(["keys", "create", "--name", "ci", "--models", "chat, vendor/*", "--owner", "team-a"], io)).toBe(
      0,
    );
    const key = /dgm_[0-9A-Za-z]{32}/.exec(io.out())?.[0] ?? "";
    const yaml = io.out().slice(io.out().indexOf("keys:"));
    expect(parse(yaml)).toEqual({
      keys: [{ name: "ci", hash: hashKey(key), owner: "team-a", models: ["chat", "vendor/*"] }],
    });
    expect(yaml).not.toContain(key);
    expect(
      new ConfigValidator().validate({
        version: 1,
        providers: { p: { kind: "k" } },
        models: { m: ["p/x"] },
        ...parse(yaml),
      }),
    ).toEqual([]);
  });

  it("creates a key for all models when none are named", async () => {
    const io = createFakeIo();
    expect(await run(["keys", "create"], io)).toBe(0);
    expect(io.out()).toContain('name: "app"');
    expect(io.out()).toContain('models: ["*"]');
  });

  it("refuses a key with a bad name or model and prints none", async () => {
    const io = createFakeIo();
    expect(await run(["keys", "create", "--name", "a b", "--models", "a**"], io)).toBe(2);
    expect(io.out()).toBe("");
    expect(io.err()).toMatch(/^--name: must be a name .*\n--models: must be a public model name .*\n$/);
  });
});
