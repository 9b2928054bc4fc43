/** Schema of `ledger` and `counters`. Which members go with which kind is checked when they are compiled. */
import { CONFIG_DEFAULTS } from "./defaults.ts";
import { closed, refer } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

/** The `ledger` member. */
export const LEDGER_SCHEMA: JsonSchema = closed(
  {
    store: closed(
      {
        kind: {
          enum: ["memory", "sqlite", "postgres"],
          description: "memory forgets at the end of the process; postgres serves several machines.",
        },
        file: {
          type: "string",
          minLength: 1,
          description: "With sqlite: the database file. Default: ledger.db in the data folder.",
        },
        url: refer("secret", { description: "With postgres, and required there: the connection URL." }),
        schema: {
          title: "a name of lower-case letters, digits and underscores",
          type: "string",
          pattern: "^[a-z_][a-z0-9_]{0,62}$",
          description: 'With postgres: the schema that holds the tables. Default: "dragoman".',
          examples: ["dragoman"],
        },
      },
      {
        required: ["kind"],
        description:
          "Where entries, keys and owners are kept. Default: sqlite where there is a data folder, memory where there is none.",
      },
    ),
    durability: {
      enum: ["memory", "journal", "strict", "store"],
      description:
        "What survives: nothing (memory), the death of any process (journal), a power cut too, by waiting for the disk before an answer's last byte (strict), or a lost disk, by waiting for the store (store). Default: journal where there is a data folder, memory where there is none.",
    },
    dataDir: {
      type: "string",
      minLength: 1,
      description: "The data folder: journal, database, lock. Created with mode 0700. --data takes its place.",
      examples: ["/var/lib/dragoman"],
    },
    hold: {
      enum: ["expected", "worst"],
      description:
        "What is reserved before a call: what such calls usually take, or the most it can take, so that no budget is ever passed.",
      default: CONFIG_DEFAULTS.hold,
    },
    unpriced: {
      enum: ["refuse", "allow"],
      description: "A model without a price under a USD limit: refused, or let in and not counted in USD.",
      default: CONFIG_DEFAULTS.unpriced,
    },
    onFull: {
      enum: ["refuse", "continue"],
      description: "When the journal's disk is full or broken: new requests get 503, or go on without their lines.",
      default: CONFIG_DEFAULTS.onFull,
    },
  },
  { description: "How calls are accounted for." },
);

/** The `counters` member. */
export const COUNTERS_SCHEMA: JsonSchema = closed(
  {
    kind: {
      enum: ["local", "valkey"],
      description: "local counts on this machine; valkey on a Valkey or Redis server that several machines share.",
    },
    url: refer("secret", { description: "With valkey, and required there: the server's URL." }),
    prefix: {
      title: "printable ASCII text without spaces",
      type: "string",
      pattern: "^[\\x21-\\x7e]{1,100}$",
      description: 'With valkey: what the names of all keys begin with. Default: "dragoman".',
      examples: ["dragoman"],
    },
    onDown: {
      enum: ["open", "closed"],
      description:
        'With valkey: while the server is down, count on this machine alone (open) or refuse (closed). Default: "open".',
    },
    timeout: refer("duration", {
      description: 'With valkey: the longest wait for the server, then it counts as down. Default: "250ms".',
    }),
  },
  { required: ["kind"], description: "Where limits are counted. Default: on this machine." },
);
