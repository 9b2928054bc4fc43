/** The upstream client over plain sockets. */
export { createWireClient } from "./wire-client.ts";
export type { WireTlsOptions } from "./connector.ts";
export type { WireClient, WireClientOptions, WireStats } from "./wire-client.ts";
