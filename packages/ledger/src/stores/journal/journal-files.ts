/**
 * The files of one folder, as a journal uses them. Lines are written synchronously, because nothing else of their turn may happen
 * before; everything else may take its time. Errors are those of `node:fs`, with a `code`.
 */

/** A file that grows at its end. */
export interface GrowingFile {
  /** Writes `bytes[start, end)` at `position`; returns how many bytes were written, which may be fewer. */
  write(bytes: Uint8Array, start: number, end: number, position: number): number;
  /** Resolves when what was written survives a loss of power. */
  sync(): Promise<void>;
  /** Says that its writer lives. */
  touch(): void;
  close(): void;
}

/** A file that is read. */
export interface ReadableFile {
  /** Fills `into` from `position` on; returns how many bytes there were, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  size(): Promise<number>;
  /** When it was last written to or touched, by the clock of the file system. */
  modifiedMs(): Promise<number>;
  close(): Promise<void>;
}

/** Access to the folder of a journal. Names are plain names of files. */
export interface JournalFiles {
  /** Makes a file that must not exist. */
  create(name: string): GrowingFile;
  open(name: string): Promise<ReadableFile>;
  list(): Promise<readonly string[]>;
  /** A file that is gone already is no error. */
  remove(name: string): Promise<void>;
  /** Resolves when the names of created files survive a loss of power. */
  syncFolder(): Promise<void>;
  /** Throws unless so many bytes can be written now. Leaves nothing behind. */
  probe(byteLength: number): void;
}
