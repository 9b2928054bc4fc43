// The contract of a sub-command of `dragoman-bench`: arguments in, exit code out, text through the given writers only.

/** Where a command prints. */
export interface CommandOutput {
  /** Results, one line each. */
  print(line: string): void;
  /** Progress and problems; not part of the result. */
  note(line: string): void;
  /** State of a long task; on a terminal the next line replaces it. */
  progress(line: string): void;
  /** Whether notes reach a terminal. */
  readonly isTerminal: boolean;
}

/** A sub-command. Exit codes: 0 done, 1 failed, 2 wrong usage. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  run(args: readonly string[], output: CommandOutput): Promise<number>;
}
