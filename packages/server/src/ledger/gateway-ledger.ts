/**
 * The ledger of one gateway: lets calls in, writes them down, books them. Invariants: it is closed after the engine, so that every
 * entry is in it; a store that is down stops nothing but what the durability says; a host hears of every entry once.
 */
import { setTimeout as pause } from "node:timers/promises";

import { FREE_ADMISSION, GatewayError } from "@dragoman/core";
import type {
  Admission,
  Authenticator,
  Clock,
  Logger,
  PartsReadiness,
  Random,
  Snapshot,
  UpstreamClient,
} from "@dragoman/core";
import { createLedgerAdmission } from "@dragoman/ledger";
import type { KeyDirectory, LedgerAdmission, LedgerAlert, LedgerStore, Scope, Standing } from "@dragoman/ledger";
import type { DataFolder, Journal } from "@dragoman/ledger/journal";

import { KeyRing, logHiddenKeys, StoredKeyRing, StoredKeys } from "../keys/index.ts";
import { LateStore } from "./late-store.ts";
import { planLedger, type LedgerHost, type LedgerPlan } from "./ledger-plan.ts";
import { openCounters, type OpenCounters } from "./open-counters.ts";
import { openLedgerStore } from "./open-store.ts";
import { SnapshotLimits } from "./snapshot-limits.ts";
import { pricesOf } from "./snapshot-prices.ts";
import { sinkOf, tellingRecorder, type EntryListener } from "./tell-host.ts";

/** What a ledger is opened with. */
export interface GatewayLedgerOptions {
  /** Its limits and prices follow the generations; its store, folder and durability are read once, here. */
  readonly snapshot: Snapshot;
  readonly host: LedgerHost;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onEntry: EntryListener | null;
  readonly onAlert: (alert: LedgerAlert) => void;
  /** Another process took the data folder, because this one showed no life for too long: nothing may be accounted for any more. */
  readonly onFolderLost: () => void;
}

/** How long a start waits for what the processes before left and spent. What is not known by then is booked behind the first requests. */
const RECOVERY_WAIT_MS = 10_000;
/** Between two tries to read from a store that is down what was spent. */
const RESTORE_RETRY_MS = 2_000;

/** Opens it. Rejects with `config_invalid` for settings that contradict each other and for a data folder in use. */
export async function openGatewayLedger(options: GatewayLedgerOptions): Promise<GatewayLedger> {
  const planning = planLedger(options.snapshot.ledger, options.host);
  if (!planning.ok) throw contradiction(planning);
  const { plan } = planning;
  const store = new LateStore(() =>
    openLedgerStore(plan.store, { dataDir: plan.dataDir, isStrict: plan.durability === "strict" }),
  );
  await openStore(plan, store);
  const ledger = await openOver(options, plan, store);
  const { counters } = options.snapshot;
  if (plan.store.kind === "memory") return ledger;
  await ledger.watchKeys(options);
  // What several processes count together outlives each of them.
  if (counters.kind === "local") await waitFor(ledger.restore(options), RECOVERY_WAIT_MS);
  return ledger;
}

/** Opens counters and journal over a store; what is open already is closed when that fails. */
async function openOver(options: GatewayLedgerOptions, plan: LedgerPlan, store: LateStore): Promise<GatewayLedger> {
  const counters = await openCounters(options.snapshot.counters, options);
  try {
    return plan.durability === "memory"
      ? new GatewayLedger(options, { store, counters, folder: null, journal: null })
      : await openWithJournal(options, plan, { store, counters });
  } catch (error) {
    await counters?.close();
    await store.close();
    throw error;
  }
}

/** A file that cannot be opened is a mistake; a database that cannot be reached may be back in a minute, and who needs it says so. */
async function openStore({ store: { kind } }: LedgerPlan, store: LateStore): Promise<void> {
  try {
    await store.ready();
  } catch (error) {
    if (kind !== "postgres") throw error;
  }
}

async function openWithJournal(
  options: GatewayLedgerOptions,
  { dataDir, durability }: Exclude<LedgerPlan, { readonly durability: "memory" }>,
  parts: Pick<LedgerParts, "store" | "counters">,
): Promise<GatewayLedger> {
  const { openDataFolder, openJournal } = await import("@dragoman/ledger/journal");
  const { clock, random, logger, snapshot, onFolderLost } = options;
  const folder = await openDataFolder({ path: dataDir, clock, logger, onLost: onFolderLost });
  try {
    const { onFull } = snapshot.ledger;
    const journal = await openJournal({ folder, store: parts.store, clock, random, logger, durability, onFull });
    return new GatewayLedger(options, { ...parts, folder, journal });
  } catch (error) {
    await folder.release();
    throw error;
  }
}

interface LedgerParts {
  readonly store: LedgerStore;
  /** Null = this process counts alone. */
  readonly counters: OpenCounters | null;
  readonly folder: DataFolder | null;
  readonly journal: Journal | null;
}

/** An open ledger. */
export class GatewayLedger {
  readonly #ledger: LedgerAdmission;
  readonly #isHeard: boolean;
  readonly #parts: LedgerParts;
  #snapshot: Snapshot;
  #keys: StoredKeys | null = null;
  #stored: Pick<KeyDirectory, "keys" | "owners"> | null = null;
  #isRestored = true;
  #isClosed = false;
  #limits: SnapshotLimits;

  constructor({ snapshot, clock, onEntry, onAlert }: GatewayLedgerOptions, parts: LedgerParts) {
    this.#parts = parts;
    this.#snapshot = snapshot;
    this.#limits = new SnapshotLimits(snapshot, null, null);
    this.#isHeard = parts.journal !== null || onEntry !== null;
    this.#ledger = createLedgerAdmission({
      clock,
      sink: parts.journal === null ? sinkOf(onEntry) : tellingRecorder(parts.journal.recorder, onEntry),
      prices: pricesOf(snapshot),
      limits: this.#limits,
      leases: parts.counters?.leases ?? null,
      hold: snapshot.ledger.hold,
      unpriced: snapshot.ledger.unpriced,
      onAlert,
    });
  }

  get store(): LedgerStore {
    return this.#parts.store;
  }

  /** Lets calls in. Where there is no limit, no journal and nobody to tell, there is nothing to account for. */
  readonly admission: Admission = {
    open: (principal, exchange) =>
      this.#isHeard || !this.#limits.isEmpty
        ? this.#ledger.open(principal, exchange)
        : FREE_ADMISSION.open(principal, exchange),
  };

  /** Spent and held of one scope's limits; empty where there are none. */
  standings(scope: Scope, id: string): readonly Standing[] {
    return this.#ledger.standings(scope, id);
  }

  /** The client whose calls go out once they are written down. */
  gate(upstream: UpstreamClient): UpstreamClient {
    return this.#parts.journal?.gate(upstream) ?? upstream;
  }

  /** Takes the limits and prices of a new generation. Throws before anything changed. */
  use(snapshot: Snapshot): void {
    const limits = new SnapshotLimits(snapshot, this.#stored, this.#limits);
    const prices = pricesOf(snapshot);
    this.#snapshot = snapshot;
    this.#limits = limits;
    this.#ledger.replace({ limits, prices });
  }

  /** Reads the store's keys and owners, and goes on looking whether they changed. Called once. */
  async watchKeys({ clock, logger }: Pick<GatewayLedgerOptions, "clock" | "logger">): Promise<void> {
    const keys = new StoredKeys({
      store: this.#parts.store.keys,
      clock,
      logger,
      onChange: (directory) => this.#useKeys(directory, logger),
    });
    this.#keys = keys;
    await keys.start();
  }

  /**
   * Books what was spent before this process began, once everything that the ones before left is in the store. Tries until the store
   * answers; what this process has spent meanwhile is in its accounts already and is not asked for. Called once; never rejects.
   */
  async restore({ clock, logger }: Pick<GatewayLedgerOptions, "clock" | "logger">): Promise<void> {
    const untilMs = clock.nowMs();
    this.#isRestored = false;
    await this.#parts.journal?.recovered;
    while (!this.#isClosed) {
      try {
        await this.#ledger.restore({ store: this.store, ownerOf: (key) => this.#ownerOf(key), untilMs });
        this.#isRestored = true;
        return;
      } catch (error) {
        logger.debug({ error: String(error) }, "what was spent before cannot be read from the store yet");
        await new Promise<void>((resolve) => void clock.schedule(RESTORE_RETRY_MS, resolve));
      }
    }
  }

  #ownerOf(id: string): string | null {
    const stored = this.#stored?.keys.find((key) => key.id === id);
    if (stored !== undefined) return stored.owner;
    for (const key of this.#snapshot.keys.values()) if (key.id === id) return key.owner;
    return null;
  }

  /** Finds callers among the keys of a generation and those of the store. */
  authenticator({ keys }: Snapshot): Authenticator {
    return this.#keys === null ? new KeyRing(keys) : new StoredKeyRing(keys, this.#keys);
  }

  /** Limits that cannot be read were written by hand or by a newer version: those from before stay, rather than none. */
  #useKeys(directory: KeyDirectory, logger: Logger): void {
    try {
      this.#limits = new SnapshotLimits(this.#snapshot, directory, this.#limits);
    } catch (error) {
      logger.error({ error: String(error) }, "the limits of the store's keys cannot be read; the last ones hold");
      return;
    }
    this.#stored = directory;
    this.#ledger.replace({ limits: this.#limits });
    if (this.#keys !== null) logHiddenKeys(this.#snapshot.keys, this.#keys, logger);
  }

  /** For readiness probes. A store that is down is told, and stops nothing while the journal takes its lines. */
  readiness(): PartsReadiness {
    const { journal, counters } = this.#parts;
    const shared = counters === null ? {} : { counters: counters.leases.isDown ? "down" : "up" };
    if (journal === null) return { isReady: true, facts: shared };
    const { isStoreUp, lag } = journal.status();
    return {
      isReady: journal.recorder.refusal() === null,
      facts: {
        ...shared,
        ledger: {
          store: isStoreUp ? "up" : "down",
          lagBytes: lag.bytes,
          lagMs: Math.round(lag.ms),
          // Limits know nothing yet of what was spent before the start.
          ...(this.#isRestored ? {} : { accounts: "unrestored" }),
        },
      },
    };
  }

  /** Books what can be booked, and gives folder and store back. After the engine's end. */
  async close(): Promise<void> {
    const { journal, store, folder, counters } = this.#parts;
    this.#isClosed = true;
    this.#keys?.stop();
    await counters?.close();
    await journal?.close();
    await store.close();
    await folder?.release();
  }
}

const contradiction = ({ path, message }: { readonly path: string; readonly message: string }): GatewayError =>
  new GatewayError("config_invalid", `The configuration is invalid:\n${path}: ${message}`, {
    details: { problems: [{ path, message }] },
  });

/** Resolves with the promise, or when the time is over. Its timer keeps the process alive: nothing else may do so yet. */
async function waitFor(promise: Promise<unknown>, limitMs: number): Promise<void> {
  const over = new AbortController();
  const limit = pause(limitMs, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([promise.catch(() => undefined), limit]);
  over.abort();
}
