/** Virtual keys. */
export { createKey, hashKey, KEY_PREFIX } from "./create-key.ts";
export { KeyRing } from "./key-ring.ts";
