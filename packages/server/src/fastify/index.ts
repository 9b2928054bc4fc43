/// <reference types="node" preserve="true" />
/** dragoman/fastify: a gateway as a Fastify plugin. */
export { fastifyGateway } from "./fastify-gateway.ts";
export type { FastifyGatewayOptions } from "./fastify-gateway.ts";
export type { HostPrincipal, PrincipalSource } from "../embedding/index.ts";
