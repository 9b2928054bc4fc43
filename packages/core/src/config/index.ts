/** Configuration: its schema, its checks, and the frozen snapshot compiled from it. */
export { compileConfig } from "./compile.ts";
export type { CompileOptions, CompileResult } from "./compile.ts";
export { ConfigValidator } from "./validate.ts";
export { CONFIG_SCHEMA } from "./schema.ts";
export type { JsonSchema } from "./schema-values.ts";
export { GenerationHolder } from "./generation.ts";
export { isModelAllowed } from "./glob.ts";
export { suggest } from "./suggest.ts";
export { pointer, pointerTokens } from "./problem.ts";
export type { ConfigFolder, PriceFileReading } from "./config-folder.ts";
export { Secret } from "./secret.ts";
export type { GatewayLimitsConfig, LimitConfig, OwnerConfig } from "./limit-config.ts";
export type { DeploymentPrice, PriceRates, PriceRow, PricesConfig, PriceTier } from "./price-row.ts";
export type {
  CountersConfig,
  CounterSettings,
  Durability,
  LedgerConfig,
  LedgerSettings,
  StoreConfig,
  StoreSettings,
} from "./ledger-settings.ts";
export type { SecretReference, SecretResolution, SecretResolver } from "./secret-reference.ts";
export { Credential } from "./credential.ts";
export type { UpstreamOrigin } from "./upstream-origin.ts";
export type { DurationText, SecretText, SizeText } from "./value-texts.ts";
export type { ConfigProblem } from "./problem.ts";
export type {
  DeploymentConfig,
  GatewayConfig,
  KeyConfig,
  LossyConfig,
  ModelConfig,
  ProviderConfig,
  ServerConfig,
  TimeoutsConfig,
} from "./gateway-config.ts";
export type {
  AuthThrottleSettings,
  CredentialHeader,
  DebugHeaders,
  Deployment,
  DisconnectPolicy,
  GatewayLimits,
  KeyRecord,
  Model,
  OwnerRecord,
  PriceSettings,
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
