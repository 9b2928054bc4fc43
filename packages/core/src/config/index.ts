/** Configuration: its schema, its checks, and the frozen snapshot compiled from it. */
export { compileConfig } from "./compile.ts";
export type { CompileOptions, CompileResult } from "./compile.ts";
export { ConfigValidator } from "./validate.ts";
export { CONFIG_SCHEMA } from "./schema.ts";
export type { JsonSchema } from "./schema-values.ts";
export { GenerationHolder } from "./generation.ts";
export { isModelAllowed } from "./glob.ts";
export { suggest } from "./suggest.ts";
export { pointerTokens } from "./problem.ts";
export type { SecretReference, SecretResolution, SecretResolver } from "./secret-reference.ts";
export { Credential } from "./credential.ts";
export type { UpstreamOrigin } from "./upstream-origin.ts";
export type { ConfigProblem } from "./problem.ts";
export type {
  DeploymentConfig,
  DurationText,
  GatewayConfig,
  KeyConfig,
  LossyConfig,
  ModelConfig,
  ProviderConfig,
  SecretText,
  ServerConfig,
  SizeText,
  TimeoutsConfig,
} from "./gateway-config.ts";
export type {
  CredentialHeader,
  DebugHeaders,
  Deployment,
  DisconnectPolicy,
  KeyRecord,
  Model,
  Provider,
  ResolvedModel,
  ServerLimits,
  ServerSettings,
  Snapshot,
  SseSettings,
  TelemetrySettings,
  Tiers,
  Timeouts,
} from "./snapshot.ts";
