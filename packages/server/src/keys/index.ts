/** Virtual keys. */
export { AddressThrottle } from "./auth-throttle.ts";
export { createKey, hashKey } from "./create-key.ts";
export { KeyRing } from "./key-ring.ts";
export { logHiddenKeys, StoredKeyRing } from "./stored-key-ring.ts";
export { StoredKeys } from "./stored-keys.ts";
