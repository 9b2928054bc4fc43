/**
 * Deterministic, collision-free rewriting of tool-call ids that a target does not accept: the same id gives the same result in
 * call and result and in every later turn, so that pairs stay pairs and prompt caches still hit.
 */
import { createHash } from "node:crypto";

/** What a target accepts as an id. */
export interface ToolIdRule {
  /** Must match the whole id; not global. */
  readonly pattern: RegExp;
  readonly maxLength: number;
  /** What a rewritten id begins with; may be empty. */
  readonly prefix: string;
  /** Base62 characters after the prefix. */
  readonly length: number;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = 62n;

/** The first `length` base62 digits of SHA-256 over the UTF-8 bytes of a text; at most 42 carry information. */
export function base62Digest(text: string, length: number): string {
  let rest = BigInt(`0x${createHash("sha256").update(text, "utf8").digest("hex")}`);
  let digits = "";
  for (let index = 0; index < length; index++) {
    digits += ALPHABET[Number(rest % BASE)] as string;
    rest /= BASE;
  }
  return digits;
}

/** An id that the rule accepts: the id itself when it is legal, else prefix and digest. Empty ids are rewritten too. */
export function legalToolId(id: string, rule: ToolIdRule): { readonly id: string; readonly rewritten: boolean } {
  if (id.length > 0 && id.length <= rule.maxLength && rule.pattern.test(id)) return { id, rewritten: false };
  return { id: rule.prefix + base62Digest(id, rule.length), rewritten: true };
}
