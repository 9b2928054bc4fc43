/** Schema of limits: the one shape, and the places of their own that owners and the gateway have for them. */
import { closed, refer } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

const count = (description: string): JsonSchema => ({
  type: "integer",
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description,
});

/** A list of limits. The ledger checks what a schema cannot say, such as two limits of one thing. */
export const LIMITS_DEFINITION: JsonSchema = {
  type: "array",
  maxItems: 32,
  items: closed({
    requests: count("Requests."),
    inputTokens: count("Input tokens."),
    outputTokens: count("Output tokens."),
    tokens: count("Input and output tokens together."),
    usd: {
      type: "number",
      minimum: 0,
      maximum: 9_007_199,
      description: "USD, with at most nine decimals.",
    },
    parallel: { type: "integer", minimum: 1, maximum: 1_000_000, description: "Calls at once; without per." },
    per: {
      title: "minute, hour, day, week, month, or a duration of at most an hour",
      type: "string",
      pattern: "^(minute|hour|day|week|month|[1-9][0-9]{0,6}[smh])$",
      description:
        "The window: minute, hour, day, week or month of the UTC calendar (weeks begin on Monday), or a sliding one such as 30s, 10m or 1h, up to an hour.",
      examples: ["minute", "month", "10m"],
    },
    alertAt: {
      type: "array",
      items: { type: "number", exclusiveMinimum: 0, maximum: 1 },
      description: "Shares of the limit at which an alert is raised, once per window.",
      examples: [[0.8]],
    },
  }),
  examples: [
    [
      { requests: 600, per: "minute" },
      { usd: 20, per: "day", alertAt: [0.8] },
    ],
  ],
};

/** The `owners` member. */
export const OWNERS_SCHEMA: JsonSchema = {
  description: "Who answers for keys, by the name that keys give as their owner.",
  type: "object",
  propertyNames: refer("name"),
  additionalProperties: closed({
    limits: refer("limits", { description: "Limits of all its keys together.", default: [] }),
    eachKey: refer("limits", { description: "Limits of each of its keys.", default: [] }),
  }),
  default: {},
  examples: [{ "team-a": { limits: [{ usd: 2000, per: "month" }] } }],
};

/** The `limits` member. */
export const GATEWAY_LIMITS_SCHEMA: JsonSchema = closed(
  {
    global: refer("limits", { description: "Limits of all requests together.", default: [] }),
    eachEndUser: refer("limits", {
      description: "Limits of each end user. Keys of one owner that name the same user share them.",
      default: [],
    }),
  },
  { description: "Limits of the gateway itself." },
);
