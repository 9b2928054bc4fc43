// An admission that lets everything in and remembers what it was told, so that tests can count settlements and closes.
import type { Admission, Settlement, Ticket } from "@dragoman/core";

/** What happened to one ticket. */
export interface TicketRecord {
  readonly attempts: string[];
  readonly settlements: Settlement[];
  holds: number;
  clientReleases: number;
  closes: number;
}

export class RecordingAdmission implements Admission {
  readonly tickets: TicketRecord[] = [];

  open(): { readonly ok: true; readonly ticket: Ticket } {
    const record: TicketRecord = { attempts: [], settlements: [], holds: 0, clientReleases: 0, closes: 0 };
    this.tickets.push(record);
    const ticket: Ticket = {
      hold: () => {
        record.holds += 1;
        return null;
      },
      attempt: (deploymentId) => {
        record.attempts.push(deploymentId);
        return null;
      },
      settle: (settlement) => {
        if (record.closes > 0) throw new Error("a settlement after the ticket was closed");
        record.settlements.push(settlement);
      },
      seal: null,
      releaseClient: () => {
        record.clientReleases += 1;
      },
      close: () => {
        record.closes += 1;
      },
    };
    return { ok: true, ticket };
  }

  /** Rules of all settlements, ticket by ticket. */
  get rules(): string[][] {
    return this.tickets.map((ticket) => ticket.settlements.map((settlement) => settlement.rule));
  }

  /** What does not balance: a ticket not closed exactly once, an attempt not settled exactly once. Empty when all is well. */
  get imbalances(): string[] {
    const found: string[] = [];
    for (const [index, ticket] of this.tickets.entries()) {
      if (ticket.closes !== 1) found.push(`ticket ${index} was closed ${ticket.closes} times`);
      const settled = ticket.settlements.map((settlement) => settlement.deploymentId);
      if (settled.join() !== ticket.attempts.join())
        found.push(`ticket ${index} had attempts [${ticket.attempts.join()}] and settlements of [${settled.join()}]`);
    }
    return found;
  }
}
