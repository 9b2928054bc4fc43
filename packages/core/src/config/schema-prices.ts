/** Schema of prices: the row that tables, price files and deployments share. The ledger checks the decimals. */
import { closed, refer } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

const rate = (description: string): JsonSchema => ({ type: "number", minimum: 0, maximum: 9000, description });

const day = (description: string): JsonSchema => ({
  title: "a day",
  type: "string",
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description,
  examples: ["2030-01-31"],
});

const RATES: Readonly<Record<string, JsonSchema>> = {
  input: rate("Input."),
  output: rate("Output."),
  cacheRead: rate("Input read from a cache. Default: input."),
  cacheWrite: {
    title: "USD per million tokens, or an object of them by time to live in seconds",
    type: ["number", "object"],
    minimum: 0,
    maximum: 9000,
    propertyNames: { title: "a number of seconds", type: "string", pattern: "^[1-9][0-9]{0,8}$" },
    additionalProperties: rate("One rate."),
    description: "Input written to a cache: one rate, or rates by time to live in seconds. Default: input.",
    examples: [1.25, { "300": 1.25, "3600": 2 }],
  },
  inputAudio: rate("Audio input that was not cached. Default: input."),
  inputImage: rate("Image input that was not cached. Default: input."),
  reasoning: rate("Reasoning, where it is priced apart. Default: output."),
  outputAudio: rate("Audio output. Default: output."),
};

const usd = (description: string): JsonSchema => ({ type: "number", minimum: 0, maximum: 9_007_199, description });

/** One price. */
export const PRICE_DEFINITION: JsonSchema = closed(
  {
    model: {
      title: "a model id, or a beginning followed by *",
      type: "string",
      maxLength: 256,
      pattern: "^([\\x21-\\x29\\x2b-\\x7e]+\\*?|\\*)$",
      description: "The upstream's model id, or a beginning followed by *. On a deployment it may be left out.",
      examples: ["large-2", "large-*"],
    },
    from: day("First day (UTC) on which it holds. Default: it has always held."),
    ...RATES,
    perRequest: usd("USD for every call, on top of tokens. Default: 0."),
    serverTools: {
      type: "object",
      additionalProperties: usd("USD for one use."),
      description: "USD for each use of a tool that runs at the provider, by the name the provider counts it under.",
      examples: [{ web_search: 0.01 }],
    },
    tiers: {
      type: "array",
      maxItems: 16,
      items: closed(
        {
          aboveInputTokens: { type: "integer", minimum: 1, description: "Input tokens of the whole call." },
          ...RATES,
        },
        { required: ["aboveInputTokens", "input", "output"] },
      ),
      description: "Rates of calls with more input than that, shortest first. A tier names every rate of its row.",
    },
    source: { type: "string", minLength: 1, description: "The page that states it, or who agreed on it." },
    day: day("The day on which that was read."),
  },
  { required: ["input", "output"] },
);

const rows = (description: string): JsonSchema => ({
  type: "array",
  items: refer("price", { type: "object", required: ["model"] }),
  description,
});

/** What a price file holds. */
export const PRICE_FILE_SCHEMA: JsonSchema = {
  title: "a list of prices",
  ...rows("A list of prices."),
  maxItems: 10_000,
};

/** The `prices` of a deployment: one, or several. The kinds of JSON value keep the two forms apart. */
export const DEPLOYMENT_PRICES_SCHEMA: JsonSchema = {
  title: "a price, or a list of prices",
  type: ["object", "array"],
  if: { not: { type: "object" } },
  else: refer("price"),
  items: refer("price"),
  minItems: 1,
  description: "What this deployment costs, over every table: one price, or several, e.g. from different days on.",
  examples: [{ input: 0.25, output: 2 }],
};

/** The `prices` member. */
export const PRICES_SCHEMA: JsonSchema = closed(
  {
    file: {
      type: "string",
      minLength: 1,
      description: "A YAML or JSON file that holds a list of prices; relative to this file.",
      examples: ["prices.yaml"],
    },
    rows: { ...rows("Prices, over those of the file."), maxItems: 10_000, default: [] },
  },
  {
    description:
      "Prices over the built-in table of list prices. An exact id wins over one without its date, and that over the longest beginning.",
  },
);
