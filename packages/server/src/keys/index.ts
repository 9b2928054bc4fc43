/** Virtual keys. */
export { createKey, hashKey } from "./create-key.ts";
export { KeyRing } from "./key-ring.ts";
