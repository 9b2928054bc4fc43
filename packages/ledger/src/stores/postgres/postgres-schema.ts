/** The steps of a PostgreSQL store's schema. A step that was published is never edited: changes come as further steps. */
import type { Migration } from "../sql/migrations.ts";
import { beginningOf } from "./postgres-dialect.ts";

/** All steps, oldest first. They run with the store's schema as the search path. */
export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    title: "entries and the places they were read from",
    isCompatible: false,
    statements: [
      `CREATE TABLE entries (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        long_id text,
        request_id text COLLATE "C" NOT NULL,
        attempt bigint NOT NULL,
        rule text NOT NULL,
        adjusts text,
        usage_source text NOT NULL,
        input_tokens bigint,
        cache_read_tokens bigint,
        cache_write_tokens bigint,
        cache_write_tokens_by_ttl json,
        input_audio_tokens bigint,
        input_image_tokens bigint,
        output_tokens bigint,
        reasoning_tokens bigint,
        output_audio_tokens bigint,
        server_tools json,
        delivered_bytes bigint NOT NULL,
        price_id text,
        cost_nano_usd bigint,
        overdrawn_nano_usd bigint NOT NULL,
        opened_ms bigint NOT NULL,
        started_ms bigint NOT NULL,
        ended_ms bigint NOT NULL,
        key_id text COLLATE "C" NOT NULL,
        owner text COLLATE "C",
        end_user text COLLATE "C",
        tags json,
        model text COLLATE "C" NOT NULL,
        deployment text COLLATE "C" NOT NULL,
        provider text,
        upstream_model text NOT NULL,
        upstream_request_id text,
        generation bigint,
        client_dialect text,
        provider_dialect text
      )`,
      "CREATE INDEX entries_by_end ON entries (ended_ms, seq)",
      `CREATE INDEX entries_by_key ON entries (${beginningOf("key_id")}, ended_ms)`,
      `CREATE INDEX entries_by_owner ON entries (${beginningOf("owner")}, ended_ms) WHERE owner IS NOT NULL`,
      `CREATE TABLE journal_progress (file text COLLATE "C" PRIMARY KEY, position bigint NOT NULL)`,
    ],
  },
  {
    version: 2,
    title: "keys and owners",
    isCompatible: true,
    statements: [
      `CREATE TABLE keys (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        name text COLLATE "C" NOT NULL,
        revoked_ms bigint,
        body json NOT NULL
      )`,
      "CREATE INDEX keys_by_name ON keys (name)",
      "CREATE UNIQUE INDEX keys_by_living_name ON keys (name) WHERE revoked_ms IS NULL",
      `CREATE TABLE key_hashes (hash text COLLATE "C" PRIMARY KEY, key_id text COLLATE "C" NOT NULL)`,
      "CREATE INDEX key_hashes_by_key ON key_hashes (key_id)",
      `CREATE TABLE owners (id text COLLATE "C" PRIMARY KEY, body json NOT NULL)`,
      "CREATE TABLE key_revision (revision bigint NOT NULL)",
      "INSERT INTO key_revision VALUES (0)",
    ],
  },
];
