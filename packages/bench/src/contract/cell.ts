// Vocabulary of the matrix: scenarios (what is sent), loads (how fast), windows (how long) and cells (one row of the comparison).
// Everything here is data, so a report or another tool can read it back from `run.json`.

/** Identifier of a request scenario of the matrix. */
export type ScenarioId = "S1" | "S2" | "S3" | "S4" | "S5" | "S6" | "S8" | "S8-404" | "M1" | "X1";

/** Wire dialect that a scenario's client speaks. */
export type TrafficDialect = "openai-chat" | "openai-responses" | "openai-embeddings" | "anthropic";

/** Which key a request carries: the one the target was configured with, one it never heard of, or none. */
export type Credential = "good" | "unknown" | "absent";

/**
 * What the model name of a request must lead to: the OpenAI half of the mock, its Anthropic half, its embeddings, the OpenAI half
 * although the client speaks Anthropic, or no deployment at all.
 */
export type ModelRoute = "openai" | "anthropic" | "embeddings" | "cross" | "unknown";

/** Latency script of the mock: at once, 1.5 s, or 200 ms to the first event and one event every 20 ms after it. */
export type LatencyProfileId = "L0" | "L1500" | "LS";

/** What a correct answer to a scenario is. */
export type Expectation = "answer" | "stream" | "rejection";

/** One kind of request. `M1` has no request of its own: it is a seeded mix of the others. */
export interface Scenario {
  readonly id: ScenarioId;
  /** A few words for tables. */
  readonly title: string;
  readonly dialect: TrafficDialect;
  readonly route: ModelRoute;
  readonly credential: Credential;
  readonly expect: Expectation;
  /** Shares of other scenarios in percent, for a mix only. */
  readonly mix?: Readonly<Partial<Record<ScenarioId, number>>>;
}

/** How requests are offered. */
export type Load =
  /** With `isUnscaled`, no topology changes rate or windows, and no target gets a lower rate: the cell shows what drowns in it. */
  | { readonly kind: "rate"; readonly rps: number; readonly isUnscaled?: true }
  | { readonly kind: "ladder"; readonly startRps: number; readonly coarseRps: number; readonly fineRps: number }
  | { readonly kind: "closed"; readonly connections: number }
  | { readonly kind: "idle" };

/** Seconds of warm-up and of measurement per run (per step for ladders), and how often the cell is repeated. */
export interface Windows {
  readonly warmUpSeconds: number;
  readonly measureSeconds: number;
  readonly repetitions: number;
}

/** One row of the comparison. */
export interface Cell {
  /** Stable identifier, for example `C21.401`. */
  readonly id: string;
  readonly title: string;
  readonly scenario: ScenarioId;
  readonly load: Load;
  readonly latency: LatencyProfileId;
  readonly windows: Windows;
}
