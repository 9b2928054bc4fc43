/** Tells a host of the entries that are kept, at the moment they are. */
import type { EntrySink, LedgerEntry, LedgerRecorder } from "@dragoman/ledger";

/** Called for every entry, in the turn in which its attempt was settled. */
export type EntryListener = (entry: LedgerEntry) => void;

/** A sink that keeps nothing but what it tells. */
export const sinkOf = (listener: EntryListener | null): EntrySink => ({
  append: (entry) => listener?.(entry),
});

/** A recorder that tells as well. */
export function tellingRecorder(recorder: LedgerRecorder, listener: EntryListener | null): LedgerRecorder {
  if (listener === null) return recorder;
  return {
    refusal: () => recorder.refusal(),
    hold: (hold) => recorder.hold(hold),
    attempt: (provisional) => recorder.attempt(provisional),
    append: (entry) => {
      recorder.append(entry);
      listener(entry);
    },
    close: (requestId, atMs) => recorder.close(requestId, atMs),
    seal: recorder.seal,
  };
}
