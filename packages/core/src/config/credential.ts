/** A provider's credential. The secret lives in private fields, so that neither a log line, a dump nor JSON can show it. */

/** One secret of a provider and the header value made of it. Immutable. */
export class Credential {
  /** `provider#index`; names the credential in logs and health state. */
  readonly id: string;
  readonly #secret: string | null;
  readonly #headerValue: string | null;

  constructor(id: string, secret: string | null, headerPrefix: string) {
    this.id = id;
    this.#secret = secret;
    this.#headerValue = secret === null ? null : headerPrefix + secret;
    Object.freeze(this);
  }

  /** The bare secret; null for the stand-in of an account that needs none, and in a check without secrets. */
  get secret(): string | null {
    return this.#secret;
  }

  /** Value of the provider's credential header, or null when no such header is sent. */
  get headerValue(): string | null {
    return this.#headerValue;
  }
}
