/**
 * Authentication by virtual keys. A key is found by its hash, so no secret is compared with another and the time of a look-up
 * tells nothing about a key; an unknown, a disabled and an expired one are refused alike.
 */
import type { Authenticator, KeyRecord, Principal } from "@dragoman/core";

/** The keys of one snapshot. */
export class KeyRing implements Authenticator {
  readonly #keys: ReadonlyMap<string, KeyRecord>;

  /** `keys` is by lower-case hexadecimal SHA-256. */
  constructor(keys: ReadonlyMap<string, KeyRecord>) {
    this.#keys = keys;
  }

  /** Whose key has this hash; null when it is nobody's at this moment. */
  authenticate(secretSha256Hex: string, nowMs: number): Principal | null {
    const key = this.#keys.get(secretSha256Hex);
    if (key === undefined || key.isDisabled || (key.expiresMs !== null && nowMs >= key.expiresMs)) return null;
    return key;
  }
}
