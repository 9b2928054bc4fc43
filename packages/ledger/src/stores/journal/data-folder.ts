/**
 * A data folder belongs to one process at a time. The lock is the file `LOCK-<number>` with the highest number: whoever finds its process
 * dead makes the next one, which only one can. Invariants: the highest is never removed, not even when it is given back, so that no
 * number is taken twice; a lock appears with its content.
 */
import { mkdir, rename, utimes } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { GatewayError, type Clock, type Logger, type Random, type Timer } from "@dragoman/core";

import { failureFields } from "./disk-guard.ts";
import {
  clearLocks,
  highestLock,
  linkLock,
  lockPath,
  modifiedMs,
  readIfThere,
  removeIfThere,
  writeDraft,
} from "./lock-files.ts";
import {
  formatStamp,
  HEARTBEAT_MS,
  parseStamp,
  readProcesses,
  STALE_MS,
  type Processes,
  type ProcessStamp,
} from "./process-stamp.ts";

/** What a lock is taken with. */
export interface DataFolderOptions {
  /** Made, for its owner only, where there is none. */
  readonly path: string;
  readonly clock: Pick<Clock, "schedule">;
  readonly random: Pick<Random, "id">;
  readonly logger: Pick<Logger, "error">;
  /** The folder was taken by another process, because this one showed no life for too long. Nothing may be written any more. */
  readonly onLost?: () => void;
  /** Default: what the operating system says. */
  readonly processes?: Processes;
  /** Default: real time, which keeps the process alive meanwhile. */
  readonly wait?: (delayMs: number) => Promise<void>;
}

/** A folder that no other process uses. */
export interface DataFolder {
  readonly path: string;
  readonly processes: Processes;
  /** Gives it back. Idempotent. */
  release(): Promise<void>;
}

const FOLDER_MODE = 0o700;
const TOKEN_LENGTH = 12;
const RELEASED = "released\n";
/** How often a holder that cannot be seen is looked at. */
const LOOK_MS = 1_000;

/** Takes a data folder. Rejects with `config_invalid` when another process has it. */
export async function openDataFolder(options: DataFolderOptions): Promise<DataFolder> {
  const { path, processes = readProcesses() } = options;
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  const draft = await writeDraft(path, options.random.id(TOKEN_LENGTH), `${formatStamp(processes.own)}\n`);
  try {
    const number = await new Claim(options, processes, draft).take();
    return new HeldFolder(options, processes, number);
  } finally {
    await removeIfThere(draft);
  }
}

/** Who holds a folder, as far as it can be told: nobody, a process that lives, or one that cannot be seen. */
type Holder =
  | { readonly state: "none" }
  | { readonly state: "alive"; readonly stamp: ProcessStamp | null }
  | {
      readonly state: "unseen";
      readonly stamp: ProcessStamp | null;
      readonly silentMs: number;
      readonly seenMs: number;
    };

class Claim {
  readonly #options: DataFolderOptions;
  readonly #processes: Processes;
  readonly #draft: string;
  readonly #wait: (delayMs: number) => Promise<void>;

  constructor(options: DataFolderOptions, processes: Processes, draft: string) {
    this.#options = options;
    this.#wait = options.wait ?? sleep;
    this.#processes = processes;
    this.#draft = draft;
  }

  /** The number of the lock that was taken. */
  async take(): Promise<number> {
    const { path } = this.#options;
    for (;;) {
      const highest = await highestLock(path);
      if (highest > 0) await this.#waitFor(highest);
      const number = highest + 1;
      if (!(await linkLock(this.#draft, lockPath(path, number)))) continue;
      // A number that was free because its file was removed is below the one of who removed it.
      if ((await highestLock(path)) > number) {
        await removeIfThere(lockPath(path, number));
        continue;
      }
      await clearLocks(path, number);
      return number;
    }
  }

  /** Resolves when nobody holds the lock; rejects when somebody does. A holder that cannot be seen gets time to show itself. */
  async #waitFor(number: number): Promise<void> {
    let seenMs: number | null = null;
    for (;;) {
      const holder = await this.#look(number);
      if (holder.state === "none") return;
      if (holder.state === "alive" || (seenMs !== null && holder.seenMs !== seenMs)) throw this.#inUse(holder.stamp);
      seenMs = holder.seenMs;
      if (holder.silentMs >= STALE_MS) return;
      await this.#wait(LOOK_MS);
    }
  }

  async #look(number: number): Promise<Holder> {
    const lock = lockPath(this.#options.path, number);
    const content = await readIfThere(lock);
    if (content === null || content === RELEASED) return { state: "none" };
    const stamp = parseStamp(content.trim());
    const isAlive = stamp === null ? null : this.#processes.isAlive(stamp);
    if (isAlive !== null) return isAlive ? { state: "alive", stamp } : { state: "none" };
    const now = new Date();
    await utimes(this.#draft, now, now);
    const [lockTime, ownTime] = [await modifiedMs(lock), await modifiedMs(this.#draft)];
    if (lockTime === null || ownTime === null) return { state: "none" };
    return { state: "unseen", stamp, silentMs: ownTime - lockTime, seenMs: lockTime };
  }

  #inUse(stamp: ProcessStamp | null): GatewayError {
    const { path } = this.#options;
    const who = stamp === null ? "another process" : `process ${stamp.pid}`;
    const where =
      stamp === null || stamp.machine === this.#processes.own.machine ? "" : " of another machine or container";
    const message = `The data folder "${path}" is in use by ${who}${where}. Stop it, or give this one a folder of its own.`;
    return new GatewayError("config_invalid", message);
  }
}

class HeldFolder implements DataFolder {
  readonly path: string;
  readonly processes: Processes;
  readonly #options: DataFolderOptions;
  readonly #number: number;
  #timer: Timer | null = null;
  #isReleased = false;

  constructor(options: DataFolderOptions, processes: Processes, number: number) {
    this.path = options.path;
    this.processes = processes;
    this.#options = options;
    this.#number = number;
    this.#arm();
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#timer?.cancel();
    const draft = await writeDraft(this.path, this.#options.random.id(TOKEN_LENGTH), RELEASED);
    await rename(draft, lockPath(this.path, this.#number));
  }

  #arm(): void {
    this.#timer = this.#options.clock.schedule(HEARTBEAT_MS, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    const now = new Date();
    try {
      await utimes(lockPath(this.path, this.#number), now, now);
      if ((await highestLock(this.path)) > this.#number) this.#lose();
    } catch (thrown) {
      this.#options.logger.error(failureFields(thrown), "The lock of the data folder cannot be renewed.");
    }
    if (!this.#isReleased) this.#arm();
  }

  #lose(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#options.logger.error({ path: this.path }, "The data folder was taken over by another process.");
    this.#options.onLost?.();
  }
}
