/** The files of a folder's lock, `LOCK-<number>`. Only the one with the highest number counts. */
import { readdir, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILE_MODE = 0o600;
const LOCK_NAME = /^LOCK-(\d{1,15})$/;

export function lockPath(path: string, number: number): string {
  return join(path, `LOCK-${number}`);
}

/** 0 = there is none. */
export async function highestLock(path: string): Promise<number> {
  return Math.max(0, ...(await lockNumbers(path)));
}

/** Makes a lock; false = somebody was faster. Its content comes a moment after the file. */
export async function makeLock(lock: string, content: string): Promise<boolean> {
  try {
    await writeFile(lock, content, { flag: "wx", mode: FILE_MODE });
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return false;
    throw thrown;
  }
}

/** Null = there is no such lock any more. */
export async function readLock(lock: string): Promise<{ readonly content: string; readonly touchedMs: number } | null> {
  try {
    return { content: await readFile(lock, "latin1"), touchedMs: (await stat(lock)).mtimeMs };
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT") throw thrown;
    return null;
  }
}

export async function removeLock(lock: string): Promise<void> {
  try {
    await unlink(lock);
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT") throw thrown;
  }
}

/** Removes the locks below a number. */
export async function clearLocks(path: string, number: number): Promise<void> {
  for (const each of await lockNumbers(path)) if (each < number) await removeLock(lockPath(path, each));
}

async function lockNumbers(path: string): Promise<readonly number[]> {
  const names = await readdir(path);
  return names.flatMap((name) => {
    const digits = LOCK_NAME.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

function codeOf(thrown: unknown): unknown {
  return (thrown as NodeJS.ErrnoException).code;
}
