/**
 * JSON of names that come again and again: keys, models, deployments. Looking one up takes half of what quoting it does, which is a tenth
 * of a request's lines (`bench/journal.mjs`). Bounded: when it is full, it begins anew.
 */

const MAX_NAMES = 1_000;
/** Longer texts are no such names. */
const MAX_LENGTH = 256;
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const NOT_ASCII = /[\u007f-\uffff]/g;

export class NameMemo {
  readonly #quoted = new Map<string, string>();

  quote(value: string): string {
    const known = this.#quoted.get(value);
    if (known !== undefined) return known;
    const quoted = quoteText(value);
    if (value.length > MAX_LENGTH) return quoted;
    if (this.#quoted.size >= MAX_NAMES) this.#quoted.clear();
    this.#quoted.set(value, quoted);
    return quoted;
  }
}

/** A text as JSON in ASCII. */
export function quoteText(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : escapeToAscii(JSON.stringify(value));
}

/** The same JSON in ASCII. */
export function escapeToAscii(json: string): string {
  return json.replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
