/** Token counts in one convention, whatever the provider's: totals include their components. */
import type { Raw } from "./text.ts";

/**
 * What a call used. `input` includes cached, written and tool-use tokens; `output` includes reasoning. A count the provider
 * did not report is absent, never 0. A decoder that finds a component above its total clamps the component, never the total.
 */
export interface Usage {
  readonly input: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Cache writes by time to live, in seconds. */
  readonly cacheWriteByTtl?: Readonly<Record<number, number>>;
  readonly inputToolUse?: number;
  readonly inputAudio?: number;
  readonly inputImage?: number;
  readonly output: number;
  readonly reasoning?: number;
  readonly outputAudio?: number;
  readonly acceptedPrediction?: number;
  readonly rejectedPrediction?: number;
  readonly serverTools?: Readonly<Record<string, number>>;
  readonly source: "upstream" | "estimated";
  /** False while a stream may still replace these counts. */
  readonly final: boolean;
  readonly raw?: Raw;
}
