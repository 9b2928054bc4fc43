/** Admission without limits: every request is let in and nothing is kept. What a gateway without a ledger runs on. */
import type { Admission, Ticket } from "./ports.ts";

const FREE_TICKET: Ticket = {
  hold: () => null,
  attempt: () => null,
  settle: () => undefined,
  seal: null,
  releaseClient: () => undefined,
  close: () => undefined,
};

/** Lets everything in. */
export const FREE_ADMISSION: Admission = { open: () => ({ ok: true, ticket: FREE_TICKET }) };
