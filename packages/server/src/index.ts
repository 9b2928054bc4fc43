/// <reference types="node" preserve="true" />
/** dragoman: an LLM gateway as a library, with the standalone server and its HTTP front end. */
export { createGateway } from "./create-gateway.ts";
export type { CreateGatewayOptions, Gateway, GatewayClient, GatewayEvents, LedgerView } from "./create-gateway.ts";
export type { EmbeddedGateway, HostPrincipal, HostPrincipalAnswer, PrincipalSource } from "./embedding/index.ts";
export { serve } from "./serve.ts";
export type { RunningServer, ServeOptions } from "./serve.ts";
export { createHttpServer, createNodeHandler, DEFAULT_HTTP_LIMITS } from "./http/index.ts";
export type {
  BodyCollector,
  BodySource,
  ConnectionProblem,
  EncodedRefusal,
  EncodeRefusal,
  FrontEndOptions,
  HttpLimits,
  HttpServer,
  HttpServerOptions,
  MountOptions,
  NodeHandler,
  NodeHandlerOptions,
  Refusal,
  RefusalCode,
  Schedule,
} from "./http/index.ts";
export { createWireClient } from "./wire/index.ts";
export type { WireClient, WireClientOptions, WireStats, WireTlsOptions } from "./wire/index.ts";
export { createPinoLogger } from "./telemetry/pino-logger.ts";
export { tuneProcess } from "./process-tuning.ts";
export { VERSION } from "./version.ts";
export {
  BodyPool,
  defineClientDialect,
  defineProviderDialect,
  Edits,
  GatewayError,
  isGatewayError,
  retainText,
  textToString,
} from "@dragoman/core";
export type {
  ClientDialectDefinition,
  ClientRequest,
  CommitVerdict,
  CommitView,
  ConfigFolder,
  EventHook,
  EventTap,
  ExchangeOutcome,
  Explanation,
  ExplainRequest,
  GatewayConfig,
  Hook,
  HookBlock,
  HookView,
  Logger,
  Principal,
  ProviderDialectDefinition,
  RequestHook,
  RequestVerdict,
  RequestView,
  Responder,
  Settlement,
  SettlementRule,
  StreamEvent,
} from "@dragoman/core";
