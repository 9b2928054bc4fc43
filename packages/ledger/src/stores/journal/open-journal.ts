/** Puts the parts of a journal together. */
import { join } from "node:path";
import { clearInterval, setImmediate as atTurnEnd, setInterval } from "node:timers";

import { GatewayError, type Timer, type UpstreamClient } from "@dragoman/core";

import { incarnationName } from "./dead-incarnations.ts";
import { DeadWatch } from "./dead-watch.ts";
import { failureFields, LEDGER_REFUSAL } from "./disk-guard.ts";
import { IngestLoop } from "./ingest-loop.ts";
import type { Journal, JournalOptions, JournalStatus } from "./journal.ts";
import type { JournalFiles } from "./journal-files.ts";
import { JournalRecorder } from "./journal-recorder.ts";
import { JournalWriter } from "./journal-writer.ts";
import { openJournalFiles } from "./node-journal-files.ts";
import { OwnIngest } from "./own-ingest.ts";
import { formatStamp, HEARTBEAT_MS } from "./process-stamp.ts";
import type { RecoveryReport } from "./recovery.ts";
import { StoreSeal, SyncSeal } from "./seals.ts";
import type { TurnEnd } from "./turn-end.ts";
import { UpstreamGate } from "./upstream-gate.ts";

const MIB = 1024 * 1024;
const SEGMENT_BYTES = 64 * MIB;
const PENDING_BYTES = 16 * MIB;
/** Far more than a turn writes, so that only what cannot be written is ever dropped. */
const MIN_PENDING_BYTES = MIB;
const INGEST_DELAY_MS = 100;
const SEAL_TIMEOUT_MS = 10_000;
const RETRY_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const CLOSE_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;
const INCARNATION_ID_LENGTH = 8;

/** Opens the journal of this process. Rejects with `config_invalid` when its folder cannot be read and written. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const path = join(options.folder.path, "journal");
  try {
    const parts = assemble(options, options.files ?? (await openJournalFiles(path)));
    const recovered = options.recovers === false ? Promise.resolve([]) : reportsOf(await parts.watch.look());
    return new OpenJournal(parts, recovered);
  } catch (thrown) {
    const { error } = failureFields(thrown);
    const message = `The journal in "${path}" cannot be opened: ${String(error)}`;
    throw new GatewayError("config_invalid", message, { cause: thrown });
  }
}

interface Parts {
  readonly options: JournalOptions;
  readonly turnEnd: TurnEnd;
  readonly writer: JournalWriter;
  readonly recorder: JournalRecorder;
  readonly own: OwnIngest;
  readonly loop: IngestLoop;
  readonly watch: DeadWatch;
  readonly storeSeal: StoreSeal | null;
}

function assemble(options: JournalOptions, files: JournalFiles): Parts {
  const { clock, random, logger, store, durability = "journal" } = options;
  const turnEnd: TurnEnd = options.turnEnd ?? ((callback) => void atTurnEnd(callback));
  const { processes } = options.folder;
  const incarnation = incarnationName(formatStamp(processes.own), random.id(INCARNATION_ID_LENGTH));
  const writer = new JournalWriter(files, incarnation, {
    maxSegmentBytes: options.maxSegmentBytes ?? SEGMENT_BYTES,
    maxPendingBytes: Math.max(options.maxPendingBytes ?? PENDING_BYTES, MIN_PENDING_BYTES),
    onRotationFailed: (thrown) =>
      logger.warn(failureFields(thrown), "A new journal file could not be made; the one before is used on."),
  });
  const own = new OwnIngest({ files, writer, store, logger });
  const loop = new IngestLoop({
    files,
    store,
    logger,
    clock,
    random,
    turnEnd,
    own,
    written: () => writer.position,
    delayMs: durability === "store" ? 0 : (options.ingestDelayMs ?? INGEST_DELAY_MS),
    maxBackoffMs: options.maxBackoffMs ?? MAX_BACKOFF_MS,
    onBooked: () => storeSeal?.advance(),
  });
  const recorder = new JournalRecorder({
    clock,
    logger,
    files,
    turnEnd,
    writer,
    policy: options.onFull ?? "refuse",
    retryMs: options.retryMs ?? RETRY_MS,
    onWritten: () => loop.wake(),
  });
  const storeSeal =
    durability === "store"
      ? new StoreSeal({
          clock,
          timeoutMs: options.sealTimeoutMs ?? SEAL_TIMEOUT_MS,
          write: () => (recorder.flush() ? writer.position : null),
          booked: () => own.position,
        })
      : null;
  if (durability === "strict") recorder.seal = new SyncSeal(() => recorder.sync(), turnEnd).seal;
  if (storeSeal !== null) {
    recorder.seal = storeSeal.seal;
    recorder.otherRefusal = () => (loop.isStoreUp ? null : LEDGER_REFUSAL);
  }
  const watch = new DeadWatch({
    files,
    processes,
    logger,
    own: incarnation,
    ownFile: () => writer.currentFile,
    recover: (segments) => loop.recover(segments),
  });
  return { options, turnEnd, writer, recorder, own, loop, watch, storeSeal };
}

/** Reports in the order of the incarnations; those that this version cannot read are left out. */
async function reportsOf(recoveries: readonly Promise<RecoveryReport | null>[]): Promise<readonly RecoveryReport[]> {
  if (recoveries.length === 0) return [];
  // Timers of a clock keep no process alive, and one that waits for this may have nothing else yet.
  const alive = setInterval(() => undefined, KEEP_ALIVE_MS);
  try {
    const reports = await Promise.all(recoveries);
    return reports.filter((each) => each !== null);
  } finally {
    clearInterval(alive);
  }
}

class OpenJournal implements Journal {
  readonly recorder: JournalRecorder;
  readonly recovered: Promise<readonly RecoveryReport[]>;
  readonly #parts: Parts;
  #heartbeat: Timer;
  #closing: Promise<void> | null = null;

  constructor(parts: Parts, recovered: Promise<readonly RecoveryReport[]>) {
    this.#parts = parts;
    this.recorder = parts.recorder;
    this.recovered = recovered;
    this.#heartbeat = this.#arm();
  }

  gate(inner: UpstreamClient): UpstreamClient {
    const { options, turnEnd, recorder } = this.#parts;
    return new UpstreamGate({ inner, turnEnd, logger: options.logger, flush: () => recorder.flush() });
  }

  flush(): boolean {
    return this.recorder.flush();
  }

  status(): JournalStatus {
    const { writer, recorder, own, loop } = this.#parts;
    return {
      incarnation: writer.incarnation,
      failingSinceMs: recorder.failingSinceMs,
      dropped: { ...writer.dropped },
      openAttempts: writer.openAttempts,
      files: writer.segments.length,
      isStoreUp: loop.isStoreUp,
      lag: loop.lag,
      bookedEntries: own.bookedEntries,
      refusedEntries: own.refusedEntries,
      badLines: own.badLines,
    };
  }

  recoverIncarnation(incarnation: string): Promise<RecoveryReport | null> {
    return this.#parts.watch.recoverNow(incarnation);
  }

  close(timeoutMs: number = CLOSE_TIMEOUT_MS): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async #close(timeoutMs: number): Promise<void> {
    const { writer, recorder, loop, storeSeal, options } = this.#parts;
    this.#heartbeat.cancel();
    await recorder.end();
    writer.finish();
    const isBooked = await loop.end(timeoutMs);
    storeSeal?.end();
    writer.end();
    if (!isBooked)
      options.logger.warn(
        { waitingBytes: loop.lag.bytes },
        "The journal is closed with entries that the next start will book.",
      );
  }

  #arm(): Timer {
    return this.#parts.options.clock.schedule(HEARTBEAT_MS, () => this.#beat());
  }

  #beat(): void {
    const { writer, watch, options } = this.#parts;
    try {
      writer.touch();
    } catch (thrown) {
      options.logger.error(failureFields(thrown), "The journal's file cannot be touched.");
    }
    if (options.recovers !== false) void watch.lookAgain();
    if (this.#closing === null) this.#heartbeat = this.#arm();
  }
}
