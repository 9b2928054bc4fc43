import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Logger, Timer } from "@dragoman/core";
import { openDataFolder, readProcesses, type DataFolder, type Processes } from "@dragoman/ledger/journal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { Child } from "./child.ts";

let path: string;
const children: Child[] = [];
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), "dragoman-folder-")), "data");
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  await rm(join(path, ".."), { recursive: true, force: true });
});

/** A clock that runs when the test calls what was scheduled. */
class ManualClock {
  now: number = Date.now();
  readonly due: (() => void)[] = [];
  #onScheduled: (() => void) | null = null;

  nowMs(): number {
    return this.now;
  }

  /** Resolves when the next timer is set. */
  scheduled(): Promise<string> {
    return new Promise((settle) => {
      this.#onScheduled = () => settle("scheduled");
    });
  }

  schedule(_: number, callback: () => void): Timer {
    this.due.push(callback);
    this.#onScheduled?.();
    return { cancel: () => void this.due.splice(this.due.indexOf(callback), 1) };
  }
}

class Errors implements Pick<Logger, "error"> {
  readonly messages: string[] = [];
  error: Logger["error"] = (_, message) => void this.messages.push(message);
}

async function start(): Promise<Child> {
  const child = new Child("folder-taker", [path]);
  children.push(child);
  await child.until((output) => output.startsWith("ready\n"));
  return child;
}

const locks = async (): Promise<readonly string[]> => (await readdir(path)).filter((name) => name.startsWith("LOCK"));
const take = (options: Partial<Parameters<typeof openDataFolder>[0]> = {}): Promise<DataFolder> =>
  openDataFolder({ path, clock: new ManualClock(), logger: new Errors(), ...options });

/** Processes of another container, which nobody here can see. */
const elsewhere = (pid: number): Processes => ({ own: { machine: "other", pid, start: "1" }, isAlive: () => null });

describe("a data folder", () => {
  it("is made for its owner only, and can be taken again after it was given back", async () => {
    const first = await take();
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await expect(take()).rejects.toMatchObject({ code: "config_invalid" });
    await first.release();
    await first.release();
    await (await take()).release();
    expect(await locks()).toEqual(["LOCK-2"]);
  });

  it("is refused to a second process, with the first one's id, and free as soon as that is killed", async () => {
    const holder = await start();
    holder.tell("go");
    await holder.until((output) => output.includes("taken"));
    await expect(take()).rejects.toMatchObject({
      code: "config_invalid",
      message: `The data folder "${path}" is in use by process ${holder.pid}. Stop it, or give this one a folder of its own.`,
    });
    await holder.kill();
    await (await take()).release();
  });

  it.each(["nobody", "a process that was killed"])(
    "is taken by exactly one of several that start at once, after %s",
    async (before) => {
      if (before !== "nobody") {
        const dead = await start();
        dead.tell("go");
        await dead.until((output) => output.includes("taken"));
        await dead.kill();
      }
      const several = await Promise.all(Array.from({ length: 4 }, start));
      for (const child of several) child.tell("go");
      await Promise.all(several.map((child) => child.until((output) => output.split("\n").length > 2)));
      const answers = several.map(({ lines }) => lines[1] ?? "");
      expect(answers.filter((answer) => answer === "taken").length).toBe(1);
      expect(answers.filter((answer) => answer.includes("is in use by")).length).toBe(3);
      expect((await locks()).length).toBe(1);
    },
  );

  it("is taken by exactly one of many in one process", async () => {
    await (await take()).release();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => take()));
    expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBe(1);
    expect((await locks()).length).toBe(1);
  });

  it("of a process with an id that is used again is free", async () => {
    const processes = readProcesses();
    const past: Processes = { ...processes, own: { ...processes.own, start: "1" } };
    await take({ processes: past });
    const folder = await take();
    expect(await locks()).toEqual(["LOCK-2"]);
    await folder.release();
  });

  it("of a container that cannot be seen is free after silence", async () => {
    const clock = new ManualClock();
    await take({ processes: elsewhere(1) });
    let waits = 0;
    const folder = await take({
      clock,
      processes: elsewhere(2),
      wait: async (delayMs) => {
        waits += 1;
        clock.now += delayMs;
      },
    });
    expect(waits).toBeGreaterThanOrEqual(14);
    await folder.release();
  });

  it("of a container that cannot be seen is refused as soon as that shows life", async () => {
    await take({ processes: elsewhere(1) });
    let waits = 0;
    const wait = async (): Promise<void> => {
      waits += 1;
      const soon = new Date(Date.now() + 3_000);
      if (waits === 3) await utimes(join(path, "LOCK-1"), soon, soon);
    };
    await expect(
      take({ processes: { ...elsewhere(2), own: { machine: "mine", pid: 2, start: "1" } }, wait }),
    ).rejects.toMatchObject({
      message: expect.stringContaining("is in use by process 1 of another machine or container") as string,
    });
    expect(waits).toBe(3);
  });

  it("waits for the content of a lock that is being made, and takes over one that stays empty", async () => {
    await (await take()).release();
    await writeFile(join(path, "LOCK-2"), "");
    const clock = new ManualClock();
    const filled = take({
      clock,
      wait: () => writeFile(join(path, "LOCK-2"), `${Object.values(readProcesses().own).join(".")}\n`),
    });
    await expect(filled).rejects.toMatchObject({ code: "config_invalid" });
    await writeFile(join(path, "LOCK-3"), "");
    const folder = await take({
      clock,
      wait: async (delayMs) => {
        clock.now += delayMs;
      },
    });
    expect(await locks()).toEqual(["LOCK-4"]);
    await folder.release();
  });

  it("shows that its holder lives, and tells it when somebody else took over all the same", async () => {
    const clock = new ManualClock();
    const logger = new Errors();
    const lost = new Promise<string>((settle) => {
      void take({ clock, logger, onLost: () => settle("lost") });
    });
    await clock.scheduled();
    const beat = (): Promise<string> => {
      const next = clock.scheduled();
      clock.due.shift()?.();
      return Promise.race([next, lost]);
    };
    clock.now = Date.parse("2030-01-01T00:00:00Z");
    expect(await beat()).toBe("scheduled");
    expect((await stat(join(path, "LOCK-1"))).mtimeMs).toBe(clock.now);
    await writeFile(join(path, "LOCK-2"), "another");
    expect(await beat()).toBe("lost");
    expect(logger.messages).toEqual(["The data folder was taken over by another process."]);
    expect(clock.due).toEqual([]);
  });
});
