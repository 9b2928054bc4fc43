// What a conformance check is: one observable promise of a gateway, tried from outside with a scripted upstream behind it.
import type { Credential, ModelRoute, TrafficDialect } from "../contract/cell.ts";
import type { TargetTraffic, TrafficContext } from "../contract/target.ts";
import type { MockControl } from "../mock/control-server.ts";
import type { Exchange, SendOptions } from "./exchange.ts";

/** Client dialects that are checked. */
export type ClientDialect = Extract<TrafficDialect, "openai-chat" | "anthropic">;

/** How a check ended. */
export type Outcome =
  | { readonly verdict: "pass"; readonly detail: string }
  | { readonly verdict: "fail"; readonly detail: string }
  | { readonly verdict: "n/a"; readonly detail: string };

/** What a check works with. */
export interface CheckContext {
  readonly dialect: ClientDialect;
  readonly traffic: TargetTraffic;
  readonly addresses: TrafficContext;
  readonly upstream: MockControl;
  /** Sends one request of the check's dialect. */
  readonly send: (request: CheckRequest, options?: SendOptions) => Promise<Exchange>;
}

/** A request of a check. */
export interface CheckRequest {
  readonly credential?: Credential;
  readonly route?: ModelRoute;
  readonly isStreamed?: boolean;
  /** Text of the user's message. */
  readonly text?: string;
  /** Replaces the whole body. */
  readonly rawBody?: string;
}

/** A check. */
export interface Check {
  readonly id: string;
  readonly title: string;
  /** Dialects it is tried in. */
  readonly dialects: readonly ClientDialect[];
  readonly run: (context: CheckContext) => Promise<Outcome>;
}

/** Both dialects. */
export const BOTH_DIALECTS: readonly ClientDialect[] = ["openai-chat", "anthropic"];

/** The check's promise was kept. */
export function pass(detail: string): Outcome {
  return { verdict: "pass", detail };
}

/** The check's promise was broken. */
export function fail(detail: string): Outcome {
  return { verdict: "fail", detail };
}

/** The check does not apply to this gateway. */
export function notApplicable(detail: string): Outcome {
  return { verdict: "n/a", detail };
}

/** Passes without problems, else fails with all of them. */
export function judgeProblems(problems: readonly string[], detail: string): Outcome {
  return problems.length === 0 ? pass(detail) : fail(problems.join("; "));
}
