/** One log line for each limit that is nearly or wholly used up. */
import type { Logger } from "@dragoman/core";
import { describeLimit, type LedgerAlert } from "@dragoman/ledger";

import type { Gateway } from "../create-gateway.ts";

/** Writes a line for each alert from now on. */
export function logAlerts(gateway: Gateway, logger: Logger): void {
  gateway.events.on("alert", (alert) => logger.warn(describeAlert(alert), messageOf(alert)));
}

const messageOf = ({ kind, share }: LedgerAlert): string =>
  kind === "hard"
    ? "a limit refuses calls until its window ends"
    : `${Math.round(share * 100)} % of a limit are used up`;

const describeAlert = ({ scope, id, limit, windowEndMs }: LedgerAlert): Readonly<Record<string, unknown>> => ({
  scope,
  id,
  limit: describeLimit(limit),
  windowEnds: new Date(windowEndMs).toISOString(),
});
