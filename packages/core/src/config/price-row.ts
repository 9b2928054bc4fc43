/** A row of a price table as people write it: USD per million tokens, with the page it was read from and the day. Plain data. */

/** Rates in USD per million tokens. A missing rate has the default its member names. */
export interface PriceRates {
  readonly input: number;
  /** Input read from a cache. Default: `input`. */
  readonly cacheRead?: number;
  /** Input written to a cache: one rate, or rates by time to live in seconds. Default: `input`. */
  readonly cacheWrite?: number | Readonly<Record<number, number>>;
  /** Uncached audio input. Default: `input`. */
  readonly inputAudio?: number;
  /** Uncached image input. Default: `input`. */
  readonly inputImage?: number;
  readonly output: number;
  /** Reasoning, where it is priced apart. Default: `output`. */
  readonly reasoning?: number;
  /** Default: `output`. */
  readonly outputAudio?: number;
}

/** Rates for calls whose whole input is longer than `aboveInputTokens`; they hold for the whole call, output included. */
export interface PriceTier extends PriceRates {
  readonly aboveInputTokens: number;
}

/** The price of a model, or of all models whose ids begin alike. */
export interface PriceRow extends PriceRates {
  /** A model id, or a beginning followed by `*`. */
  readonly model: string;
  /** First day (UTC) on which it holds, `YYYY-MM-DD`. Default: it has always held. */
  readonly from?: string;
  /** The page that states it, or who agreed on it. */
  readonly source?: string;
  /** The day on which that page was read, `YYYY-MM-DD`. */
  readonly day?: string;
  /** Longer prompts, shortest first. A tier names every rate that the row names. */
  readonly tiers?: readonly PriceTier[];
  /** USD for every call that the provider took on, on top of tokens. Default 0. */
  readonly perRequest?: number;
  /** USD for each use of a tool that runs at the provider, by the name the provider counts it under. */
  readonly serverTools?: Readonly<Record<string, number>>;
}

/** The price of a deployment: a row that need not name the model. */
export type DeploymentPrice = Omit<PriceRow, "model"> & Partial<Pick<PriceRow, "model">>;

/** The operator's own prices. Rows of the configuration win over those of the file, and both over the built-in table. */
export interface PricesConfig {
  /** A YAML or JSON file that holds a list of rows. */
  readonly file?: string;
  readonly rows?: readonly PriceRow[];
}
