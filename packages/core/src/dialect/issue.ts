/** What an encoder found while it expressed a request: refusals, losses and adaptations, as values. */
import type { AdaptationCode, ReasonCode } from "./reason-codes.ts";

/** One finding about one place of the client's request. */
export interface Issue {
  readonly code: ReasonCode | AdaptationCode;
  /** JSON Pointer in the client's body, or `header:<name>`. */
  readonly path: string;
  /** `reject` and a `drop` that is not allowed exclude the deployment; `adapt` never does. */
  readonly severity: "reject" | "drop" | "adapt";
  /** One sentence for the operator; no body content. */
  readonly detail: string;
}

/**
 * Collects the issues of one encoding. Encoders go on after a refusal, so that a client is told everything at once.
 * `isRefused` is the verdict.
 */
export class IssueList {
  readonly issues: Issue[] = [];
  readonly #allowed: ReadonlySet<string>;
  #refused = false;

  constructor(allowed: ReadonlySet<string>) {
    this.#allowed = allowed;
  }

  /** The deployment cannot express this. */
  reject(code: ReasonCode, path: string, detail: string): void {
    this.#refused = true;
    this.issues.push({ code, path, severity: "reject", detail });
  }

  /** The deployment lacks this. Returns true when the loss is allowed and the encoder must leave the member out. */
  drop(code: ReasonCode, path: string, detail: string): boolean {
    const isAllowed = this.#allowed.has(code);
    if (!isAllowed) this.#refused = true;
    this.issues.push({ code, path, severity: "drop", detail });
    return isAllowed;
  }

  /** The meaning is kept, the form changed. */
  adapt(code: AdaptationCode, path: string, detail: string): void {
    this.issues.push({ code, path, severity: "adapt", detail });
  }

  /** Whether a loss of this code would be allowed. */
  allows(code: ReasonCode): boolean {
    return this.#allowed.has(code);
  }

  get isRefused(): boolean {
    return this.#refused;
  }
}
