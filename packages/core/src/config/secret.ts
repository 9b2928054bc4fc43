/** A secret of the compiled configuration that is no credential of a provider: a connection URL, a shared secret. */

/** Holds a secret where no log line, dump or JSON can show it. Immutable. */
export class Secret {
  readonly #text: string | null;

  constructor(text: string | null) {
    this.#text = text;
    Object.freeze(this);
  }

  /** Null in a compilation that does without secrets. */
  get text(): string | null {
    return this.#text;
  }
}
