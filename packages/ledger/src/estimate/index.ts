/** Estimates before a call, and what stands in for usage that nobody told. */
export { estimateCall, LARGEST_OUTPUT_TOKENS } from "./call-estimate.ts";
export type { CallFacts, HoldMode } from "./call-estimate.ts";
export { LearnedOutput } from "./learned-output.ts";
export type { LearnedOutputOptions } from "./learned-output.ts";
export { settledUsage } from "./settled-usage.ts";
export type { UsageSource } from "./settled-usage.ts";
