/** What the commands need of the process, so that tests can run them without one. */
import type { Logger, StoreSettings } from "@dragoman/core";
import type { LedgerStore } from "@dragoman/ledger";

/** Exit codes: done, failed, wrong usage or configuration. */
export const ExitCode = { done: 0, failed: 1, usage: 2 } as const;

/** One of the exit codes. */
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** A stream that text is written to. */
export interface TextSink {
  write(text: string): unknown;
}

/** Severities of the log. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** The process as commands see it. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Reads a file as UTF-8 text; throws when it cannot. */
  readFile(path: string): string;
  /** Reads a file's bytes; throws when it cannot. */
  readBytes(path: string): Uint8Array;
  /** Creates the folder with mode 0700 and in it a file with mode 0600; throws when it cannot. */
  writePrivateFile(path: string, text: string): void;
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Opens the store of a ledger; whoever asks closes it. Rejects when it cannot be opened. */
  openStore(settings: StoreSettings, dataDir: string | null): Promise<LedgerStore>;
  /** `length` base62 characters, unguessable. */
  randomId(length: number): string;
  /** The process's log, from a severity up. */
  createLogger(level: LogLevel): Promise<Logger>;
  /** Resolves when standard output has room again; with false when nobody reads it any more. */
  untilRead(): Promise<boolean>;
  /** Resolves when the process is asked to end. */
  untilStopped(): Promise<void>;
}
