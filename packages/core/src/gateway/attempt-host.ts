/** What an attempt needs of its exchange, and how it ends for the exchange's loop. */
import type { AnswerContext, ClientDialect, HeaderList, RequestHead } from "../dialect/index.ts";
import type { NeutralError, Operation, Usage } from "../ir/index.ts";
import type { ScannerPool } from "../json/index.ts";
import type { PlanCandidate } from "../route/index.ts";
import type { ErrorAnswer } from "./answer-error.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Delivery } from "./delivery.ts";
import type { EventTaps } from "./event-taps.ts";
import type { ExchangeTiming } from "./exchange-timing.ts";
import type { EngineLimits } from "./limits.ts";
import type { BodyBuffer, Clock, UpstreamClient } from "./ports.ts";

/** The part of an attempt that its exchange is told about. */
export interface AttemptView {
  readonly candidate: PlanCandidate;
  readonly upstreamRequestId: string | null;
  readonly usage: Usage | null;
}

/** How an attempt ended, for the exchange's loop. */
export type AttemptResult =
  | { readonly kind: "answered" }
  | { readonly kind: "failed"; readonly error: NeutralError; readonly answer: ErrorAnswer | null }
  /** The client had been answered in part; it has been told or the transfer was broken. */
  | { readonly kind: "broken"; readonly error: NeutralError }
  | { readonly kind: "abandoned" };

/** What an attempt needs of its exchange. */
export interface AttemptHost {
  readonly requestId: string;
  readonly client: ClientDialect;
  readonly head: RequestHead;
  readonly operation: Operation;
  readonly clientHeaders: HeaderList;
  readonly body: BodyBuffer;
  readonly delivery: Delivery;
  readonly deadlines: Deadlines;
  readonly limits: EngineLimits;
  readonly answerScanners: ScannerPool;
  readonly keepAliveMs: number;
  readonly clock: Clock;
  readonly upstream: UpstreamClient;
  readonly userAgent: string;
  readonly isClientGone: boolean;
  readonly timing: ExchangeTiming | null;
  answerContext(candidate: PlanCandidate): AnswerContext;
  count(name: string): void;
  /** Something threw that should not have. */
  reportDefect(thrown: unknown): void;
  /** Writes the head of a streamed or piecewise answer. */
  openAnswer(attempt: AttemptView, isStream: boolean): void;
  /** Gives a whole answer to the client. */
  answerWhole(attempt: AttemptView, body: Uint8Array): void;
  /** The event hooks of one answer, or null. Throws `TapFailure`. */
  openTaps(): EventTaps | null;
  /** Asks the commit hooks; null when there are none. Resolves with the error that stands against the commit, or null. */
  approveCommit(attempt: AttemptView): Promise<NeutralError | null> | null;
  /** No further attempt can follow: the exchange gives up its hold on the body. */
  onCommit(): void;
}
