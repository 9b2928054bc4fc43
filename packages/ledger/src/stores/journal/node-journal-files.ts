/** A journal's folder in the file system. */
import { closeSync, futimesSync, openSync, unlinkSync, writeSync, fdatasync } from "node:fs";
import { mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import type { GrowingFile, JournalFiles, ReadableFile } from "./journal-files.ts";

/** For nobody but the owner: entries name keys, users and spending. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const PROBE_NAME = "room.probe";

const syncData = promisify(fdatasync);

class NodeGrowingFile implements GrowingFile {
  readonly #descriptor: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, "wx", FILE_MODE);
  }

  write(bytes: Uint8Array, start: number, end: number, position: number): number {
    return writeSync(this.#descriptor, bytes, start, end - start, position);
  }

  sync(): Promise<void> {
    return syncData(this.#descriptor);
  }

  touch(): void {
    const now = new Date();
    futimesSync(this.#descriptor, now, now);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

class NodeReadableFile implements ReadableFile {
  readonly #handle: Awaited<ReturnType<typeof open>>;

  constructor(handle: Awaited<ReturnType<typeof open>>) {
    this.#handle = handle;
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(into, 0, into.byteLength, position);
    return bytesRead;
  }

  async size(): Promise<number> {
    const { size } = await this.#handle.stat();
    return size;
  }

  async modifiedMs(): Promise<number> {
    const { mtimeMs } = await this.#handle.stat();
    return mtimeMs;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Opens a folder for a journal; makes it, for its owner only, where there is none. */
export async function openJournalFiles(folder: string): Promise<JournalFiles> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  return {
    create: (name) => new NodeGrowingFile(join(folder, name)),
    open: async (name) => new NodeReadableFile(await open(join(folder, name), "r")),
    list: () => readdir(folder),
    remove: (name) => removeFile(join(folder, name)),
    syncFolder: () => syncFolder(folder),
    probe: (byteLength) => probe(join(folder, PROBE_NAME), byteLength),
  };
}

async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function probe(path: string, byteLength: number): void {
  const descriptor = openSync(path, "w", FILE_MODE);
  try {
    const bytes = Buffer.alloc(byteLength, "probe\n");
    for (let written = 0; written < byteLength;) written += writeSync(descriptor, bytes, written);
  } finally {
    closeSync(descriptor);
    unlinkSync(path);
  }
}
