// What a command has started is stopped however the command ends: done, failed, or by a signal in the middle of its work.

/** Something with processes behind it. */
export interface Closable {
  close(): Promise<void>;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Does the work and closes what it works with. SIGINT or SIGTERM closes it at once and then ends this process as the signal would have;
 * a second signal ends it without waiting.
 */
export async function withClosing<Opened extends Closable, Result>(
  opened: Opened,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  let isEnding = false;
  const forget = (): void => SIGNALS.forEach((signal) => process.off(signal, end));
  const end = (signal: NodeJS.Signals): void => {
    isEnding = true;
    forget();
    void opened.close().finally(() => process.kill(process.pid, signal));
  };
  SIGNALS.forEach((signal) => process.on(signal, end));
  try {
    return await work(opened);
  } finally {
    // Work fails once its processes are gone, which is no news: the signal has the last word.
    if (isEnding) await new Promise(() => undefined);
    forget();
    await opened.close();
  }
}
