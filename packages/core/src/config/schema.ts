/** The JSON Schema (draft 2020-12) of the configuration: the one source for the check, the printed schema and the documentation. */
import { CONFIG_DEFAULTS } from "./defaults.ts";
import { MODELS_SCHEMA } from "./schema-model.ts";
import { PROVIDERS_SCHEMA } from "./schema-provider.ts";
import { closed, refer, VALUE_DEFINITIONS } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

const limits = closed(
  {
    maxConnections: {
      type: "integer",
      minimum: 1,
      maximum: 1_000_000,
      description: "Most client connections at a time.",
      default: CONFIG_DEFAULTS.maxConnections,
    },
    maxHead: refer("size", { description: "Largest request head.", default: CONFIG_DEFAULTS.maxHead }),
    headTimeout: refer("duration", { description: "To receive a request head.", default: CONFIG_DEFAULTS.headTimeout }),
    bodyTimeout: refer("duration", { description: "To receive a request body.", default: CONFIG_DEFAULTS.bodyTimeout }),
    idleTimeout: refer("duration", {
      description: "How long an idle connection stays open; longer than a load balancer's.",
      default: CONFIG_DEFAULTS.idleTimeout,
    }),
    maxQueue: refer("size", {
      description: "Bytes that may wait for a slow client before its upstream is paused.",
      default: CONFIG_DEFAULTS.maxQueue,
    }),
  },
  { description: "Bounds of client connections." },
);

const sse = closed(
  {
    keepAlive: refer("durationOrOff", {
      description: "Silence on a committed stream after which a keep-alive is written.",
      default: CONFIG_DEFAULTS.keepAlive,
    }),
    maxRecord: refer("size", {
      description: "Largest record of an upstream's stream.",
      default: CONFIG_DEFAULTS.maxRecord,
    }),
  },
  { description: "Event streams." },
);

const server = closed(
  {
    host: {
      title: "a host name or address",
      type: "string",
      minLength: 1,
      maxLength: 253,
      description: "Address that the data port listens on.",
      default: CONFIG_DEFAULTS.host,
      examples: ["0.0.0.0"],
    },
    port: {
      type: "integer",
      minimum: 0,
      maximum: 65_535,
      description: "The data port; 0 picks a free one.",
      default: CONFIG_DEFAULTS.port,
    },
    maxBody: refer("size", { description: "Largest request body.", default: CONFIG_DEFAULTS.maxBody }),
    maxHeldResponseBytes: refer("size", {
      description: "A whole (not streamed) answer is held up to this size, so that another deployment can still serve.",
      default: CONFIG_DEFAULTS.maxHeldResponseBytes,
    }),
    headers: closed(
      {
        debug: {
          enum: ["off", "key", "on"],
          description: "Diagnostic answer headers: for nobody, for keys with debug, or for everybody.",
          default: CONFIG_DEFAULTS.debugHeaders,
        },
      },
      { description: "Answer headers." },
    ),
    limits,
    sse,
    frontEnd: {
      description:
        "HTTP front end: `wire` is our own, strict and cheap, `node` is Node's own server made strict. Read at the start.",
      enum: ["wire", "node"],
      default: CONFIG_DEFAULTS.frontEnd,
    },
    shutdown: refer("duration", {
      description: "How long a shutdown waits for running exchanges.",
      default: CONFIG_DEFAULTS.shutdown,
    }),
  },
  { description: "The data port." },
);

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
      server,
      providers: PROVIDERS_SCHEMA,
      models: MODELS_SCHEMA,
      keys: { type: "array", items: key, description: "Virtual keys, known by their hashes.", default: [] },
      telemetry,
    },
    { required: ["version", "providers", "models"] },
  ),
  $defs: VALUE_DEFINITIONS,
});
