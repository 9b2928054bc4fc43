/** Which rule an attempt is settled by: a pure table over how it ended. */
import type { Usage } from "../ir/index.ts";
import type { SettlementRule } from "./ports.ts";

/** How an attempt ended. */
export interface AttemptEnding {
  readonly isComplete: boolean;
  /** Content had begun: the model was at work and will be paid. */
  readonly hasContent: boolean;
  readonly isClientGone: boolean;
  /** It was cancelled because the client had left. */
  readonly isAbandoned: boolean;
  /** Our own timeout or guardrail ended it. */
  readonly isOwnAbort: boolean;
  /** The request was handed over to the last byte, so the upstream may have worked on it. */
  readonly isFullySent: boolean;
  readonly usage: Usage | null;
}

/** Names the settlement rule of an ended attempt. */
export function settlementRule(ending: AttemptEnding): SettlementRule {
  if (ending.isComplete) {
    if (ending.isClientGone) return ending.usage === null ? "partial" : "after_disconnect";
    return ending.usage === null ? "estimated" : "actual";
  }
  if (ending.hasContent) return ending.isOwnAbort ? "abandoned" : "partial";
  if (ending.isFullySent && ending.isOwnAbort) return "abandoned";
  if (ending.isFullySent && ending.isAbandoned) return "partial";
  return ending.usage === null ? "failed_free" : "failed_actual";
}
