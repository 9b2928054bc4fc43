/** Virtual keys: how one is made and what is kept of it. The key itself is shown once and never stored. */
import type { Random } from "@dragoman/core";

import { NODE_HASHER } from "../ports/index.ts";

/** What every virtual key starts with, so that scanners for leaked secrets can know it. */
const KEY_PREFIX = "dgm_";

/** Base62 characters after the prefix: 32 of them carry 190 bits. */
const KEY_CHARACTERS = 32;

/** A fresh virtual key. `random.id` has to be unguessable. */
export function createKey(random: Pick<Random, "id">): string {
  return KEY_PREFIX + random.id(KEY_CHARACTERS);
}

/** What the configuration keeps of a key: `sha256:` and lower-case hexadecimal digits. */
export function hashKey(key: string): string {
  return `sha256:${NODE_HASHER.sha256Hex(key)}`;
}
