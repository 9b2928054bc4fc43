/** The source form of the configuration as TypeScript sees it, so that an embedding host gets its mistakes at compile time. */
import type { CapabilityOverrides } from "../dialect/index.ts";
import type { CountersConfig, LedgerConfig } from "./ledger-settings.ts";
import type { GatewayLimitsConfig, LimitConfig, OwnerConfig } from "./limit-config.ts";
import type { DeploymentPrice, PricesConfig } from "./price-row.ts";
import type { DebugHeaders, TelemetrySettings } from "./snapshot.ts";
import type { DurationText, SecretText, SizeText } from "./value-texts.ts";

/** Configuration version 1. The JSON Schema is the reference; this type accepts no more than it. */
export interface GatewayConfig {
  readonly $schema?: string;
  readonly version: 1;
  readonly server?: ServerConfig;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly models: Readonly<Record<string, ModelConfig | readonly string[]>>;
  readonly owners?: Readonly<Record<string, OwnerConfig>>;
  readonly keys?: readonly KeyConfig[];
  readonly limits?: GatewayLimitsConfig;
  readonly prices?: PricesConfig;
  readonly ledger?: LedgerConfig;
  readonly counters?: CountersConfig;
  readonly telemetry?: Partial<TelemetrySettings>;
}

/** Where the data port listens and what a client may ask of it. */
export interface ServerConfig {
  readonly host?: string;
  readonly port?: number;
  readonly maxBody?: SizeText;
  readonly maxHeldResponseBytes?: SizeText;
  readonly headers?: { readonly debug?: DebugHeaders };
  readonly limits?: {
    readonly maxConnections?: number;
    readonly maxHead?: SizeText;
    readonly headTimeout?: DurationText;
    readonly bodyTimeout?: DurationText;
    readonly idleTimeout?: DurationText;
    readonly maxQueue?: SizeText;
  };
  readonly sse?: { readonly keepAlive?: DurationText | "off"; readonly maxRecord?: SizeText };
  readonly frontEnd?: "node" | "wire";
  readonly trustedProxies?: readonly string[];
  readonly authThrottle?: { readonly failures?: number; readonly per?: DurationText } | "off";
  readonly shutdown?: DurationText;
}

/** An upstream account. */
export interface ProviderConfig {
  readonly kind: string;
  readonly baseUrl?: string;
  readonly credentials?: readonly SecretText[];
  readonly credentialHeader?: { readonly name: string; readonly prefix?: string };
  readonly profile?: string | (Readonly<Record<string, unknown>> & { readonly extends: string });
  readonly headers?: Readonly<Record<string, SecretText>>;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A public model in its long form. */
export interface ModelConfig {
  readonly aliases?: readonly string[];
  readonly deployments: readonly DeploymentConfig[];
  readonly strategy?: "weighted";
  readonly attempts?: number;
  readonly timeouts?: TimeoutsConfig;
  readonly lossy?: LossyConfig;
  readonly limits?: readonly LimitConfig[];
  readonly options?: Readonly<Record<string, unknown>>;
}

/** One deployment of a model. */
export interface DeploymentConfig {
  readonly id?: string;
  readonly provider: string;
  readonly model: string;
  readonly tier?: number;
  readonly weight?: number;
  readonly capabilities?: CapabilityOverrides;
  readonly disconnect?: { readonly mode?: "drain" | "cancel"; readonly maxMs?: number; readonly maxBytes?: SizeText };
  readonly timeouts?: TimeoutsConfig;
  readonly lossy?: LossyConfig;
  readonly limits?: readonly LimitConfig[];
  readonly prices?: DeploymentPrice | readonly DeploymentPrice[];
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Time limits. */
export interface TimeoutsConfig {
  readonly connect?: DurationText;
  readonly firstContent?: DurationText | "off";
  readonly idle?: DurationText | "off";
  readonly total?: DurationText;
  readonly commitAfter?: DurationText | "off";
}

/** What a translation may drop: reason codes and presets such as `@hints`. */
export interface LossyConfig {
  readonly allow: readonly string[];
}

/** A virtual key, known by its hash. */
export interface KeyConfig {
  readonly name: string;
  readonly hash: SecretText;
  readonly owner?: string;
  readonly tags?: readonly string[];
  readonly models: readonly string[];
  readonly expires?: string;
  readonly disabled?: boolean;
  readonly debug?: boolean;
  readonly trusted?: boolean;
  readonly limits?: readonly LimitConfig[];
}
