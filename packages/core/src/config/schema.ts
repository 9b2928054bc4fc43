/** The JSON Schema (draft 2020-12) of the configuration: the one source for the check, the printed schema and the documentation. */
import { CONFIG_DEFAULTS } from "./defaults.ts";
import { COUNTERS_SCHEMA, LEDGER_SCHEMA } from "./schema-ledger.ts";
import { GATEWAY_LIMITS_SCHEMA, LIMITS_DEFINITION, OWNERS_SCHEMA } from "./schema-limits.ts";
import { MODELS_SCHEMA } from "./schema-model.ts";
import { PRICE_DEFINITION, PRICES_SCHEMA } from "./schema-prices.ts";
import { PROVIDERS_SCHEMA } from "./schema-provider.ts";
import { SERVER_SCHEMA } from "./schema-server.ts";
import { closed, refer, VALUE_DEFINITIONS } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

const key = closed(
  {
    name: refer("name", { description: "Names the key in logs and accounts; unique." }),
    hash: {
      title: 'the key\'s hash, "sha256:" and 64 hexadecimal digits, or a reference to it',
      type: "string",
      pattern: "^(sha256:[0-9A-Fa-f]{64}|(env|file):.+)$",
      description: "SHA-256 of the key; dragoman keys create prints it.",
      examples: ["env:APP_KEY_HASH"],
    },
    owner: refer("name", { description: "Who answers for the key." }),
    tags: {
      type: "array",
      items: refer("name"),
      description: "Labels for accounts.",
      default: [],
      examples: [["batch"]],
    },
    models: {
      type: "array",
      items: refer("modelName"),
      description: 'Public model names and globs that the key may use; ["*"] = all, [] = none.',
      examples: [["chat", "vendor/*"]],
    },
    expires: {
      title: "a day or a moment in UTC",
      type: "string",
      pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z)?$",
      description: "From this moment (RFC 3339, UTC) the key is refused.",
      examples: ["2030-01-31", "2030-01-31T12:00:00Z"],
    },
    disabled: { type: "boolean", description: "Refuses the key while true.", default: false },
    debug: {
      type: "boolean",
      description: "Shows diagnostic headers and deployment names to this key.",
      default: false,
    },
    trusted: {
      type: "boolean",
      description: "May name the end user and further tags in x-dragoman-user and x-dragoman-tags.",
      default: false,
    },
    limits: refer("limits", { description: "Limits of this key.", default: [] }),
  },
  { required: ["name", "hash", "models"] },
);

const telemetry = closed(
  {
    logLevel: {
      enum: ["debug", "info", "warn", "error", "silent"],
      description: "Least severity that is logged.",
      default: CONFIG_DEFAULTS.logLevel,
    },
    requestLog: {
      type: "boolean",
      description: "Logs one line per request, without content.",
      default: CONFIG_DEFAULTS.requestLog,
    },
  },
  { description: "Logs." },
);

/** The configuration's schema. Frozen; `dragoman schema` prints it. */
export const CONFIG_SCHEMA: JsonSchema = Object.freeze({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  description: "Configuration of a Dragoman gateway.",
  ...closed(
    {
      $schema: { type: "string", description: "For editors; ignored." },
      version: { const: 1, description: "Version of this format." },
      server: SERVER_SCHEMA,
      providers: PROVIDERS_SCHEMA,
      models: MODELS_SCHEMA,
      owners: OWNERS_SCHEMA,
      keys: { type: "array", items: key, description: "Virtual keys, known by their hashes.", default: [] },
      limits: GATEWAY_LIMITS_SCHEMA,
      prices: PRICES_SCHEMA,
      ledger: LEDGER_SCHEMA,
      counters: COUNTERS_SCHEMA,
      telemetry,
    },
    { required: ["version", "providers", "models"] },
  ),
  $defs: { ...VALUE_DEFINITIONS, limits: LIMITS_DEFINITION, price: PRICE_DEFINITION },
});
