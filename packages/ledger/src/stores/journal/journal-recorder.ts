/**
 * The recorder of a journal: lines gather during a turn and are written at its end, or when somebody asks before. Invariants: nothing
 * here throws; `flush` says true only when every line so far is in the file, or when the policy is to go on without.
 */
import type { AdmissionRefusal } from "@dragoman/core";

import type { LedgerEntry, LedgerRecorder, RecordedHold } from "../../entries/index.ts";
import { DiskGuard, type DiskGuardParts } from "./disk-guard.ts";
import type { JournalFiles } from "./journal-files.ts";
import type { JournalWriter } from "./journal-writer.ts";
import type { TurnEnd } from "./turn-end.ts";

/** Parts of a recorder. */
export interface RecorderParts extends Pick<DiskGuardParts, "clock" | "logger" | "policy" | "retryMs"> {
  readonly files: JournalFiles;
  readonly writer: JournalWriter;
  readonly turnEnd: TurnEnd;
  /** Lines were written. */
  readonly onWritten: () => void;
}

/** Room that has to be there before a full disk counts as usable again. */
const PROBE_BYTES = 64 * 1024;

export class JournalRecorder implements LedgerRecorder {
  /** Set once by who knows the durability, before the first ticket. */
  seal: (() => Promise<boolean>) | null = null;
  /** A further reason to let no call in. Set once, as `seal`. */
  otherRefusal: (() => AdmissionRefusal | null) | null = null;
  readonly #parts: RecorderParts;
  readonly #writer: JournalWriter;
  readonly #guard: DiskGuard;
  readonly #onTurnEnd: () => void;
  #isTurnScheduled = false;
  #isEnded = false;
  #lastSync: Promise<void> = Promise.resolve();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#writer = parts.writer;
    this.#guard = new DiskGuard({
      ...parts,
      retry: () => this.#retry(),
      describe: () => ({ ...this.#writer.dropped, openAttempts: this.#writer.openAttempts }),
    });
    this.#onTurnEnd = () => {
      this.#isTurnScheduled = false;
      this.flush();
    };
  }

  /** Since when lines cannot be written; null = they can. */
  get failingSinceMs(): number | null {
    return this.#guard.failingSinceMs;
  }

  refusal(): AdmissionRefusal | null {
    return this.#guard.refusal ?? this.otherRefusal?.() ?? null;
  }

  hold({ requestId, atMs }: RecordedHold): void {
    this.#writer.hold(requestId, atMs);
    this.#expectFlush();
  }

  attempt(provisional: LedgerEntry): void {
    this.#writer.attempt(provisional);
    this.#expectFlush();
  }

  append(entry: LedgerEntry): void {
    this.#writer.entry(entry);
    this.#expectFlush();
  }

  close(requestId: string, atMs: number): void {
    this.#writer.close(requestId, atMs);
    this.#expectFlush();
  }

  /** Writes the lines so far; true = what they stand for may happen. */
  flush(): boolean {
    if (this.#isEnded) return this.#writer.pendingBytes === 0;
    if (!this.#guard.isFailing) this.#write();
    return !this.#guard.isFailing || this.#parts.policy === "continue";
  }

  /** Makes what was written survive a loss of power; true = it does, or the policy is to go on without. */
  async sync(): Promise<boolean> {
    if (!this.flush()) return false;
    if (!this.#guard.isFailing) await this.#sync();
    return !this.#guard.isFailing || this.#parts.policy === "continue";
  }

  /** Writes what is left, if it can be written, and nothing afterwards. Resolves when no sync runs any more. */
  async end(): Promise<void> {
    this.flush();
    this.#isEnded = true;
    this.#guard.end();
    await this.#lastSync;
  }

  #sync(): Promise<void> {
    this.#lastSync = this.#writer.sync().catch((thrown: unknown) => this.#guard.report(thrown));
    return this.#lastSync;
  }

  #write(): void {
    const before = this.#writer.position;
    try {
      this.#writer.flush();
    } catch (thrown) {
      this.#guard.report(thrown);
    }
    if (this.#writer.position !== before) this.#parts.onWritten();
  }

  #retry(): void {
    this.#parts.files.probe(PROBE_BYTES);
    this.#writer.flush();
    this.#parts.onWritten();
  }

  #expectFlush(): void {
    if (this.#writer.wantsFlush) this.flush();
    if (this.#isTurnScheduled || this.#isEnded) return;
    this.#isTurnScheduled = true;
    this.#parts.turnEnd(this.#onTurnEnd);
  }
}
