/** What all exchanges of one gateway share: its dialects, ports, health and bounds. Fields are set once. */
import type { DialectRegistry } from "../dialect/index.ts";
import type { GenerationHolder, Snapshot } from "../config/index.ts";
import type { BackoffLimits, HealthBoard, RetryBudget } from "../route/index.ts";
import type { ScannerPool } from "../json/index.ts";
import type { HookRunner } from "./hook-runner.ts";
import type { EngineLimits } from "./limits.ts";
import type { Observer } from "./outcome.ts";
import type { Authenticator, AuthThrottle, Ports } from "./ports.ts";
import type { TaskTracker } from "./task-tracker.ts";

export interface Engine {
  readonly registry: DialectRegistry;
  readonly ports: Ports;
  readonly generations: GenerationHolder;
  readonly authenticatorOf: (snapshot: Snapshot) => Authenticator;
  /** Null = failed authentications are not counted. */
  readonly authThrottle: AuthThrottle | null;
  readonly health: HealthBoard;
  readonly retryBudget: RetryBudget;
  readonly backoff: BackoffLimits;
  readonly limits: EngineLimits;
  /** For request bodies, which may not repeat a name. */
  readonly scanners: ScannerPool;
  /** For upstream answers: a repeated name is no reason to lose one, the last wins. */
  readonly answerScanners: ScannerPool;
  readonly tracker: TaskTracker;
  readonly hooks: HookRunner;
  readonly observers: readonly Observer[];
  /** When the gateway started, milliseconds since 1970. */
  readonly startedMs: number;
  /** Product and version, sent to upstreams. */
  readonly userAgent: string;
}

/** The bounds that a configuration sets, over the engine's own. */
export function limitsOf(engine: Engine, snapshot: Snapshot): EngineLimits {
  const { server } = snapshot;
  return {
    ...engine.limits,
    maxBodyBytes: server.maxBodyBytes,
    maxHeldResponseBytes: server.maxHeldResponseBytes,
    maxQueuedBytes: server.limits.maxQueueBytes,
    maxRecordBytes: server.sse.maxRecordBytes,
    keepAliveMs: server.sse.keepAliveMs ?? Number.POSITIVE_INFINITY,
  };
}
