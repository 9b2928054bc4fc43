/** Authentication by the keys of a configuration and those of a store. Where both have a hash, the configuration's answer holds. */
import type { Authenticator, KeyRecord, Logger, Principal } from "@dragoman/core";

import { KeyRing } from "./key-ring.ts";
import type { StoredKeys } from "./stored-keys.ts";

/** The keys of one snapshot over those of a store. */
export class StoredKeyRing implements Authenticator {
  readonly #configured: ReadonlyMap<string, KeyRecord>;
  readonly #ring: KeyRing;
  readonly #stored: StoredKeys;

  constructor(configured: ReadonlyMap<string, KeyRecord>, stored: StoredKeys) {
    this.#configured = configured;
    this.#ring = new KeyRing(configured);
    this.#stored = stored;
  }

  authenticate(secretSha256Hex: string, nowMs: number): Principal | null {
    return this.#configured.has(secretSha256Hex)
      ? this.#ring.authenticate(secretSha256Hex, nowMs)
      : this.#stored.find(secretSha256Hex, nowMs);
  }
}

/** Says which stored keys the configuration hides. */
export function logHiddenKeys(
  configured: ReadonlyMap<string, KeyRecord>,
  stored: StoredKeys,
  logger: Pick<Logger, "warn">,
): void {
  for (const hash of stored.hashes) {
    const key = configured.get(hash);
    if (key !== undefined)
      logger.warn({ key: key.id }, "a key of the configuration is also in the store; the configuration's holds");
  }
}
