// Holds the beginning of an answer until it is certain that the client shall have it. States: `holding` → `open` | `discarded`;
// what was held comes out exactly once or never.

import { GatewayError } from "../errors/index.ts";

/** Where a {@link CommitGate} is. */
export type CommitGateState = "holding" | "open" | "discarded";

/** A bounded hold for pieces of an answer. The pieces belong to the gate; whoever passes it has done so for good. */
export class CommitGate {
  readonly #maxHeldBytes: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #state: CommitGateState = "holding";

  constructor(maxHeldBytes: number) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  get state(): CommitGateState {
    return this.#state;
  }

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Holds a piece. False when that exceeds the bound: it was not taken then, the rest stays. Only while `holding`. */
  hold(bytes: Uint8Array): boolean {
    this.#requireHolding("hold");
    if (this.#heldBytes + bytes.length > this.#maxHeldBytes) return false;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    return true;
  }

  /** Commits: everything held, in order. Only while `holding`, so once; anything else is a `state_violation`. */
  open(): readonly Uint8Array[] {
    this.#requireHolding("open");
    this.#state = "open";
    return this.#empty();
  }

  /** Drops what is held. Does nothing once the gate is open or discarded. */
  discard(): void {
    if (this.#state !== "holding") return;
    this.#state = "discarded";
    this.#empty();
  }

  #empty(): Uint8Array[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }

  #requireHolding(action: string): void {
    if (this.#state === "holding") return;
    throw new GatewayError("state_violation", `Cannot ${action}: this commit gate is ${this.#state}.`);
  }
}
