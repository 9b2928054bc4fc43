/**
 * A compiled configuration. Everything in it is frozen, maps and sets included; a request loads one snapshot and keeps it to its
 * end, so that nothing changes under it.
 */
import type { Capabilities, HeaderList, Profile, ProviderKind } from "../dialect/index.ts";
import type { DialectId } from "../ir/index.ts";
import type { Credential } from "./credential.ts";
import type { CounterSettings, LedgerSettings } from "./ledger-settings.ts";
import type { LimitConfig } from "./limit-config.ts";
import type { PriceRow } from "./price-row.ts";
import type { UpstreamOrigin } from "./upstream-origin.ts";

/** Who sees diagnostic headers: nobody, keys with `debug`, or everybody. */
export type DebugHeaders = "off" | "key" | "on";

/** What the front ends and the engine need to know of `server`. Times in milliseconds, sizes in bytes. */
export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  readonly maxBodyBytes: number;
  /** A non-streamed answer commits when it is complete or larger than this. */
  readonly maxHeldResponseBytes: number;
  readonly debugHeaders: DebugHeaders;
  readonly limits: ServerLimits;
  readonly sse: SseSettings;
  /** Which HTTP front end a standalone server uses; a host that embeds the gateway brings its own. */
  readonly frontEnd: "node" | "wire";
  /** Addresses and blocks of them (CIDR) as they are written; the front ends' side reads them. */
  readonly trustedProxies: readonly string[];
  /** Null = off. */
  readonly authThrottle: AuthThrottleSettings | null;
  /** How long a shutdown waits for running exchanges. */
  readonly shutdownMs: number;
}

/** When failed authentications of one address are answered with 429. */
export interface AuthThrottleSettings {
  readonly failures: number;
  readonly windowMs: number;
}

/** Bounds of client connections and of what one exchange may buffer. */
export interface ServerLimits {
  readonly maxConnections: number;
  readonly maxHeadBytes: number;
  readonly headTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Bytes that wait for a slow client before the upstream is paused. */
  readonly maxQueueBytes: number;
}

/** Settings of event streams. */
export interface SseSettings {
  /** Silence towards the client after which a keep-alive is written; null = never. */
  readonly keepAliveMs: number | null;
  /** One upstream record beyond this is a protocol error. */
  readonly maxRecordBytes: number;
}

/** What is logged. */
export interface TelemetrySettings {
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  /** One line per request, without content. */
  readonly requestLog: boolean;
}

/** The header that carries a provider's credential; `name` is lower case. */
export interface CredentialHeader {
  readonly name: string;
  readonly prefix: string;
}

/** An upstream account. */
export interface Provider {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly origin: UpstreamOrigin;
  /** Empty or `/…` without a slash at the end; a provider dialect's path is appended to it. */
  readonly basePath: string;
  readonly credentialHeader: CredentialHeader;
  /** Never empty: an account without credentials has one whose secret is null. */
  readonly credentials: readonly Credential[];
  /** Profile of the kind's first dialect. */
  readonly profileName: string;
  /** Static headers for every call, with names in lower case. */
  readonly headers: HeaderList;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Time limits of an exchange in milliseconds; null = none. */
export interface Timeouts {
  readonly connectMs: number;
  /** Streamed calls only: from the request to the first content. */
  readonly firstContentMs: number | null;
  /** Streamed calls only: between two signs of life. */
  readonly idleMs: number | null;
  readonly totalMs: number;
  /** Streaming clients get status 200 and keep-alives after this wait, though nothing is committed; null = off. */
  readonly commitAfterMs: number | null;
}

/** What happens upstream when a client leaves. */
export interface DisconnectPolicy {
  readonly mode: "drain" | "cancel";
  readonly maxMs: number;
  readonly maxBytes: number;
}

/** A provider and one of its models, with all that an encoder needs. */
export interface Deployment {
  /** Names it in logs, health state and the ledger. Deployments of several models share it when they name the same upstream. */
  readonly id: string;
  readonly provider: Provider;
  /** The upstream's model id. In a glob model it may hold one `*`, which `Snapshot.findModel` has filled in. */
  readonly model: string;
  readonly tier: number;
  readonly weight: number;
  /** Dialects it speaks, best first, each with its compiled profile. */
  readonly profiles: ReadonlyMap<DialectId, Profile>;
  readonly capabilities: Capabilities;
  /** Equal for equal capabilities. */
  readonly capabilitiesKey: string;
  /**
   * Equal for deployments whose encodings in one dialect are equal: kind, upstream model, profiles, capabilities, allowed losses
   * and options are the same. Account and deployment id are not part of it.
   */
  readonly encodingKey: string;
  readonly disconnect: DisconnectPolicy;
  readonly timeouts: Timeouts;
  readonly lossyAllow: ReadonlySet<string>;
  /** Limits as they are written. Of deployments that share an id the ones of any count for all. */
  readonly limits: readonly LimitConfig[];
  /** Prices as they are written, over those of every table. */
  readonly prices: readonly PriceRow[];
  /** The provider's options under the model's under the deployment's. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Deployments by tier, first tier first; no tier is empty. */
export type Tiers = readonly (readonly Deployment[])[];

/** A public model name with its routing policy. */
export interface Model {
  readonly name: string;
  readonly isGlob: boolean;
  readonly aliases: readonly string[];
  readonly tiers: Tiers;
  readonly strategy: "weighted";
  /** Attempts per deployment. */
  readonly attempts: number;
  readonly timeouts: Timeouts;
  readonly lossyAllow: ReadonlySet<string>;
  /** In a glob model each name has them for itself. */
  readonly limits: readonly LimitConfig[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** The model that a name stands for. */
export interface ResolvedModel {
  readonly model: Model;
  /** The model's own name where it was found by name or alias; for a glob the name that was asked for. */
  readonly name: string;
  /** Use these and not `model.tiers`: in a glob model the captured text is filled in. */
  readonly tiers: Tiers;
}

/** A virtual key: whom its holder is, and until when. It has every member of a principal. */
export interface KeyRecord {
  /** The key's name. */
  readonly id: string;
  /** Lower-case hexadecimal SHA-256 of the key. */
  readonly hash: string;
  readonly owner: string | null;
  readonly tags: readonly string[];
  /** Globs over public model names; `["*"]` = all. */
  readonly models: readonly string[];
  readonly debug: boolean;
  /** May name end users and tags in headers. */
  readonly isTrusted: boolean;
  readonly limits: readonly LimitConfig[];
  readonly isDisabled: boolean;
  /** Milliseconds since 1970; from then on the key is nobody's. Null = never. */
  readonly expiresMs: number | null;
}

/** Who answers for keys. */
export interface OwnerRecord {
  readonly id: string;
  /** Of all its keys together. */
  readonly limits: readonly LimitConfig[];
  /** Of each of its keys. */
  readonly eachKey: readonly LimitConfig[];
}

/** Limits of the gateway itself. */
export interface GatewayLimits {
  readonly global: readonly LimitConfig[];
  readonly eachEndUser: readonly LimitConfig[];
}

/** The operator's prices: rows of the configuration win over those of its price file. */
export interface PriceSettings {
  readonly rows: readonly PriceRow[];
  readonly fileRows: readonly PriceRow[];
}

/** One generation of the configuration. */
export interface Snapshot {
  readonly generation: number;
  readonly server: ServerSettings;
  readonly telemetry: TelemetrySettings;
  readonly providers: ReadonlyMap<string, Provider>;
  /** By deployment id. */
  readonly deployments: ReadonlyMap<string, Deployment>;
  /** In the order of the configuration. */
  readonly models: readonly Model[];
  /** By the SHA-256 of the key, lower-case hexadecimal. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
  /** By name. Keys may name owners that are not here. */
  readonly owners: ReadonlyMap<string, OwnerRecord>;
  readonly limits: GatewayLimits;
  readonly prices: PriceSettings;
  readonly ledger: LedgerSettings;
  readonly counters: CounterSettings;
  /** Looks a public name up: exact name, then alias, then the longest glob. Null = no such model. */
  findModel(name: string): ResolvedModel | null;
}
