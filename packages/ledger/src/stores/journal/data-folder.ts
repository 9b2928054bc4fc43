/**
 * A data folder belongs to one process at a time. The lock is the file `LOCK-<number>` with the highest number: whoever finds its holder
 * dead makes the next one, which only one can. Invariant: the highest is never removed, not even when it is given back, so that no
 * number is taken twice.
 */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { GatewayError, type Clock, type Logger, type Timer } from "@dragoman/core";

import { failureFields } from "./disk-guard.ts";
import { clearLocks, highestLock, lockPath, makeLock, readLock, removeLock } from "./lock-files.ts";
import {
  formatStamp,
  HEARTBEAT_MS,
  parseStamp,
  readProcesses,
  STALE_MS,
  type Processes,
  type ProcessStamp,
} from "./process-stamp.ts";

/** What a folder is taken with. */
export interface DataFolderOptions {
  /** Made, for its owner only, where there is none. On a disk of this machine: locks of network file systems are not relied on. */
  readonly path: string;
  readonly clock: Pick<Clock, "nowMs" | "schedule">;
  readonly logger: Pick<Logger, "error">;
  /**
   * Another process has taken the folder, because this one showed no life for too long and could not be seen from there. Nothing may be
   * written any more.
   */
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
const RELEASED = "released\n";
/** How often a holder that cannot be seen is looked at. */
const LOOK_MS = 1_000;

/**
 * Takes a data folder. Rejects with `config_invalid` when another process has it. The lock of a dead process is taken over: at once on
 * the same machine, after 15 s of silence where its holder was in another container or before a restart of the machine.
 */
export async function openDataFolder(options: DataFolderOptions): Promise<DataFolder> {
  const { path, processes = readProcesses() } = options;
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  for (;;) {
    const highest = await highestLock(path);
    if (highest > 0) await waitForRoom(options, processes, lockPath(path, highest));
    const number = highest + 1;
    const lock = lockPath(path, number);
    if (!(await makeLock(lock, `${formatStamp(processes.own)}\n`))) continue;
    // A number that is free because its file was removed is below the one of who removed it.
    if ((await highestLock(path)) > number) {
      await removeLock(lock);
      continue;
    }
    await clearLocks(path, number);
    return new HeldFolder(options, processes, number);
  }
}

/** Resolves when nobody holds the lock; rejects when somebody does. A holder that cannot be seen gets time to show itself. */
async function waitForRoom(options: DataFolderOptions, processes: Processes, lock: string): Promise<void> {
  let seenMs: number | null = null;
  for (;;) {
    const found = await readLock(lock);
    if (found === null || found.content === RELEASED) return;
    const stamp = parseStamp(found.content.trim());
    const isAlive = stamp === null ? null : processes.isAlive(stamp);
    if (isAlive === false) return;
    const hasMoved = seenMs !== null && found.touchedMs !== seenMs && stamp !== null;
    if (isAlive === true || hasMoved) throw inUse(options.path, stamp, processes);
    if (options.clock.nowMs() - found.touchedMs >= STALE_MS) return;
    seenMs = found.touchedMs;
    await (options.wait ?? sleep)(LOOK_MS);
  }
}

function inUse(path: string, stamp: ProcessStamp | null, processes: Processes): GatewayError {
  const who = stamp === null ? "another process" : `process ${stamp.pid}`;
  const where = stamp === null || stamp.machine === processes.own.machine ? "" : " of another machine or container";
  const message = `The data folder "${path}" is in use by ${who}${where}. Stop it, or give this one a folder of its own.`;
  return new GatewayError("config_invalid", message);
}

class HeldFolder implements DataFolder {
  readonly path: string;
  readonly processes: Processes;
  readonly #options: DataFolderOptions;
  readonly #number: number;
  #timer: Timer | null = null;
  #isOver = false;

  constructor(options: DataFolderOptions, processes: Processes, number: number) {
    this.path = options.path;
    this.processes = processes;
    this.#options = options;
    this.#number = number;
    this.#arm();
  }

  async release(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    await writeFile(lockPath(this.path, this.#number), RELEASED);
  }

  #arm(): void {
    this.#timer = this.#options.clock.schedule(HEARTBEAT_MS, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    const now = new Date(this.#options.clock.nowMs());
    try {
      await utimes(lockPath(this.path, this.#number), now, now);
      if ((await highestLock(this.path)) > this.#number) this.#lose();
    } catch (thrown) {
      this.#options.logger.error(failureFields(thrown), "The lock of the data folder cannot be renewed.");
    }
    if (!this.#isOver) this.#arm();
  }

  #lose(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.logger.error({ path: this.path }, "The data folder was taken over by another process.");
    this.#options.onLost?.();
  }
}
