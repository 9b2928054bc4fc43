/**
 * Writes the lines of one incarnation. Invariants: lines are written in the order in which they came; a file is left only when every
 * line is written, and the next one begins with all attempts that are open, so that a file can go as soon as its own entries are
 * booked; a line that is written is never written in parts with others between.
 */
import type { LedgerEntry } from "../../entries/index.ts";
import type { GrowingFile, JournalFiles } from "./journal-files.ts";
import { LINE_OVERHEAD, LineBuffer } from "./line-buffer.ts";
import { closeJson, entryJson, haveSameNames, holdJson, namesJson, startJson } from "./line-json.ts";
import { NameMemo } from "./name-memo.ts";
import { segmentName } from "./segment-names.ts";

/** Settings of a writer. */
export interface WriterOptions {
  /** A file that is larger is left for the next one. */
  readonly maxSegmentBytes: number;
  /** Lines beyond are dropped while they cannot be written. */
  readonly maxPendingBytes: number;
  /** A file that is due cannot be made; the one before is used on for a while. Must not throw. */
  readonly onRotationFailed: (thrown: unknown) => void;
}

/** One file of a writer. */
export interface WrittenSegment {
  readonly name: string;
  /** Bytes of all files before it. */
  readonly base: number;
  /** Bytes that are written. */
  byteLength: number;
  /** Nothing will be added. */
  isClosed: boolean;
}

/** An attempt without an entry. Its line is kept for the files to come, its names for its entry. */
interface OpenAttempt {
  readonly provisional: LedgerEntry;
  readonly names: string;
  readonly json: string;
}

/** Lines that found no room. */
export interface DroppedLines {
  entries: number;
  others: number;
}

const EARLY_FLUSH_BYTES = 512 * 1024;
/** A failed rotation is tried again after so many parts of a file's size. */
const ROTATION_RETRY_PARTS = 16;

export class JournalWriter {
  readonly incarnation: string;
  readonly #files: JournalFiles;
  readonly #options: WriterOptions;
  readonly #memo: NameMemo = new NameMemo();
  readonly #pending: LineBuffer = new LineBuffer();
  /** The attempts that have no entry. */
  readonly #open = new Map<string, OpenAttempt>();
  /** Open attempts whose line found no room. */
  readonly #unwritten = new Set<string>();
  /** Reservations since the last flush, with their times, and earlier ones; none of them has made an attempt. */
  readonly #newHolds = new Map<string, number>();
  readonly #holds = new Set<string>();
  readonly #segments: WrittenSegment[] = [];
  readonly #dropped: DroppedLines = { entries: 0, others: 0 };
  /** Files that are left but not known to survive a loss of power. */
  #left: GrowingFile[] = [];
  #file: GrowingFile;
  #segment: WrittenSegment;
  #number = 1;
  #rotateAtBytes: number;
  #isFolderSynced = false;
  #isSuspect = false;
  #lastSync: Promise<void> = Promise.resolve();

  /** Makes the first file; throws when it cannot be written. */
  constructor(files: JournalFiles, incarnation: string, options: WriterOptions) {
    this.#files = files;
    this.incarnation = incarnation;
    this.#options = options;
    this.#rotateAtBytes = options.maxSegmentBytes;
    const first = this.#begin(0);
    this.#file = first.file;
    this.#segment = first.segment;
    this.#segments.push(first.segment);
  }

  /** Files that were not removed, oldest first. */
  get segments(): readonly WrittenSegment[] {
    return this.#segments;
  }

  /** Bytes written in all files so far. */
  get position(): number {
    return this.#segment.base + this.#segment.byteLength;
  }

  /** The file that grows now. */
  get currentFile(): string {
    return this.#segment.name;
  }

  /** Enough is pending that it should not wait for the end of the turn. */
  get wantsFlush(): boolean {
    return this.#pending.byteLength >= Math.min(EARLY_FLUSH_BYTES, this.#options.maxPendingBytes / 2);
  }

  get pendingBytes(): number {
    return this.#pending.byteLength;
  }

  /** Attempts without an entry. */
  get openAttempts(): number {
    return this.#open.size;
  }

  get dropped(): Readonly<DroppedLines> {
    return this.#dropped;
  }

  /** Becomes a line if no attempt of the request comes before the next flush: an attempt says it, too. */
  hold(requestId: string, atMs: number): void {
    this.#newHolds.set(requestId, atMs);
  }

  /** Becomes a line if its hold did, and no attempt came. */
  close(requestId: string, atMs: number): void {
    if (this.#newHolds.delete(requestId)) return;
    if (this.#holds.size > 0 && this.#holds.delete(requestId)) this.#pushOther(closeJson(requestId, atMs));
  }

  attempt(provisional: LedgerEntry): void {
    const { requestId } = provisional;
    if (this.#newHolds.size > 0) this.#newHolds.delete(requestId);
    if (this.#holds.size > 0) this.#holds.delete(requestId);
    const names = namesJson(provisional, this.#memo);
    const json = entryJson("attempt", provisional, names, this.#memo);
    this.#open.set(provisional.id, { provisional, names, json });
    if (this.#hasRoom(json)) this.#pending.push(json);
    else this.#unwritten.add(provisional.id);
  }

  entry(entry: LedgerEntry): void {
    const attempt = this.#open.get(entry.id);
    if (attempt !== undefined) this.#forgetAttempt(entry.id);
    const isSame = attempt !== undefined && haveSameNames(attempt.provisional, entry);
    const names = isSame ? attempt.names : namesJson(entry, this.#memo);
    const json = entryJson("entry", entry, names, this.#memo);
    if (this.#hasRoom(json)) this.#pending.push(json);
    else this.#dropped.entries += 1;
  }

  /** Writes everything that is pending. Throws what the file system throws; what it took is not written again. */
  flush(): void {
    if (this.#newHolds.size > 0) this.#pushHolds();
    if (this.#pending.byteLength === 0 && this.#unwritten.size === 0 && !this.#isSuspect) return;
    this.#writePending();
    if (this.#unwritten.size > 0) this.#writeUnwritten();
    if (this.#isSuspect || this.#segment.byteLength >= this.#rotateAtBytes) this.#rotate();
  }

  /** Resolves when everything that is written survives a loss of power. One sync runs at a time, so that none misses a file of another. */
  sync(): Promise<void> {
    const sync = this.#lastSync.then(() => this.#syncFiles());
    this.#lastSync = sync.catch(() => undefined);
    return sync;
  }

  /** A closed file is booked and gone. */
  forget(segment: WrittenSegment): void {
    const index = this.#segments.indexOf(segment);
    if (index >= 0) this.#segments.splice(index, 1);
  }

  /** Says that this incarnation lives. */
  touch(): void {
    this.#file.touch();
  }

  /** Nothing more will be written. What is open, or could not be written, keeps the last file for the next start. */
  finish(): void {
    if (this.#open.size === 0 && this.#pending.byteLength === 0) this.#segment.isClosed = true;
  }

  /** Closes the files. */
  end(): void {
    for (const file of [...this.#left, this.#file]) file.close();
    this.#left = [];
  }

  #pushHolds(): void {
    for (const [requestId, atMs] of this.#newHolds) {
      this.#holds.add(requestId);
      this.#pushOther(holdJson(requestId, atMs));
    }
    this.#newHolds.clear();
  }

  #pushOther(json: string): void {
    if (this.#hasRoom(json)) this.#pending.push(json);
    else this.#dropped.others += 1;
  }

  #forgetAttempt(id: string): void {
    this.#open.delete(id);
    if (this.#unwritten.size > 0) this.#unwritten.delete(id);
  }

  #hasRoom(json: string): boolean {
    return this.#pending.byteLength + json.length + LINE_OVERHEAD <= this.#options.maxPendingBytes;
  }

  async #syncFiles(): Promise<void> {
    const left = this.#left;
    const current = this.#file;
    this.#left = [];
    try {
      for (const file of left) await file.sync();
      await current.sync();
      if (!this.#isFolderSynced) {
        this.#isFolderSynced = true;
        await this.#files.syncFolder();
      }
    } catch (thrown) {
      // After a failed sync nobody knows what of the file is kept, and a second one would not tell either.
      this.#isSuspect = true;
      this.#isFolderSynced = false;
      throw thrown;
    } finally {
      for (const file of left) file.close();
    }
  }

  #writePending(): void {
    const file = this.#file;
    const segment = this.#segment;
    this.#pending.drain((bytes, start, end) => {
      const written = file.write(bytes, start, end, segment.byteLength);
      segment.byteLength += written;
      return written;
    });
  }

  #writeUnwritten(): void {
    for (const id of this.#unwritten) this.#pending.push((this.#open.get(id) as OpenAttempt).json);
    this.#unwritten.clear();
    this.#writePending();
  }

  /** Goes on in a new file. When there is no room for one, the old one is good for a while. */
  #rotate(): void {
    try {
      const next = this.#begin(this.position);
      this.#segment.isClosed = true;
      this.#left.push(this.#file);
      this.#file = next.file;
      this.#segment = next.segment;
      this.#segments.push(next.segment);
      this.#rotateAtBytes = next.segment.byteLength + this.#options.maxSegmentBytes;
      this.#isSuspect = false;
    } catch (thrown) {
      if (this.#isSuspect) throw thrown;
      this.#options.onRotationFailed(thrown);
      this.#rotateAtBytes = this.#segment.byteLength + this.#options.maxSegmentBytes / ROTATION_RETRY_PARTS;
    }
  }

  /** Makes the next file with all open attempts in it, or none. */
  #begin(base: number): { readonly file: GrowingFile; readonly segment: WrittenSegment } {
    const number = this.#number;
    this.#number += 1;
    const name = segmentName(this.incarnation, number);
    const file = this.#files.create(name);
    const segment: WrittenSegment = { name, base, byteLength: 0, isClosed: false };
    try {
      const lines = new LineBuffer();
      for (const { json } of this.#open.values()) lines.push(json);
      lines.push(startJson(this.incarnation, number, this.#open.size));
      lines.drain((bytes, start, end) => {
        const written = file.write(bytes, start, end, segment.byteLength);
        segment.byteLength += written;
        return written;
      });
      this.#isFolderSynced = false;
      return { file, segment };
    } catch (thrown) {
      file.close();
      // A file without its `start` line says nothing that the one before does not say; if it stays, recovery skips it.
      void this.#files.remove(name).catch(() => undefined);
      throw thrown;
    }
  }
}
