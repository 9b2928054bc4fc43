/// <reference types="node" preserve="true" />
/** dragoman/fastify: a gateway as a Fastify plugin. */
export { fastifyGateway } from "./fastify-gateway.ts";
export type { FastifyGatewayOptions } from "./fastify-gateway.ts";
export type { EmbeddedGateway, HostPrincipal, HostPrincipalAnswer, PrincipalSource } from "../embedding/index.ts";
export type { ConnectionProblem, HttpLimits, MountOptions } from "../http/index.ts";
