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
  LimitStanding,
  MaybeAsync,
  Principal,
  Settlement,
  Ticket,
} from "@dragoman/core";

import { costOfUsage } from "../cost/index.ts";
import type { LeaseHolder } from "../counters/index.ts";
import { estimateCall, settledUsage, type CallFacts } from "../estimate/index.ts";
import { chargedTokens, type Amounts } from "../money/index.ts";
import { endUserAccountId, type Blocked, type ScopeAccount } from "../limits/index.ts";
import { entryOf, type EntrySubject } from "./entry-of.ts";
import type { LedgerDesk } from "./ledger-desk.ts";
import { limitStandings } from "./limit-standings.ts";
import { refuseBlocked, refuseUncounted, refuseUnpriced } from "./refusals.ts";
import { moreThan, withRequest } from "./room.ts";
import { endUserOf, TicketAccounts, type Claim } from "./ticket-accounts.ts";
import { provisionalEntry, unsettled, type OpenAttempt } from "./open-attempt.ts";

type TicketState = "open" | "held" | "attempting" | "closed";

const NO_STANDINGS: readonly LimitStanding[] = [];

const NO_TARGET: AttemptTarget = { upstreamModel: "" };

/** A ticket of a ledger. */
export class LedgerTicket implements Ticket {
  readonly #desk: LedgerDesk;
  readonly #principal: Principal;
  readonly #exchange: AdmittedExchange;
  readonly #accounts: TicketAccounts;
  readonly seal: (() => Promise<boolean>) | null;
  #state: TicketState = "open";
  #facts: CallFacts | null = null;
  #endUser: string | null = null;
  #attempts = 0;
  #attempt: OpenAttempt | null = null;

  constructor(desk: LedgerDesk, principal: Principal, exchange: AdmittedExchange) {
    this.#desk = desk;
    this.#principal = principal;
    this.#exchange = exchange;
    this.#accounts = new TicketAccounts(desk.accounts);
    this.seal = desk.recorder?.seal ?? null;
  }

  /** Enters the scopes that are known with the caller and takes their parallel slots. A refused ticket needs no close. */
  enter(): MaybeAsync<AdmissionRefusal | null> {
    const { limits } = this.#desk;
    const { id, owner } = this.#principal;
    const nowMs = this.#desk.clock.nowMs();
    this.#accounts.add("key", id, limits.key(id), nowMs);
    if (owner !== null) {
      this.#accounts.add("owner", owner, limits.owner(owner), nowMs);
      this.#accounts.add("each-key", id, limits.eachKey(owner), nowMs);
    }
    this.#accounts.add("global", "", limits.global(), nowMs);
    return this.#claim({ amounts: null, slotsFrom: 0, deployment: null }, () => undefined);
  }

  hold(request: HoldRequest): MaybeAsync<AdmissionRefusal | null> {
    this.#require("open", "hold");
    const { limits, learned, clock } = this.#desk;
    const nowMs = clock.nowMs();
    const slotsFrom = this.#accounts.size;
    this.#accounts.add("model", request.model, limits.model(request.model), nowMs);
    this.#addEndUser(request, nowMs);
    this.#facts = {
      request,
      inputTokens: request.estimateInputTokens(),
      expectedOutput: learned.expect(request.model, this.#principal.id),
    };
    const held = this.#estimateFirst(this.#facts, nowMs);
    return this.#claim({ amounts: withRequest(held), slotsFrom, deployment: null }, () => {
      this.#state = "held";
      this.#recordHold(request.model, held);
    });
  }

  attempt(deploymentId: string, target: AttemptTarget = NO_TARGET): MaybeAsync<AdmissionRefusal | null> {
    this.#require("held", "attempt");
    const { allowsUnpriced, clock, holdMode, limits, prices } = this.#desk;
    const nowMs = clock.nowMs();
    const deployment = this.#accounts.openDeployment(deploymentId, limits.deployment(deploymentId), nowMs);
    const price = prices.find(deploymentId, target.upstreamModel, nowMs);
    if (price === null && !allowsUnpriced && this.#needsPrice(deployment)) return refuseUnpriced(this.#request().model);
    const amounts = withRequest(estimateCall(holdMode, this.#facts as CallFacts, target, price));
    const claim: Claim = {
      amounts: moreThan(this.#accounts.held, amounts),
      slotsFrom: this.#accounts.size,
      deployment: deployment === null ? null : { account: deployment, amounts },
    };
    return this.#claim(claim, (startedMs) => this.#begin({ deploymentId, target, price, startedMs }));
  }

  settle(settlement: Settlement): void {
    this.#require("attempting", "settle");
    this.#settle(settlement, settlement.provider);
  }

  limitStandings(): readonly LimitStanding[] {
    if (this.#accounts.size === 0) return NO_STANDINGS;
    return limitStandings(this.#accounts.ofCaller(), this.#desk.clock.nowMs());
  }

  releaseClient(): void {
    this.#accounts.returnSlots();
  }

  /** Ends the ticket. An attempt that nobody settled, which only a defect leaves behind, is charged by estimate. */
  close(): void {
    if (this.#state === "closed") throw violation("close", this.#state);
    try {
      const attempt = this.#attempt;
      if (this.#state === "attempting" && attempt !== null)
        this.#settle(
          unsettled(attempt, this.#accounts.held, this.#desk.clock.nowMs()),
          attempt.target.provider ?? null,
        );
    } finally {
      const hadHold = this.#state === "held";
      this.#state = "closed";
      this.#accounts.release();
      this.#accounts.returnSlots();
      if (hadHold) this.#desk.recorder?.close(this.#exchange.requestId, this.#desk.clock.nowMs());
    }
  }

  #begin(attempt: OpenAttempt): void {
    this.#attempt = attempt;
    this.#attempts += 1;
    this.#state = "attempting";
    const { recorder } = this.#desk;
    if (recorder !== null)
      recorder.attempt(provisionalEntry(this.#subject(), this.#attempts, attempt, this.#accounts.held));
  }

  /** Takes a claim and goes on, in the same turn, or is refused; late where leases have to be asked for. */
  #claim(claim: Claim, goOn: (nowMs: number) => void): MaybeAsync<AdmissionRefusal | null> {
    const { clock, leases } = this.#desk;
    const blocked = this.#take(claim, goOn, clock.nowMs());
    if (blocked === null) return null;
    return leases === null || blocked.isFinal ? this.#refuse(blocked, claim) : this.#claimLate(leases, claim, goOn);
  }

  async #claimLate(leases: LeaseHolder, claim: Claim, goOn: (nowMs: number) => void): Promise<AdmissionRefusal | null> {
    const outcome = await leases.ask({
      tryNow: (nowMs) => this.#take(claim, goOn, nowMs),
      needs: (nowMs) => this.#accounts.needs(claim, nowMs),
    });
    switch (outcome.kind) {
      case "taken":
        return null;
      case "blocked":
        return this.#refuse(outcome.blocked, claim);
      case "down":
        return refuseUncounted();
    }
  }

  #take(claim: Claim, goOn: (nowMs: number) => void, nowMs: number): Blocked | null {
    const blocked = this.#accounts.findBlocked(claim, nowMs);
    if (blocked !== null) return blocked;
    this.#accounts.take(claim, nowMs, this.#desk.onAlert);
    goOn(nowMs);
    return null;
  }

  #refuse(blocked: Blocked, claim: Claim): AdmissionRefusal {
    const { clock, onAlert } = this.#desk;
    this.#accounts.report(blocked, claim, clock.nowMs(), onAlert);
    return refuseBlocked(blocked);
  }

  #settle(settlement: Settlement, provider: string | null): void {
    const { clock, learned, onAlert, sink } = this.#desk;
    const { request, inputTokens } = this.#facts as CallFacts;
    const { price, target } = this.#attempt as OpenAttempt;
    const { usage, source } = settledUsage(settlement, { request, target, inputTokens });
    const costNanoUsd = usage === null ? 0 : price === null ? null : costOfUsage(usage, price);
    const overdrawnNanoUsd = Math.max((costNanoUsd ?? 0) - this.#accounts.held.nanoUsd, 0);
    const taken: Amounts | null =
      usage === null
        ? null
        : {
            requests: 0,
            inputTokens: chargedTokens(usage.input),
            outputTokens: chargedTokens(usage.output),
            nanoUsd: costNanoUsd ?? 0,
          };
    this.#state = "held";
    this.#attempt = null;
    this.#accounts.settle(taken, clock.nowMs(), onAlert);
    if (taken !== null && settlement.rule === "actual")
      learned.learn(request.model, this.#principal.id, taken.outputTokens);
    const priceId = price?.id ?? null;
    const charge = { settlement, provider, usage, source, priceId, costNanoUsd, overdrawnNanoUsd };
    sink.append(entryOf(this.#subject(), this.#attempts, charge));
  }

  #addEndUser({ endUser }: HoldRequest, nowMs: number): void {
    this.#endUser = endUserOf(endUser);
    if (this.#endUser === null) return;
    const id = endUserAccountId(this.#principal.owner, this.#principal.id, this.#endUser);
    this.#accounts.add("end-user", id, this.#desk.limits.eachEndUser(this.#principal), nowMs);
  }

  #recordHold(model: string, held: Amounts): void {
    const { clock, recorder } = this.#desk;
    if (recorder === null) return;
    recorder.hold({
      requestId: this.#exchange.requestId,
      atMs: clock.nowMs(),
      key: this.#principal.id,
      owner: this.#principal.owner,
      endUser: this.#endUser,
      model,
      held,
    });
  }

  #request(): HoldRequest {
    return (this.#facts as CallFacts).request;
  }

  #subject(): EntrySubject {
    return {
      exchange: this.#exchange,
      principal: this.#principal,
      endUser: this.#endUser,
      model: this.#request().model,
    };
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
    return this.#request().operation !== "count-tokens" && this.#accounts.hasBudget(deployment);
  }

  #require(state: TicketState, action: string): void {
    if (this.#state !== state) throw violation(action, this.#state);
  }
}

const violation = (action: string, state: TicketState): GatewayError =>
  new GatewayError("state_violation", `A ticket that is ${state} was asked to ${action}.`);
