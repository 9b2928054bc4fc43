import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

import type { Credential, TrafficDialect } from "../contract/cell.ts";
import type { LaunchPlan, PlanContext, Target } from "../contract/target.ts";
import { COMPARED_TARGETS } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "dragoman-bench-targets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONTEXT: PlanContext = {
  executable: "/opt/target/bin/target",
  listenHost: "127.0.0.1",
  listenPort: 40_001,
  mockHost: "127.0.0.2",
  mockPort: 40_002,
  workDirectory: "/tmp/work",
  cores: 4,
  options: {},
};
const TRAFFIC = { mockHost: CONTEXT.mockHost, mockPort: CONTEXT.mockPort };
const DIALECTS: readonly TrafficDialect[] = ["openai-chat", "openai-responses", "openai-embeddings", "anthropic"];

function planOf(target: Target, options: PlanContext["options"] = {}): Extract<LaunchPlan, { kind: "process" }> {
  const plan = target.plan({ ...CONTEXT, options });
  if (plan.kind !== "process") throw new Error(`${target.id} is not started`);
  return plan;
}

function find(id: string): Target {
  const target = COMPARED_TARGETS.find((each) => each.id === id);
  if (target === undefined) throw new Error(`no target ${id}`);
  return target;
}

function headers(target: Target, dialect: TrafficDialect, credential: Credential): string {
  return JSON.stringify(target.traffic.headers(dialect, credential, TRAFFIC));
}

describe("every compared target", () => {
  it("has an identifier of its own that is a directory name", () => {
    const ids = COMPARED_TARGETS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9-]+$/);
  });

  it.each(COMPARED_TARGETS.map((target) => [target.id, target] as const))(
    "%s plans purely, with both addresses",
    (_id, target) => {
      const plan = planOf(target);
      expect(target.plan(CONTEXT)).toEqual(plan);
      const everything = JSON.stringify([plan, DIALECTS.map((dialect) => headers(target, dialect, "good"))]);
      expect(everything).toContain("40001");
      expect(everything).toContain("40002");
      expect(plan.ready.path).toMatch(/^\//);
      expect(plan.files.every(({ name }) => !name.startsWith("/"))).toBe(true);
    },
  );

  it.each(COMPARED_TARGETS.filter(({ checksKey }) => checksKey).map((target) => [target.id, target] as const))(
    "%s sends another key, and none, where the probe asks for it",
    (_id, target) => {
      for (const dialect of DIALECTS.filter((each) => target.traffic.path(each) !== undefined)) {
        const sent = (["good", "unknown", "absent"] as const).map((credential) => headers(target, dialect, credential));
        expect(new Set(sent).size).toBe(3);
        expect(sent[2]).not.toMatch(/authorization|x-api-key/);
      }
    },
  );

  it.each(COMPARED_TARGETS.filter(({ checksKey }) => !checksKey).map((target) => [target.id, target] as const))(
    "%s checks no key, so the unknown-key cell is n/a for it",
    (_id, target) => {
      expect(target.unsupported.S8).toBeDefined();
    },
  );

  it.each(COMPARED_TARGETS.map((target) => [target.id, target] as const))(
    "%s says how to install it when it is not found",
    async (_id, target) => {
      const located = await target.locate({ environment: { PATH: folder }, options: {} });
      expect(located).toMatchObject({ found: false, reason: expect.stringMatching(/not installed/) as unknown });
      expect(located.found ? "" : located.installCommand).not.toBe("");
    },
  );
});

describe("workers", () => {
  it.each([
    ["dragoman", 1],
    ["bifrost", undefined],
    ["litellm", 4],
    ["litellm-defaults", undefined],
    ["portkey", 1],
    ["nginx", 4],
    ["haproxy", 4],
  ] as const)("%s states the workers its configuration asks for", (id, workers) => {
    expect(planOf(find(id)).workers).toBe(workers);
  });

  it("starts as many LiteLLM workers as it has cores", () => {
    expect(planOf(find("litellm")).args.join(" ")).toContain("--num_workers 4");
    expect(planOf(find("litellm-defaults")).args.join(" ")).not.toContain("num_workers");
  });

  it("gives nginx a process and HAProxy a thread per core", () => {
    expect(planOf(find("nginx")).files[0]?.content).toContain("worker_processes 4;");
    expect(planOf(find("haproxy")).files[0]?.content).toContain("nbthread 4");
  });
});

describe("LiteLLM", () => {
  const config = JSON.parse(planOf(find("litellm")).files[0]?.content ?? "") as {
    readonly model_list: readonly { readonly litellm_params: { readonly model: string; readonly api_base: string } }[];
    readonly general_settings: { readonly master_key: string };
  };

  it("ends the base of OpenAI models in /v1 and that of Anthropic ones not", () => {
    for (const { litellm_params } of config.model_list) {
      expect(litellm_params.api_base.endsWith("/v1")).toBe(litellm_params.model.startsWith("openai/"));
    }
  });

  it("is called with the master key of its configuration", () => {
    expect(headers(find("litellm"), "openai-chat", "good")).toContain(config.general_settings.master_key);
  });

  it.each(["1.82.7", "1.82.8"])("is not started in the malicious version %s", async (version) => {
    const environmentFolder = join(folder, version);
    mkdirSync(join(environmentFolder, "bin"), { recursive: true });
    writeFileSync(join(environmentFolder, "bin", "litellm"), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
    const located = await find("litellm").locate({ environment: { LITELLM_BIN: environmentFolder }, options: {} });
    expect(located).toMatchObject({ found: false, reason: expect.stringContaining("malicious") as unknown });
  });
});

describe("Portkey", () => {
  it("is told its route by each request", () => {
    const { "x-portkey-config": route } = find("portkey").traffic.headers("anthropic", "good", TRAFFIC);
    expect(JSON.parse(route ?? "")).toEqual({
      provider: "anthropic",
      custom_host: "http://127.0.0.2:40002/v1",
      api_key: "sk-upstream",
      override_params: { model: "claude-mock" },
    });
  });

  it("says when it is installed without the overrides that its streams need", async () => {
    const home = join(folder, "portkey");
    const gateway = join(home, "node_modules", "@portkey-ai", "gateway");
    mkdirSync(join(gateway, "build"), { recursive: true });
    writeFileSync(join(gateway, "build", "start-server.js"), "");
    writeFileSync(join(gateway, "package.json"), '{"version":"1.15.2"}');
    mkdirSync(join(home, "node_modules", "hono"), { recursive: true });
    writeFileSync(join(home, "node_modules", "hono", "package.json"), '{"version":"4.9.7"}');
    const located = await find("portkey").locate({ environment: { PORTKEY_DIR: home }, options: {} });
    expect(located).toMatchObject({
      found: true,
      version: "1.15.2",
      versionNote: expect.stringContaining("@hono/node-server 1.13.8") as unknown,
    });
    expect(located.found ? located.versionNote : "").not.toContain("hono 4.9.7");
  });
});

describe("Dragoman", () => {
  it("logs requests at P-prod only, into a file", () => {
    const logs = (id: string): boolean =>
      (JSON.parse(planOf(find(id)).files[0]?.content ?? "") as { readonly telemetry: { readonly requestLog: boolean } })
        .telemetry.requestLog;
    expect([logs("dragoman"), logs("dragoman-prod")]).toEqual([false, true]);
    expect(planOf(find("dragoman-prod")).args.join(" ")).toContain(">request.log");
  });

  it("counts limits and keeps a journal at P-prod only", () => {
    const configOf = (
      id: string,
    ): { readonly ledger: object; readonly keys: readonly { readonly limits?: readonly object[] }[] } =>
      JSON.parse(planOf(find(id)).files[0]?.content ?? "") as ReturnType<typeof configOf>;
    expect(configOf("dragoman")).toMatchObject({ ledger: { store: { kind: "memory" } } });
    expect(configOf("dragoman").keys[0]?.limits).toBeUndefined();
    expect(configOf("dragoman-prod")).toMatchObject({ ledger: { durability: "journal" } });
    expect(configOf("dragoman-prod").keys[0]?.limits?.length).toBeGreaterThan(2);
  });

  it("shows the time of its steps where the inside view asks for it, and only there", () => {
    const shows = (id: string, options: Readonly<Record<string, string>>): boolean => {
      const [file] = planOf(find(id), options).files;
      const { keys } = JSON.parse(file?.content ?? "") as { readonly keys: readonly { readonly debug?: boolean }[] };
      return keys[0]?.debug === true;
    };
    expect(shows("dragoman", {})).toBe(false);
    expect(shows("dragoman", { "dragoman.inside": "on" })).toBe(true);
    expect(shows("dragoman-prod", { "dragoman-prod.inside": "on" })).toBe(true);
  });

  it("starts a script of Node by this Node", () => {
    const plan = find("dragoman").plan({ ...CONTEXT, executable: "/opt/dragoman/dist/cli.js" });
    expect(plan).toMatchObject({ command: process.execPath });
  });
});
