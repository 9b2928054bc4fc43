/** `@dragoman/ledger/valkey`: limits of several machines, counted in a Valkey or Redis server. */
export { createValkeyCounters } from "../counters/valkey/valkey-counters.ts";
export type { ValkeyClient, ValkeyCountersOptions } from "../counters/valkey/valkey-counters.ts";
