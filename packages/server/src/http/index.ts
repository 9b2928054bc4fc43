// The node:http front end's doors.

export { DEFAULT_HTTP_LIMITS } from "./http-limits.ts";
export type { HttpLimits } from "./http-limits.ts";
export { createHttpServer } from "./http-server.ts";
export type { HttpServer, HttpServerOptions } from "./http-server.ts";
export { createNodeHandler } from "./node-handler.ts";
export type { ConnectionProblem, NodeHandler, NodeHandlerOptions } from "./node-handler.ts";
export type { EncodeRefusal, Refusal, RefusalCode } from "./refusal.ts";
