// A real PostgreSQL that is not there at the start, goes away in the middle, and comes back: calls go on and nothing is lost.
import { describe, expect, it } from "vitest";

import { usePostgres } from "../../../../tests/services/postgres.ts";
import { useStages, type LedgerStage } from "./ledger-stage.ts";

const postgres = await usePostgres();
const startOwn = postgres?.startOwn ?? null;

const TIME_LIMIT_MS = 120_000;

describe.skipIf(startOwn === null)("a gateway over a PostgreSQL that comes and goes", () => {
  const stageOf = useStages();

  const storeOf = ({ body }: Awaited<ReturnType<LedgerStage["readiness"]>>): unknown =>
    (body["ledger"] as { readonly store: string }).store;
  const isTold = (stage: LedgerStage, store: "up" | "down"): Promise<true> =>
    stage.until(`the store is told to be ${store}`, async () =>
      storeOf(await stage.readiness()) === store ? true : null,
    );
  const linesOf = (stage: LedgerStage, level: string): string[] =>
    stage.log.filter((line) => line.level === level && /store/.test(line.message)).map(({ message }) => message);

  it(
    "starts without it, books what was called meanwhile, and goes on when it dies again",
    async () => {
      const server = await startOwn!();
      const stage = stageOf();
      const ledger = { store: { kind: "postgres", url: server.url }, durability: "journal" } as const;
      await server.kill();
      await stage.start({ ledger });
      expect([await stage.ask(), await stage.ask()]).toEqual([200, 200]);
      await isTold(stage, "down");
      expect((await stage.readiness()).status).toBe(200);
      // One line of each that needs it, however often they try.
      expect(linesOf(stage, "error").toSorted()).toEqual([
        expect.stringMatching(/^Entries cannot be booked in the store/),
        expect.stringMatching(/^the store of keys cannot be read/),
      ]);

      await server.restart();
      await isTold(stage, "up");
      expect(await stage.booked()).toEqual(stage.heard);
      await stage.until("both are back", () => (linesOf(stage, "info").length >= 2 ? true : null));
      expect([linesOf(stage, "error").length, linesOf(stage, "info").length]).toEqual([2, 2]);

      await server.kill();
      expect([await stage.ask(), await stage.ask("scripted-error-500")]).toEqual([200, 502]);
      await isTold(stage, "down");
      await server.restart();
      await isTold(stage, "up");
      const entries = await stage.booked();
      expect(entries).toEqual(stage.heard);
      expect(entries.map(({ rule }) => rule)).toEqual(["actual", "actual", "actual", "failed_free"]);
    },
    TIME_LIMIT_MS,
  );

  it(
    "holds answers back that are to be booked first, and lets no call in while that cannot be",
    async () => {
      const server = await startOwn!();
      const stage = stageOf();
      await stage.start({ ledger: { store: { kind: "postgres", url: server.url }, durability: "store" } });
      expect(await stage.ask()).toBe(200);
      expect(await stage.booked()).toHaveLength(1);
      await server.kill();
      // The call that finds out cannot end as a whole answer.
      await expect(stage.ask()).rejects.toThrow(/terminated|fetch failed/);
      expect(await stage.ask()).toBe(503);
      expect((await stage.readiness()).status).toBe(503);
      await server.restart();
      await stage.until("calls are let in again", async () => ((await stage.ask()) === 200 ? true : null));
      const entries = await stage.booked();
      expect(entries).toEqual(stage.heard);
    },
    TIME_LIMIT_MS,
  );
});
