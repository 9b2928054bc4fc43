/// <reference types="node" preserve="true" />
/** dragoman/fetch: a gateway as a WHATWG fetch handler. */
export { fetchGateway } from "./fetch-gateway.ts";
export type { FetchGateway, FetchGatewayOptions } from "./fetch-gateway.ts";
export type { EmbeddedGateway, HostPrincipal, HostPrincipalAnswer, PrincipalSource } from "../embedding/index.ts";
