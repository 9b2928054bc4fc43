/** Virtual keys and their owners. */
export type { KeyChange, KeyDirectory, KeyRefusal, KeySecret, KeyStore, StoredKey, StoredOwner } from "./stored-key.ts";
