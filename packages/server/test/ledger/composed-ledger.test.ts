// The ledger as a gateway composes it: what calls leave behind, across ends and starts.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import type { StoredKey } from "@dragoman/ledger";
import { describe, expect, it } from "vitest";

import { createGateway } from "../../src/create-gateway.ts";
import { hashKey } from "../../src/keys/index.ts";
import { useStages } from "./ledger-stage.ts";

const stageOf = useStages();

const STORED_SECRET = "dgm_KeyOfTheStore00000000000000000";
const STORED_KEY: StoredKey = {
  id: "key_0000000000000001",
  name: "stored",
  secrets: [{ hash: hashKey(STORED_SECRET).slice("sha256:".length), untilMs: null }],
  owner: "team",
  tags: ["blue"],
  models: ["scripted-text"],
  debug: false,
  trusted: false,
  limits: [{ requests: 2, per: "day" }],
  createdMs: 0,
  expiresMs: null,
  revokedMs: null,
};

describe("a gateway's ledger", () => {
  it("books every call once, tells the host, and has it all after a restart", async () => {
    const stage = stageOf();
    await stage.start();
    expect([await stage.ask(), await stage.ask("scripted-error-500"), await stage.ask()]).toEqual([200, 502, 200]);
    expect(stage.heard.map(({ rule }) => rule)).toEqual(["actual", "failed_free", "actual"]);
    expect(await stage.booked()).toEqual(stage.heard);
    await stage.stop();
    expect(readdirSync(join(stage.dataDir, "journal"))).toEqual([]);
    await stage.start();
    expect(await stage.ask()).toBe(200);
    expect(await stage.booked()).toEqual(stage.heard);
    expect(stage.heard).toHaveLength(4);
  });

  it("goes on counting against a budget where the process before left it", async () => {
    const stage = stageOf();
    const limits = [{ usd: 1, per: "month" }] as const;
    const keys = [{ name: "app", hash: hashKey("dgm_x"), models: ["*"], limits }];
    await stage.start({ keys });
    expect(await stage.ask("scripted-text", "dgm_x")).toBe(200);
    const [before] = stage.gateway.ledger!.standings("key", "app");
    expect(before?.spent).toBe(stage.heard[0]?.costNanoUsd);
    await stage.stop();
    await stage.start({ keys });
    await stage.ask("scripted-text", "dgm_x");
    const [after] = stage.gateway.ledger!.standings("key", "app");
    expect(after?.spent).toBe((stage.heard[0]?.costNanoUsd ?? 0) + (stage.heard[1]?.costNanoUsd ?? 0));
  });

  it("lets the store's keys in, holds them to their limits, and forgets them when they are revoked", async () => {
    const stage = stageOf();
    await stage.start();
    const { keys } = stage.gateway.ledger!.store;
    expect(await stage.ask("scripted-text", STORED_SECRET)).toBe(401);
    await keys.create(STORED_KEY);
    await stage.until("the key is known", async () =>
      (await stage.ask("other", STORED_SECRET)) === 403 ? true : null,
    );
    expect([await stage.ask("scripted-text", STORED_SECRET), await stage.ask("scripted-text", STORED_SECRET)]).toEqual([
      200, 200,
    ]);
    expect(await stage.ask("scripted-text", STORED_SECRET)).toBe(429);
    expect(stage.heard.map(({ key, owner, tags }) => [key, owner, tags])).toEqual([
      [STORED_KEY.id, "team", ["blue"]],
      [STORED_KEY.id, "team", ["blue"]],
    ]);
    await keys.revoke("stored", Date.now());
    // Whoever asks this often with a wrong key gets 429 instead of 401.
    await stage.until("the key is gone", async () =>
      [401, 429].includes(await stage.ask("other", STORED_SECRET)) ? true : null,
    );
  });

  it("takes the limits and prices of a new configuration at once, and keeps what was spent", async () => {
    const stage = stageOf();
    const config = (requests: number) => ({
      version: 1 as const,
      providers: { openai: { kind: "openai", baseUrl: `${stage.upstream.url}/v1`, credentials: ["x"] } },
      models: {
        m: { deployments: [{ id: "d", provider: "openai", model: "scripted-text", prices: { input: 7, output: 7 } }] },
      },
      keys: [{ name: "app", hash: hashKey("dgm_x"), models: ["*"], limits: [{ requests, per: "day" }] }],
    });
    await stage.start();
    stage.gateway.reconfigure(config(1));
    expect([await stage.ask("m", "dgm_x"), await stage.ask("m", "dgm_x")]).toEqual([200, 429]);
    const [entry] = stage.heard;
    expect(entry?.costNanoUsd).toBe(7_000 * ((entry?.usage?.input ?? 0) + (entry?.usage?.output ?? 0)));
    stage.gateway.reconfigure(config(2));
    expect([await stage.ask("m", "dgm_x"), await stage.ask("m", "dgm_x")]).toEqual([200, 429]);
  });

  it("tells of a budget that is nearly used up, and of one that refuses", async () => {
    const stage = stageOf();
    const alerts: string[] = [];
    await stage.start({ owners: { team: { limits: [{ requests: 2, per: "day", alertAt: [0.5] }] } } });
    stage.gateway.events.on("alert", ({ kind, scope, id }) => void alerts.push(`${kind} ${scope} ${id}`));
    for (const expected of [200, 200, 429, 429]) expect(await stage.ask()).toBe(expected);
    expect(alerts).toEqual(["soft owner team", "hard owner team"]);
    expect(stage.log.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      "50 % of a limit are used up",
      "a limit refuses calls until its window ends",
    ]);
  });

  it("keeps its folder to itself, and gives it back", async () => {
    const stage = stageOf();
    await stage.start();
    expect(statSync(stage.dataDir).mode & 0o777).toBe(0o700);
    const config = {
      version: 1,
      providers: { openai: { kind: "openai", credentials: ["x"] } },
      models: { m: ["openai/gpt-5-mini"] },
    } as const;
    await expect(createGateway(config, { dataDir: stage.dataDir })).rejects.toThrow(stage.dataDir);
    await stage.stop();
    const other = await createGateway(config, { dataDir: stage.dataDir });
    await other.close();
  });

  it.each(["strict", "store"] as const)(
    "has booked or synced a call before its last byte goes out: %s",
    async (durability) => {
      const stage = stageOf();
      await stage.start({ ledger: { durability } });
      expect(await stage.ask()).toBe(200);
      const entries = await stage.booked();
      expect(entries).toEqual(stage.heard);
    },
  );

  it("tells a readiness probe that its store is up and how far it is behind", async () => {
    const stage = stageOf();
    await stage.start();
    await stage.ask();
    await stage.booked();
    const { status, body } = await stage.until("nothing is behind", async () => {
      const probe = await stage.readiness();
      return (probe.body["ledger"] as { readonly lagBytes: number }).lagBytes === 0 ? probe : null;
    });
    expect([status, body]).toEqual([
      200,
      { status: "ready", generation: 1, ledger: { store: "up", lagBytes: 0, lagMs: 0 } },
    ]);
  });

  it("writes no file and keeps no entry without a folder, but hands them over", async () => {
    const heard: string[] = [];
    const gateway = await createGateway(
      {
        version: 1,
        providers: { openai: { kind: "openai", baseUrl: "http://127.0.0.1:1/v1", credentials: ["x"] } },
        models: { m: ["openai/gpt-5-mini"] },
      },
      { onEntry: ({ rule, key }) => void heard.push(`${rule} ${key}`) },
    );
    const answer = await gateway.as({ id: "me" }).fetch("http://gateway/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(answer.status).toBe(502);
    await gateway.close();
    expect(new Set(heard)).toEqual(new Set(["failed_free me"]));
  });
});
