/**
 * Leases over a channel of messages between two processes or threads: trades and their answers, and reserve that is called back.
 * Messages are plain data and keep their order; a channel that closes ends everything that waits for it.
 */
import type { CounterSource, Trade, TradeReply } from "./counter-source.ts";
import type { LeaseBank, ReturnedReserve } from "./lease-bank.ts";

/** Both ends of a channel: `process.send` and a `MessagePort` fit. */
export interface LeaseChannel {
  /** Throws, or does nothing, when the other side is gone. */
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Called once. */
  onClose(listener: () => void): void;
}

/** What a holder sends. */
type HolderMessage =
  | { readonly kind: "trade"; readonly trade: Trade }
  | { readonly kind: "returned"; readonly round: number; readonly returns: readonly ReturnedReserve[] };

/** What a bank sends. */
type BankMessage =
  | { readonly kind: "reply"; readonly seq: number; readonly reply: TradeReply | null }
  | { readonly kind: "recall"; readonly round: number; readonly names: readonly string[] };

/** Serves one holder from a bank. When the channel closes the holder is gone, and its account is to be settled. */
export function serveLeases(bank: LeaseBank, holder: string, channel: LeaseChannel): void {
  const send = (message: BankMessage): void => {
    try {
      channel.send(message);
    } catch {
      // The other side is gone, which `onClose` tells.
    }
  };
  bank.join(holder, (round, names) => send({ kind: "recall", round, names }));
  channel.onMessage((raw) => {
    const message = raw as HolderMessage;
    if (message.kind === "trade") {
      const { seq } = message.trade;
      bank.trade(holder, message.trade, (reply) => send({ kind: "reply", seq, reply }));
    } else bank.returned(holder, message.round, message.returns);
  });
  channel.onClose(() => bank.leave(holder));
}

/** The source of a holder whose bank is at the other end of a channel. */
export function createLeaseClient(channel: LeaseChannel): CounterSource {
  return new LeaseClient(channel);
}

interface Waiting {
  readonly seq: number;
  readonly resolve: (reply: TradeReply) => void;
  readonly reject: (error: Error) => void;
}

class LeaseClient implements CounterSource {
  readonly leaseMs = null;
  onRecall: CounterSource["onRecall"] = null;
  readonly #channel: LeaseChannel;
  #waiting: Waiting | null = null;
  #isClosed = false;

  constructor(channel: LeaseChannel) {
    this.#channel = channel;
    channel.onMessage((message) => this.#read(message as BankMessage));
    channel.onClose(() => {
      this.#isClosed = true;
      this.#end(null);
    });
  }

  trade(trade: Trade): Promise<TradeReply> {
    this.#end(null);
    if (this.#isClosed) return Promise.reject(new Error("the channel to the primary is closed"));
    return new Promise((resolve, reject) => {
      this.#waiting = { seq: trade.seq, resolve, reject };
      this.#send({ kind: "trade", trade });
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #read(message: BankMessage): void {
    if (message.kind === "recall") {
      const amounts = this.onRecall?.(message.names) ?? [];
      const returns = message.names.map((name, index) => ({ name, amount: amounts[index] ?? 0 }));
      this.#send({ kind: "returned", round: message.round, returns });
    } else if (message.seq === this.#waiting?.seq) this.#end(message.reply);
  }

  #send(message: HolderMessage): void {
    try {
      this.#channel.send(message);
    } catch {
      this.#end(null);
    }
  }

  /** Answers what waits; null = there will be no answer. */
  #end(reply: TradeReply | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (reply === null) waiting?.reject(new Error("the primary does not answer for its counters"));
    else waiting?.resolve(reply);
  }
}
