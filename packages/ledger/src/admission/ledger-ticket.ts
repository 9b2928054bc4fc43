/**
 * The account of one exchange: open → held → (attempting → held)* → closed. Invariants: a reservation is made in every scope or in
 * none; what was held is given back exactly once, when an attempt is settled or the ticket closes; every attempt that was let in
 * leaves exactly one entry; parallel slots come back once, whatever happened.
 */
import { GatewayError } from "@dragoman/core";
import type {
  AdmissionRefusal,
  AdmittedExchange,
  AttemptTarget,
  HoldRequest,
  Principal,
  Settlement,
  Ticket,
} from "@dragoman/core";

import { costOfUsage } from "../cost/index.ts";
import { entryOf, type EntryParts } from "./entry-of.ts";
import type { LedgerEntry } from "../entries/index.ts";
import { estimateCall, settledUsage, type CallFacts } from "../estimate/index.ts";
import { addNanoUsd, chargedTokens, NO_AMOUNTS, ONE_REQUEST, type Amounts } from "../money/index.ts";
import type { Blocked, Scope, ScopeAccount } from "../limits/index.ts";
import type { Price } from "../prices/index.ts";
import type { LedgerDesk } from "./ledger-desk.ts";
import { refuseBlocked, refuseUnpriced } from "./refusals.ts";
import { blockedBy, findBlocked, moreThan, withRequest } from "./room.ts";

type TicketState = "open" | "held" | "attempting" | "closed";

const NO_TARGET: AttemptTarget = { upstreamModel: "" };

/** Names of end users are kept in accounts and entries, so they are cut to this. */
const MAX_END_USER_LENGTH = 256;

/** A ticket of a ledger. */
export class LedgerTicket implements Ticket {
  readonly #desk: LedgerDesk;
  readonly #principal: Principal;
  readonly #exchange: AdmittedExchange;
  readonly seal: (() => Promise<boolean>) | null;
  /** Accounts that the whole exchange is held against. */
  readonly #accounts: ScopeAccount[] = [];
  /** Accounts whose parallel slot the exchange has. */
  #slots: ScopeAccount[] = [];
  #state: TicketState = "open";
  #facts: CallFacts | null = null;
  #endUser: string | null = null;
  /** What is held in every account above; nothing between a settlement and the next attempt. */
  #held: Amounts = NO_AMOUNTS;
  #attempts = 0;
  #deploymentId = "";
  #deployment: ScopeAccount | null = null;
  #target: AttemptTarget = NO_TARGET;
  #price: Price | null = null;
  #attemptStartedMs = 0;

  constructor(desk: LedgerDesk, principal: Principal, exchange: AdmittedExchange) {
    this.#desk = desk;
    this.#principal = principal;
    this.#exchange = exchange;
    this.seal = desk.recorder?.seal ?? null;
  }

  /** Enters the scopes that are known with the caller and takes their parallel slots. A refused ticket needs no close. */
  enter(): AdmissionRefusal | null {
    const { limits } = this.#desk;
    const { id, owner } = this.#principal;
    const nowMs = this.#desk.clock.nowMs();
    this.#add("key", id, limits.key(id), nowMs);
    if (owner !== null) {
      this.#add("owner", owner, limits.owner(owner), nowMs);
      this.#add("each-key", id, limits.eachKey(owner), nowMs);
    }
    this.#add("global", "", limits.global(), nowMs);
    return this.#takeSlots(0);
  }

  hold(request: HoldRequest): AdmissionRefusal | null {
    this.#require("open", "hold");
    const { limits, learned, clock } = this.#desk;
    const nowMs = clock.nowMs();
    const known = this.#accounts.length;
    this.#add("model", request.model, limits.model(request.model), nowMs);
    if (typeof request.endUser === "string" && request.endUser !== "") this.#addEndUser(request.endUser, nowMs);
    this.#facts = {
      request,
      inputTokens: request.estimateInputTokens(),
      expectedOutput: learned.expect(request.model, this.#principal.id),
    };
    const held = this.#estimateFirst(this.#facts, nowMs);
    const blocked = findBlocked(this.#accounts, withRequest(held), nowMs);
    if (blocked !== null) return this.#refuse(blocked);
    const refusal = this.#takeSlots(known);
    if (refusal !== null) return refusal;
    for (const account of this.#accounts) {
      account.hold(held);
      account.book(ONE_REQUEST, nowMs, this.#desk.onAlert);
    }
    this.#held = held;
    this.#state = "held";
    this.#desk.recorder?.hold({
      requestId: this.#exchange.requestId,
      atMs: nowMs,
      key: this.#principal.id,
      owner: this.#principal.owner,
      endUser: this.#endUser,
      model: request.model,
      held,
    });
    return null;
  }

  attempt(deploymentId: string, target: AttemptTarget = NO_TARGET): AdmissionRefusal | null {
    this.#require("held", "attempt");
    const { accounts, clock, holdMode, limits, prices } = this.#desk;
    const nowMs = clock.nowMs();
    const deployment = accounts.open("deployment", deploymentId, limits.deployment(deploymentId), nowMs);
    const price = prices.find(deploymentId, target.upstreamModel, nowMs);
    if (price === null && !this.#desk.allowsUnpriced && this.#needsPrice(deployment))
      return refuseUnpriced(this.#request().model);
    const wanted = withRequest(estimateCall(holdMode, this.#facts as CallFacts, target, price));
    const more = moreThan(this.#held, wanted);
    const blocked =
      (more === null ? null : findBlocked(this.#accounts, more, nowMs)) ?? blockedBy(deployment, wanted, nowMs);
    if (blocked !== null) return this.#refuse(blocked, deployment);
    if (more !== null) this.#holdMore(more);
    if (deployment !== null) {
      deployment.takeSlot();
      deployment.hold(this.#held);
      deployment.book(ONE_REQUEST, nowMs, this.#desk.onAlert);
    }
    this.#deploymentId = deploymentId;
    this.#deployment = deployment;
    this.#target = target;
    this.#price = price;
    this.#attemptStartedMs = nowMs;
    this.#attempts += 1;
    this.#state = "attempting";
    const { recorder } = this.#desk;
    if (recorder !== null) recorder.attempt(this.#provisionalEntry());
    return null;
  }

  settle(settlement: Settlement): void {
    this.#require("attempting", "settle");
    this.#settle(settlement, settlement.provider);
  }

  releaseClient(): void {
    const slots = this.#slots;
    this.#slots = [];
    for (const account of slots) account.returnSlot();
  }

  /** Ends the ticket. An attempt that nobody settled, which only a defect leaves behind, is charged by estimate. */
  close(): void {
    if (this.#state === "closed") throw violation("close", this.#state);
    try {
      if (this.#state === "attempting") this.#settle(this.#unsettled(), this.#target.provider ?? null);
    } finally {
      const hadHold = this.#state === "held";
      this.#state = "closed";
      this.#releaseHeld();
      this.releaseClient();
      if (hadHold) this.#desk.recorder?.close(this.#exchange.requestId, this.#desk.clock.nowMs());
    }
  }

  #settle(settlement: Settlement, provider: string | null): void {
    const { clock, learned, onAlert } = this.#desk;
    const { request, inputTokens } = this.#facts as CallFacts;
    const price = this.#price;
    const nowMs = clock.nowMs();
    const { usage, source } = settledUsage(settlement, { request, target: this.#target, inputTokens });
    const costNanoUsd = usage === null ? 0 : price === null ? null : costOfUsage(usage, price);
    const heldNanoUsd = this.#held.nanoUsd;
    const deployment = this.#deployment;
    this.#releaseHeld();
    this.#state = "held";
    if (usage !== null) {
      const taken: Amounts = {
        requests: 0,
        inputTokens: chargedTokens(usage.input),
        outputTokens: chargedTokens(usage.output),
        nanoUsd: costNanoUsd ?? 0,
      };
      for (const account of this.#accounts) account.book(taken, nowMs, onAlert);
      deployment?.book(taken, nowMs, onAlert);
      if (settlement.rule === "actual") learned.learn(request.model, this.#principal.id, taken.outputTokens);
    }
    const overdrawnNanoUsd = Math.max((costNanoUsd ?? 0) - heldNanoUsd, 0);
    this.#desk.sink.append(this.#entry({ settlement, provider, usage, source, costNanoUsd, overdrawnNanoUsd }));
  }

  #entry(
    parts: Pick<EntryParts, "settlement" | "provider" | "usage" | "source" | "costNanoUsd" | "overdrawnNanoUsd">,
  ): LedgerEntry {
    return entryOf({
      ...parts,
      attempt: this.#attempts,
      priceId: this.#price?.id ?? null,
      exchange: this.#exchange,
      principal: this.#principal,
      endUser: this.#endUser,
      model: this.#request().model,
    });
  }

  /** The entry of the attempt that begins, should nobody live to settle it. */
  #provisionalEntry(): LedgerEntry {
    const settlement: Settlement = { ...this.#unsettled(), rule: "recovered" };
    const { usage } = settlement;
    const costNanoUsd = this.#price === null ? null : this.#held.nanoUsd;
    const provider = this.#target.provider ?? null;
    return this.#entry({ settlement, provider, usage, source: "estimate", costNanoUsd, overdrawnNanoUsd: 0 });
  }

  #unsettled(): Settlement {
    return {
      rule: "abandoned",
      deploymentId: this.#deploymentId,
      provider: "",
      upstreamModel: this.#target.upstreamModel,
      upstreamRequestId: null,
      // Nothing is known but that the call was let in: the whole reservation stands in for it.
      usage: { input: this.#held.inputTokens, output: this.#held.outputTokens, source: "estimated", final: true },
      deliveredBytes: 0,
      startedMs: this.#attemptStartedMs,
      endedMs: this.#desk.clock.nowMs(),
    };
  }

  #add(scope: Scope, id: string, limits: Parameters<LedgerDesk["accounts"]["open"]>[2], nowMs: number): void {
    const account = this.#desk.accounts.open(scope, id, limits, nowMs);
    if (account !== null) this.#accounts.push(account);
  }

  /** An end user is one person for all keys of an owner. */
  #addEndUser(name: string, nowMs: number): void {
    const endUser = name.length > MAX_END_USER_LENGTH ? name.slice(0, MAX_END_USER_LENGTH) : name;
    const { owner, id } = this.#principal;
    this.#endUser = endUser;
    const limits = this.#desk.limits.eachEndUser(this.#principal);
    this.#add("end-user", `${owner === null ? `key ${id}` : `owner ${owner}`}\n${endUser}`, limits, nowMs);
  }

  /** Takes the slots of the accounts from `first` on, all or none. */
  #takeSlots(first: number): AdmissionRefusal | null {
    for (let index = first; index < this.#accounts.length; index += 1) {
      const account = this.#accounts[index] as ScopeAccount;
      if (!account.hasSlot) return refuseBlocked(account.slotBlocked());
    }
    for (let index = first; index < this.#accounts.length; index += 1) {
      const account = this.#accounts[index] as ScopeAccount;
      account.takeSlot();
      this.#slots.push(account);
    }
    return null;
  }

  #request(): HoldRequest {
    return (this.#facts as CallFacts).request;
  }

  /** What the first attempt will take. `attempt` adds what another one needs, and all of it where the first is not known. */
  #estimateFirst(facts: CallFacts, nowMs: number): Amounts {
    const { holdMode, prices } = this.#desk;
    const { first } = facts.request;
    if (first === undefined) return estimateCall("expected", facts, NO_TARGET, null);
    const price = prices.find(first.deploymentId, first.target.upstreamModel, nowMs);
    return estimateCall(holdMode, facts, first.target, price);
  }

  #needsPrice(deployment: ScopeAccount | null): boolean {
    if (this.#request().operation === "count-tokens") return false;
    if (deployment?.hasBudget === true) return true;
    for (const account of this.#accounts) if (account.hasBudget) return true;
    return false;
  }

  #holdMore(more: Amounts): void {
    for (const account of this.#accounts) account.hold(more);
    const { inputTokens, outputTokens, nanoUsd } = this.#held;
    this.#held = {
      requests: 0,
      inputTokens: inputTokens + more.inputTokens,
      outputTokens: outputTokens + more.outputTokens,
      nanoUsd: addNanoUsd(nanoUsd, more.nanoUsd),
    };
  }

  #releaseHeld(): void {
    const held = this.#held;
    const deployment = this.#deployment;
    this.#held = NO_AMOUNTS;
    this.#deployment = null;
    if (held !== NO_AMOUNTS) for (const account of this.#accounts) account.release(held);
    if (deployment === null) return;
    deployment.release(held);
    deployment.returnSlot();
  }

  #refuse(blocked: Blocked, deployment: ScopeAccount | null = null): AdmissionRefusal {
    const { onAlert } = this.#desk;
    if (onAlert !== null && blocked.limit !== null) {
      const account =
        blocked.scope === "deployment"
          ? deployment
          : this.#accounts.find(({ scope, id }) => scope === blocked.scope && id === blocked.id);
      account?.reportRefusal(blocked.limit, onAlert);
    }
    return refuseBlocked(blocked);
  }

  #require(state: TicketState, action: string): void {
    if (this.#state !== state) throw violation(action, this.#state);
  }
}

const violation = (action: string, state: TicketState): GatewayError =>
  new GatewayError("state_violation", `A ticket that is ${state} was asked to ${action}.`);
