// Two gateways that count in one real Valkey or Redis: what one of them has spent the other cannot spend again.
import { describe, expect, it } from "vitest";

import { useValkey } from "../../../../tests/services/valkey.ts";
import { hashKey } from "../../src/keys/index.ts";
import { STAGE_KEY, useStages } from "./ledger-stage.ts";

const valkey = await useValkey();

const TIME_LIMIT_MS = 60_000;
const REQUESTS = 60;
const ALLOWED = 20;
const MANY = 1_000_000;

describe.skipIf(valkey === null)("two gateways over one Valkey", () => {
  const stageOf = useStages();
  const limited = (url: string, prefix: string, requests: number, onDown: "open" | "closed" = "open") => ({
    counters: { kind: "valkey", url, prefix, onDown } as const,
    keys: [{ name: "app", hash: hashKey(STAGE_KEY), models: ["*"], limits: [{ requests, per: "day" }] }],
  });

  it(
    "let in exactly as many requests together as the limit allows, also after both were started again",
    async () => {
      const [one, other] = [stageOf(), stageOf()];
      const config = limited(valkey!.url, `two-${process.pid}-${Date.now()}`, ALLOWED);
      await one.start(config);
      await other.start(config);
      const statuses = await Promise.all(
        Array.from({ length: REQUESTS }, (_, index) => (index % 2 === 0 ? one : other).ask()),
      );
      const count = (status: number): number => statuses.filter((each) => each === status).length;
      expect([count(200), count(429)]).toEqual([ALLOWED, REQUESTS - ALLOWED]);
      expect((await one.readiness()).body).toMatchObject({ counters: "up" });
      await one.stop();
      await other.stop();
      await one.start(config);
      expect(await one.ask()).toBe(429);
    },
    TIME_LIMIT_MS,
  );

  it.skipIf(!valkey?.startOwn).each([
    { onDown: "open" as const, status: 200 },
    { onDown: "closed" as const, status: 503 },
  ])(
    "answer $status while the server is away and the policy is `$onDown`",
    async ({ onDown, status }) => {
      const server = await valkey!.startOwn!();
      const stage = stageOf();
      await stage.start(limited(server.url, "away", MANY, onDown));
      expect(await stage.ask()).toBe(200);
      await server.kill();
      await stage.until("the policy holds", async () => {
        const answered = await stage.ask();
        return answered === status && (await stage.readiness()).body["counters"] === "down" ? true : null;
      });
      expect(await stage.ask()).toBe(status);
      await server.restart();
      await stage.until("it is counted together again", async () => {
        const answered = await stage.ask();
        return answered === 200 && (await stage.readiness()).body["counters"] === "up" ? true : null;
      });
      expect(
        stage.log.filter(
          ({ level, message }) => level === "warn" && message.startsWith("Limits cannot be counted together"),
        ),
      ).toHaveLength(1);
    },
    TIME_LIMIT_MS,
  );
});
