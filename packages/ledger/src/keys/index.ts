/** Virtual keys and their owners. */
export { decideKeyChange, questionOf } from "./key-changes.ts";
export type { KeyFacts, KeyQuestion, KeyRequest } from "./key-changes.ts";
export { KeyDesk } from "./key-desk.ts";
export type { KeyBackend } from "./key-desk.ts";
export type { KeyChange, KeyDirectory, KeyRefusal, KeySecret, KeyStore, StoredKey, StoredOwner } from "./stored-key.ts";
