/** The one outcome of an exchange, for observers: what was asked, who served it, how it ended. No content, no secret. */
import type { Issue } from "../dialect/index.ts";
import type { NeutralError, Usage } from "../ir/index.ts";
import type { Settlement } from "./ports.ts";

/** What became of one exchange; given to observers once, after its last settlement. */
export interface ExchangeOutcome {
  readonly requestId: string;
  readonly generation: number;
  readonly clientDialect: string;
  readonly operation: string;
  readonly principalId: string | null;
  readonly model: string | null;
  readonly isStream: boolean;
  /** Status given to the client; 499 when it left before one was. */
  readonly status: number;
  /** The error the client was told, or null. */
  readonly error: NeutralError | null;
  readonly isClientGone: boolean;
  /** The deployment that served, or the last one tried. */
  readonly deploymentId: string | null;
  readonly attempts: readonly Settlement[];
  readonly usage: Usage | null;
  readonly stopWord: string | null;
  readonly issues: readonly Issue[];
  readonly startedMs: number;
  readonly endedMs: number;
  /** Things that were counted on the way, e.g. `response_extra_omitted`. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Hears of every exchange once. Must not throw; what it throws is logged and forgotten. */
export interface Observer {
  onOutcome(outcome: ExchangeOutcome): void;
}
