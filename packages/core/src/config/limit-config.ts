/** The one shape of a limit, as configurations and stores of keys spell it. The ledger compiles it to whole numbers. */

/** A limit. Exactly one of the counted members is there. */
export interface LimitConfig {
  readonly requests?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Input and output together. */
  readonly tokens?: number;
  /** At most nine decimals, at most 9,007,199. */
  readonly usd?: number;
  /** Calls at once; has no `per` and no `alertAt`. */
  readonly parallel?: number;
  /** `minute`, `hour`, `day`, `week`, `month`: aligned to the UTC calendar. `30s`, `10m`, `1h`: sliding, up to an hour. */
  readonly per?: string;
  /** Shares of the limit, above 0 and at most 1, at which an alert is raised once per window. */
  readonly alertAt?: readonly number[];
}

/** Limits of whoever owns keys. */
export interface OwnerConfig {
  /** Of all its keys together. */
  readonly limits?: readonly LimitConfig[];
  /** Of each of its keys. */
  readonly eachKey?: readonly LimitConfig[];
}

/** Limits of the gateway itself. */
export interface GatewayLimitsConfig {
  /** Of all requests together. */
  readonly global?: readonly LimitConfig[];
  /** Of each end user; one that several keys of an owner name alike is one. */
  readonly eachEndUser?: readonly LimitConfig[];
}
