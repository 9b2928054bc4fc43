/** Keys and owners as a store keeps them, outside configuration and its generations. Plain data. */
import type { LimitConfig } from "@dragoman/core";

/** One secret of a key, known by its hash only. */
export interface KeySecret {
  /** Lower-case hexadecimal SHA-256 of the key. */
  readonly hash: string;
  /** From then on it is nobody's, though the key lives on: the grace of a rotation. Milliseconds since 1970; null = never. */
  readonly untilMs: number | null;
}

/** A virtual key. */
export interface StoredKey {
  /** `key_` and 16 base62 characters: what entries and limits name it by. Never used again. */
  readonly id: string;
  /** For people. Unique among the keys that are not revoked. */
  readonly name: string;
  /** Newest first, never empty. */
  readonly secrets: readonly KeySecret[];
  readonly owner: string | null;
  readonly tags: readonly string[];
  /** Globs over public model names; `["*"]` = all, `[]` = none. */
  readonly models: readonly string[];
  readonly debug: boolean;
  /** May name end users and tags in headers. */
  readonly trusted: boolean;
  readonly limits: readonly LimitConfig[];
  readonly createdMs: number;
  readonly expiresMs: number | null;
  readonly revokedMs: number | null;
}

/** An owner: a team, a customer, a project. */
export interface StoredOwner {
  readonly id: string;
  readonly limits: readonly LimitConfig[];
  /** Limits of each of its keys. */
  readonly eachKey: readonly LimitConfig[];
}

/** All keys and owners at one moment. */
export interface KeyDirectory {
  /** Grows with every change. */
  readonly revision: number;
  readonly keys: readonly StoredKey[];
  readonly owners: readonly StoredOwner[];
}

/** Why a change of keys was not made. */
export type KeyRefusal = "unknown-key" | "revoked-key" | "name-taken" | "hash-taken";

/** What became of a change. */
export type KeyChange =
  | { readonly ok: true; readonly key: StoredKey }
  | { readonly ok: false; readonly reason: KeyRefusal };

/** Where keys and owners are kept. Every change is one transaction and raises the revision. */
export interface KeyStore {
  /** Cheap: asked often, to find out whether `load` is worth it. */
  revision(): Promise<number>;
  load(): Promise<KeyDirectory>;
  create(key: StoredKey): Promise<KeyChange>;
  /** `name` or id. Revoking twice keeps the first time. */
  revoke(key: string, atMs: number): Promise<KeyChange>;
  /** Puts a new secret first; the ones before end at `graceUntilMs` unless they end earlier. */
  rotate(key: string, hash: string, graceUntilMs: number): Promise<KeyChange>;
  /** Changes what is given and leaves the rest. */
  update(
    key: string,
    change: Partial<
      Pick<StoredKey, "name" | "owner" | "tags" | "models" | "debug" | "trusted" | "limits" | "expiresMs">
    >,
  ): Promise<KeyChange>;
  putOwner(owner: StoredOwner): Promise<void>;
  /** Whether there was one. Its keys stay, without its limits. */
  removeOwner(id: string): Promise<boolean>;
}
