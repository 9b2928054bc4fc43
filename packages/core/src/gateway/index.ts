/** The engine: exchanges, attempts and the pipeline, behind ports. */
export { GatewayEngine } from "./gateway.ts";
export type { EncodedRefusal, GatewayEngineOptions, HandleOptions } from "./gateway.ts";
export type { Explanation, ExplainRequest, Verdict } from "./explain.ts";
export type { ExchangeOutcome, Observer } from "./outcome.ts";
export { FREE_ADMISSION } from "./free-admission.ts";
export { DEFAULT_ENGINE_LIMITS } from "./limits.ts";
export type { EngineLimits } from "./limits.ts";
export type {
  CommitVerdict,
  CommitView,
  EventHook,
  EventTap,
  Hook,
  HookBlock,
  HookView,
  RequestHook,
  RequestVerdict,
  RequestView,
} from "./hook.ts";
export type { PartsReadiness } from "./local-routes.ts";
export { maskSecrets } from "./mask-secrets.ts";
export type {
  Admission,
  AdmissionRefusal,
  AdmissionResult,
  AdmittedExchange,
  AttemptTarget,
  Authenticator,
  AuthThrottle,
  BodyBuffer,
  BodyReading,
  ClientRequest,
  Clock,
  Hasher,
  HoldRequest,
  Logger,
  MaybeAsync,
  Ports,
  Principal,
  Random,
  Responder,
  Settlement,
  SettlementRule,
  Ticket,
  Timer,
  UpstreamCall,
  UpstreamClient,
  UpstreamFailure,
  UpstreamRequest,
  UpstreamSink,
} from "./ports.ts";
