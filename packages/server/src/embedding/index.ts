// What every way of embedding shares.

export { readBasePath, stripBasePath } from "./base-path.ts";
export type { EmbeddedGateway } from "./embedded-gateway.ts";
export { completePrincipal, identifyBy } from "./host-principal.ts";
export type { HostPrincipal, HostPrincipalAnswer, PrincipalSource } from "./host-principal.ts";
