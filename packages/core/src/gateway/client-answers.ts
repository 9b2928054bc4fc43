/** What one client is answered: status, headers and bodies in its dialect. Remembers status and error for the outcome. */
import type { Snapshot } from "../config/index.ts";
import type { ClientDialect, HeaderList } from "../dialect/index.ts";
import type { NeutralError } from "../ir/index.ts";
import type { PlanCandidate } from "../route/index.ts";
import { buildJsonHeaders, buildStreamHeaders, type AnswerHeaderParts } from "./answer-headers.ts";
import type { Delivery } from "./delivery.ts";
import type { ExchangeTiming } from "./exchange-timing.ts";
import type { Clock, Ticket } from "./ports.ts";

/** The exchange as its answers see it. */
export interface AnswerSource {
  readonly requestId: string;
  readonly client: ClientDialect;
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  /** Null before anybody was admitted. */
  readonly ticket: Ticket | null;
  readonly candidate: PlanCandidate | null;
  readonly delivery: Delivery;
  readonly attemptsStarted: number;
  readonly deploymentsTried: number;
  /** Part of the request may still come: the connection cannot carry another one. */
  readonly hasUnreadBody: boolean;
  readonly upstreamRequestId: string | null;
  readonly isDebug: boolean;
  readonly timing: ExchangeTiming | null;
}

/** Nothing was written to the client. */
const NO_STATUS = 0;

export class ClientAnswers {
  readonly #source: AnswerSource;
  #status = NO_STATUS;
  #error: NeutralError | null = null;

  constructor(source: AnswerSource) {
    this.#source = source;
  }

  /** Status given to the client; 499 when it left before one was. */
  get status(): number {
    return this.#status === NO_STATUS ? 499 : this.#status;
  }

  /** The error that the client was told, or that broke its answer. */
  get error(): NeutralError | null {
    return this.#error;
  }

  /** Writes the head of a streamed or piecewise answer. */
  open(isStream: boolean, upstreamRequestId: string | null): void {
    const { delivery } = this.#source;
    if (delivery.isIdle) this.#status = 200;
    const parts = this.#headerParts(upstreamRequestId);
    delivery.open(200, isStream ? buildStreamHeaders(parts) : buildJsonHeaders(parts));
  }

  /** Gives an upstream's whole answer. */
  whole(body: Uint8Array, upstreamRequestId: string | null): void {
    this.#deliver(200, buildJsonHeaders(this.#headerParts(upstreamRequestId)), body, false);
  }

  /** A local answer, such as a model list. */
  local(body: Uint8Array): void {
    this.#deliver(200, buildJsonHeaders(this.#headerParts(null)), body, this.#source.hasUnreadBody);
  }

  /** The upstream's own error body, for clients that match its wording. */
  verbatim(status: number, error: NeutralError, body: Uint8Array): void {
    this.#error = error;
    this.#refuse(status, this.#encode(error).headers, body);
  }

  /** An error in the client's dialect: a plain answer while nothing was written, an error event after that. */
  refuse(error: NeutralError): void {
    this.#error ??= error;
    const encoded = this.#encode(error);
    this.#refuse(encoded.status, encoded.headers, encoded.body);
  }

  /** Remembers what went wrong after the answer had begun. */
  note(error: NeutralError): void {
    this.#error = error;
  }

  #encode(error: NeutralError): ReturnType<ClientDialect["encodeError"]> {
    const { client, requestId, deploymentsTried } = this.#source;
    return client.encodeError(error, { requestId, hasFallenBack: deploymentsTried > 1 });
  }

  #refuse(status: number, dialectHeaders: HeaderList, body: Uint8Array): void {
    const { delivery, client, requestId, hasUnreadBody, upstreamRequestId } = this.#source;
    if (delivery.isOpen) {
      if (this.#error !== null) delivery.push(client.encodeStreamError(this.#error, { requestId }));
      delivery.end();
      return;
    }
    const headers = [...buildJsonHeaders(this.#headerParts(upstreamRequestId))];
    appendMissing(headers, dialectHeaders);
    this.#deliver(status, headers, body, hasUnreadBody);
  }

  #deliver(status: number, headers: HeaderList, body: Uint8Array, closeConnection: boolean): void {
    const { delivery } = this.#source;
    if (!delivery.isIdle) return;
    this.#status = status;
    delivery.whole(status, headers, body, closeConnection);
  }

  #headerParts(upstreamRequestId: string | null): AnswerHeaderParts {
    const { client, requestId, snapshot, candidate, attemptsStarted, isDebug, timing } = this.#source;
    const debug = {
      deploymentId: candidate?.deployment.id ?? null,
      attempts: attemptsStarted,
      issues: candidate?.issues ?? [],
      timing,
    };
    return {
      client,
      requestId,
      generation: snapshot.generation,
      upstreamRequestId,
      rateLimits: this.#rateLimits(),
      debug: isDebug ? debug : null,
    };
  }

  #rateLimits(): HeaderList | null {
    const { client, clock, ticket } = this.#source;
    const standings = ticket?.limitStandings?.() ?? [];
    return standings.length === 0 ? null : client.encodeRateLimits(standings, clock.nowMs());
  }
}

/** Dialects name the request id in their error headers too: what is there already stays. */
function appendMissing(headers: string[], extra: HeaderList): void {
  for (let index = 0; index + 1 < extra.length; index += 2) {
    const name = extra[index] as string;
    let isThere = false;
    for (let known = 0; known < headers.length; known += 2) if (headers[known] === name) isThere = true;
    if (!isThere) headers.push(name, extra[index + 1] as string);
  }
}
