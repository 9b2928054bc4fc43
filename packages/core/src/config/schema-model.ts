/** Schema of `models`: public names, their deployments and their routing policy. */
import { DEFAULT_LOSSY_ALLOW } from "../dialect/index.ts";
import { CONFIG_DEFAULTS } from "./defaults.ts";
import { MAX_DURATION_MS } from "./duration.ts";
import type { TimeoutsConfig } from "./gateway-config.ts";
import { CAPABILITIES_SCHEMA } from "./schema-capabilities.ts";
import { DEPLOYMENT_PRICES_SCHEMA } from "./schema-prices.ts";
import { closed, refer } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

/** The model's time limits have defaults; a deployment's are the model's where they are absent. */
const timeouts = (description: string, hasDefaults: boolean): JsonSchema => {
  const limit = (name: keyof TimeoutsConfig, type: "duration" | "durationOrOff", meaning: string): JsonSchema =>
    refer(type, { description: meaning, ...(hasDefaults ? { default: CONFIG_DEFAULTS[name] } : {}) });
  return closed(
    {
      connect: limit("connect", "duration", "To open the upstream connection."),
      firstContent: limit("firstContent", "durationOrOff", "To the first content of a streamed answer."),
      idle: limit("idle", "durationOrOff", "Between two signs of life of a streamed answer."),
      total: limit("total", "duration", "For the whole exchange."),
      commitAfter: limit(
        "commitAfter",
        "durationOrOff",
        "After this wait a streaming client gets status 200 and keep-alives; fall-back stays possible until content.",
      ),
    },
    { description },
  );
};

const deployment: JsonSchema = closed(
  {
    id: {
      title: "a deployment id of printable characters without spaces",
      type: "string",
      pattern: "^[\\x21-\\x7e]{1,256}$",
      description: "Names the deployment in logs, health state and headers. Default: provider/model.",
      examples: ["main-large"],
    },
    provider: { type: "string", minLength: 1, description: "A name under providers." },
    model: refer("upstreamModel", {
      description: "The upstream's model id. In a glob model one * stands for what the public name's * carries.",
    }),
    tier: {
      type: "integer",
      minimum: 1,
      maximum: 1000,
      description: "Lower tiers are tried first.",
      default: CONFIG_DEFAULTS.tier,
    },
    weight: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      description: "Share of the requests within the tier.",
      default: CONFIG_DEFAULTS.weight,
    },
    capabilities: CAPABILITIES_SCHEMA,
    disconnect: closed(
      {
        mode: {
          enum: ["drain", "cancel"],
          description: "drain reads on so that the usage is known; cancel stops at once. Default: the kind's own.",
        },
        maxMs: {
          type: "integer",
          minimum: 0,
          maximum: MAX_DURATION_MS,
          description: "Longest drain in milliseconds.",
          default: CONFIG_DEFAULTS.disconnectMaxMs,
        },
        maxBytes: refer("size", {
          description: "Most bytes that a drain reads.",
          default: CONFIG_DEFAULTS.disconnectMaxBytes,
        }),
      },
      { description: "What happens upstream when the client leaves." },
    ),
    timeouts: timeouts("Time limits of this deployment; what is absent is the model's.", false),
    lossy: refer("lossy", { description: "What a translation for this deployment may drop. Default: the model's." }),
    limits: refer("limits", { description: "Limits of this deployment, whatever model uses it.", default: [] }),
    prices: DEPLOYMENT_PRICES_SCHEMA,
    options: refer("options", {
      description: "Options for this deployment, laid over the model's and the provider's.",
      default: {},
    }),
  },
  { required: ["provider", "model"] },
);

const longForm = closed({
  aliases: {
    type: "array",
    items: refer("alias"),
    description: "Further names of the model.",
    default: [],
    examples: [["best"]],
  },
  deployments: { type: "array", items: deployment, minItems: 1, description: "The upstream models that serve it." },
  strategy: {
    enum: ["weighted"],
    description: "How a deployment is picked within a tier.",
    default: CONFIG_DEFAULTS.strategy,
  },
  attempts: {
    type: "integer",
    minimum: 1,
    maximum: 10,
    description: "Attempts per deployment.",
    default: CONFIG_DEFAULTS.attempts,
  },
  timeouts: timeouts("Time limits of an exchange.", true),
  lossy: refer("lossy", {
    description: "What a translation for this model may drop.",
    default: { allow: DEFAULT_LOSSY_ALLOW },
  }),
  limits: refer("limits", {
    description: "Limits of this model. In a glob each name has them for itself.",
    default: [],
  }),
  options: refer("options", { description: "Options for this model, laid over the provider's.", default: {} }),
});

/** One schema for both forms: `items` and `minItems` judge the list only, `properties` and `required` the object only. */
const model: JsonSchema = {
  ...longForm,
  title: 'a list of "provider/model" texts, or an object with deployments',
  type: ["array", "object"],
  items: {
    title: 'a text such as "provider/model"',
    type: "string",
    minLength: 1,
    description:
      "A provider and one of its models; with a single provider its name may be left out. Each is a tier of its own.",
  },
  minItems: 1,
  required: ["deployments"],
};

/** The `models` member. */
export const MODELS_SCHEMA: JsonSchema = {
  description: "Public model names, exact or with one *. Look-up: exact name, then alias, then the longest glob.",
  type: "object",
  propertyNames: refer("modelName"),
  additionalProperties: model,
  minProperties: 1,
  examples: [{ chat: ["main/large-2", "spare/medium-1"], "main/*": ["main/*"] }],
};
