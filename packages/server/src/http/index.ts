// The node:http front end's doors.

export { createNodeHandler, MountedGateway } from "./create-node-handler.ts";
export type { MountOptions, NodeHandler, NodeHandlerOptions } from "./create-node-handler.ts";
export { DEFAULT_HTTP_LIMITS } from "./http-limits.ts";
export type { HttpLimits } from "./http-limits.ts";
export { createHttpServer } from "./http-server.ts";
export type { HttpServer, HttpServerOptions } from "./http-server.ts";
export type { ConnectionProblem, FrontEndOptions } from "./node-handler.ts";
export type { BodyCollector, BodySource } from "./body-reader.ts";
export type { Schedule } from "./connection.ts";
export type { EncodedRefusal, EncodeRefusal, Refusal, RefusalCode } from "./refusal.ts";
