/** The files of a folder's lock: `LOCK-<number>`, and drafts of them, `LOCK.<token>`. */
import { constants } from "node:fs";
import { copyFile, link, readdir, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILE_MODE = 0o600;
const LOCK_NAME = /^LOCK-(\d{1,15})$/;
const DRAFT_PREFIX = "LOCK.";
/** A draft lives for a moment. */
const OLD_DRAFT_MS = 60_000;
/** Codes of file systems without hard links. */
const NO_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK"]);

/** Writes what a lock will hold, under a name of its own. */
export async function writeDraft(path: string, token: string, content: string): Promise<string> {
  const draft = join(path, `${DRAFT_PREFIX}${token}`);
  await writeFile(draft, content, { mode: FILE_MODE });
  return draft;
}

/** Gives a draft the name of a lock, so that it appears with its content; false = there is one. */
export async function linkLock(draft: string, lock: string): Promise<boolean> {
  try {
    await link(draft, lock);
    return true;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!NO_LINKS.has(code)) throw thrown;
  }
  return copyLock(draft, lock);
}

/** Where there are no links, the content comes a moment after the file. */
async function copyLock(draft: string, lock: string): Promise<boolean> {
  try {
    await copyFile(draft, lock, constants.COPYFILE_EXCL);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

export function lockPath(path: string, number: number): string {
  return join(path, `LOCK-${number}`);
}

async function lockNumbers(path: string): Promise<readonly number[]> {
  const names = await readdir(path);
  return names.flatMap((name) => {
    const digits = LOCK_NAME.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

export async function highestLock(path: string): Promise<number> {
  return Math.max(0, ...(await lockNumbers(path)));
}

/** Removes what is out of use: locks below the given one, and drafts that a process left when it died. */
export async function clearLocks(path: string, number: number): Promise<void> {
  for (const each of await lockNumbers(path)) if (each < number) await removeIfThere(lockPath(path, each));
  const nowMs = (await modifiedMs(lockPath(path, number))) ?? 0;
  for (const name of await readdir(path)) {
    if (!name.startsWith(DRAFT_PREFIX)) continue;
    const draft = join(path, name);
    if (nowMs - ((await modifiedMs(draft)) ?? nowMs) > OLD_DRAFT_MS) await removeIfThere(draft);
  }
}

export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
  }
}

export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "latin1");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    return null;
  }
}

/** When a file was last written to or touched; null = it is gone. */
export async function modifiedMs(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    return null;
  }
}
