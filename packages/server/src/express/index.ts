/// <reference types="node" preserve="true" />
/** dragoman/express: a gateway as Express middleware. */
export { expressGateway } from "./express-gateway.ts";
export type { ExpressGateway, ExpressGatewayOptions } from "./express-gateway.ts";
export type { EmbeddedGateway, HostPrincipal, HostPrincipalAnswer, PrincipalSource } from "../embedding/index.ts";
export type { ConnectionProblem, HttpLimits, MountOptions } from "../http/index.ts";
