/** Schema of `server`: the data port. */
import { CONFIG_DEFAULTS } from "./defaults.ts";
import { closed, refer } from "./schema-values.ts";
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

/** The `server` member. */
export const SERVER_SCHEMA: JsonSchema = closed(
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
    trustedProxies: {
      type: "array",
      items: {
        title: "an IP address or a block of them",
        type: "string",
        pattern: "^[0-9A-Fa-f:.]{2,45}(/[0-9]{1,3})?$",
        examples: ["10.0.0.0/8", "fd00::/8"],
      },
      maxItems: 1000,
      description:
        "Addresses of proxies before this gateway (CIDR). What they say in X-Forwarded-For is believed: the client is the last address in it that is none of them.",
      default: [],
      examples: [["10.0.0.0/8"]],
    },
    authThrottle: {
      title: 'an object of failures and per, or "off"',
      type: ["object", "string"],
      pattern: "^off$",
      properties: {
        failures: {
          type: "integer",
          minimum: 1,
          maximum: 1_000_000,
          description: "Failures that are answered with 401; the next ones get 429.",
          default: CONFIG_DEFAULTS.throttleFailures,
        },
        per: refer("duration", { description: "The window.", default: CONFIG_DEFAULTS.throttlePer }),
      },
      additionalProperties: false,
      description:
        "Slows down who guesses keys: bounds failed authentications of one address (IPv6: of one /64). A valid key is never refused by it.",
      examples: [{ failures: 20, per: "1m" }, "off"],
    },
    shutdown: refer("duration", {
      description: "How long a shutdown waits for running exchanges.",
      default: CONFIG_DEFAULTS.shutdown,
    }),
  },
  { description: "The data port." },
);
