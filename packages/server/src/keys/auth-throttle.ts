/**
 * Slows down who guesses keys: failed authentications of an address are counted, and those beyond a number per window are told to wait.
 * Invariants: only a failure is ever counted or refused, so a valid key is neither slowed nor refused, whatever its address did; memory
 * is bounded, and of more addresses than it holds the one whose last failure is longest ago is forgotten.
 */
import type { AuthThrottle, ClientRequest, ServerSettings } from "@dragoman/core";

import { addressGroup } from "../http/address-group.ts";
import { findClientAddress } from "../http/client-address.ts";
import { createAddressSet, type AddressSet } from "../http/trusted-proxies.ts";

interface Failures {
  count: number;
  untilMs: number;
}

/** Addresses remembered: some 2 MB. */
const DEFAULT_MAX_ADDRESSES = 20_000;

/** Counts failures by address. */
export class AddressThrottle implements AuthThrottle {
  readonly #maxAddresses: number;
  readonly #failures = new Map<string, Failures>();
  /** Proxies of the configuration that was used last. */
  #blocks: readonly string[] = [];
  #trusted: AddressSet = createAddressSet([]);

  constructor(maxAddresses: number = DEFAULT_MAX_ADDRESSES) {
    this.#maxAddresses = maxAddresses;
  }

  fail(request: ClientRequest, server: ServerSettings, nowMs: number): number | null {
    const settings = server.authThrottle;
    if (settings === null) return null;
    const address = findClientAddress(request.remoteAddress, request.headers, this.#proxies(server.trustedProxies));
    const group = address === null ? null : addressGroup(address);
    if (group === null) return null;
    const failures = this.#touch(group, nowMs, settings.windowMs);
    failures.count += 1;
    return failures.count > settings.failures ? failures.untilMs - nowMs : null;
  }

  /** Addresses remembered now. */
  get size(): number {
    return this.#failures.size;
  }

  #touch(group: string, nowMs: number, windowMs: number): Failures {
    const known = this.#failures.get(group);
    // A window that ends later than a whole one from now was begun by a clock that has gone back since, or by other settings.
    const isOver = known === undefined || nowMs >= known.untilMs || known.untilMs > nowMs + windowMs;
    const failures = isOver ? { count: 0, untilMs: nowMs + windowMs } : known;
    // The order of a map is that of insertion: the first is the one whose last failure is longest ago.
    this.#failures.delete(group);
    this.#failures.set(group, failures);
    if (this.#failures.size > this.#maxAddresses) {
      const [oldest] = this.#failures.keys();
      if (oldest !== undefined) this.#failures.delete(oldest);
    }
    return failures;
  }

  #proxies(blocks: readonly string[]): AddressSet {
    if (blocks !== this.#blocks) {
      this.#trusted = createAddressSet(blocks);
      this.#blocks = blocks;
    }
    return this.#trusted;
  }
}
