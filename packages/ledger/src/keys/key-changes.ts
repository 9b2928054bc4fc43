/**
 * What a change of keys comes to: pure decisions over what a store looked up, so that every store decides alike. Invariants: among
 * keys that are not revoked no two share a name or a hash; a revoked key never changes again; an id is never used again.
 */
import { GatewayError } from "@dragoman/core";

import type { KeyChange, KeyRefusal, KeyStore, KeySecret, StoredKey } from "./stored-key.ts";

/** What of a key may be changed. */
export type KeyUpdate = Parameters<KeyStore["update"]>[1];

/** A change that somebody asks for. `key` is an id or a name. */
export type KeyRequest =
  | { readonly kind: "create"; readonly key: StoredKey }
  | { readonly kind: "revoke"; readonly key: string; readonly atMs: number }
  | { readonly kind: "rotate"; readonly key: string; readonly hash: string; readonly graceUntilMs: number }
  | { readonly kind: "update"; readonly key: string; readonly change: KeyUpdate };

/** What a store looks up before a request is decided. */
export interface KeyQuestion {
  /** Whose id or name is this? */
  readonly identity: string;
  /** Which key that is not revoked has this name? Null = it does not matter. */
  readonly name: string | null;
  /** Which keys that are not revoked have one of these hashes? */
  readonly hashes: readonly string[];
}

/** What it found. */
export interface KeyFacts {
  /** Keys whose id or name is the identity, revoked ones too, in any order. */
  readonly named: readonly StoredKey[];
  /** Id of the key that has the wanted name, or null. */
  readonly nameHolder: string | null;
  /** Id of a key that has one of the hashes, or null. */
  readonly hashHolder: string | null;
}

/** What is answered, and what is written; null = nothing changes. */
export interface KeyDecision {
  readonly answer: KeyChange;
  readonly write: StoredKey | null;
}

/** What has to be looked up for a request. Throws `state_violation` when the request itself is none. */
export function questionOf(request: KeyRequest): KeyQuestion {
  switch (request.kind) {
    case "create": {
      const { id, name, secrets, revokedMs } = request.key;
      if (secrets.length === 0) throw violation(`The key ${name} has no secret.`);
      for (const { hash } of secrets) requireHash(hash);
      return revokedMs === null
        ? { identity: id, name, hashes: secrets.map(({ hash }) => hash) }
        : { identity: id, name: null, hashes: [] };
    }
    case "revoke":
      return { identity: request.key, name: null, hashes: [] };
    case "rotate":
      requireHash(request.hash);
      return { identity: request.key, name: null, hashes: [request.hash] };
    case "update":
      return { identity: request.key, name: request.change.name ?? null, hashes: [] };
  }
}

/** Decides a request. Throws `state_violation` for a new key whose id was used before. */
export function decideKeyChange(request: KeyRequest, facts: KeyFacts): KeyDecision {
  if (request.kind === "create") return decideCreate(request.key, facts);
  const key = meant(request.key, facts.named);
  if (key === null) return refuse("unknown-key");
  if (request.kind === "revoke")
    return key.revokedMs === null ? accept({ ...key, revokedMs: request.atMs }) : unchanged(key);
  if (key.revokedMs !== null) return refuse("revoked-key");
  if (request.kind === "rotate") {
    if (facts.hashHolder !== null) return refuse("hash-taken");
    const former = key.secrets.map((secret) => endBy(secret, request.graceUntilMs));
    return accept({ ...key, secrets: [{ hash: request.hash, untilMs: null }, ...former] });
  }
  if (facts.nameHolder !== null && facts.nameHolder !== key.id) return refuse("name-taken");
  return accept(updated(key, request.change));
}

const CHANGEABLE: readonly (keyof KeyUpdate)[] = [
  "name",
  "owner",
  "tags",
  "models",
  "debug",
  "trusted",
  "limits",
  "expiresMs",
];

/** Takes over what may change and nothing else, whatever else came along in a change read from JSON. */
function updated(key: StoredKey, change: KeyUpdate): StoredKey {
  const given = CHANGEABLE.filter((member) => change[member] !== undefined);
  return { ...key, ...Object.fromEntries(given.map((member) => [member, change[member]])) };
}

function decideCreate(key: StoredKey, { named, nameHolder, hashHolder }: KeyFacts): KeyDecision {
  if (named.some(({ id }) => id === key.id)) throw violation(`The id ${key.id} was used before.`);
  if (nameHolder !== null) return refuse("name-taken");
  return hashHolder === null ? accept(key) : refuse("hash-taken");
}

/** An id comes before a name, a key that lives before revoked ones, and of those the youngest. */
function meant(identity: string, named: readonly StoredKey[]): StoredKey | null {
  const byId = named.find(({ id }) => id === identity);
  if (byId !== undefined) return byId;
  const living = named.find(({ revokedMs }) => revokedMs === null);
  return living ?? named.toSorted((one, other) => other.createdMs - one.createdMs)[0] ?? null;
}

const endBy = ({ hash, untilMs }: KeySecret, endMs: number): KeySecret => ({
  hash,
  untilMs: untilMs === null ? endMs : Math.min(untilMs, endMs),
});

const accept = (key: StoredKey): KeyDecision => ({ answer: { ok: true, key }, write: key });
const unchanged = (key: StoredKey): KeyDecision => ({ answer: { ok: true, key }, write: null });
const refuse = (reason: KeyRefusal): KeyDecision => ({ answer: { ok: false, reason }, write: null });

function requireHash(hash: string): void {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw violation("A hash of a key is 64 lower-case hexadecimal digits.");
}

const violation = (message: string): GatewayError => new GatewayError("state_violation", message);
