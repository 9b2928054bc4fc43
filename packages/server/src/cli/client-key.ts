/** The client key of a start without configuration: made at the first start, and kept by its hash. */
import { join } from "node:path";

import type { GatewayConfig } from "@dragoman/core";

import { createKey, hashKey } from "../keys/index.ts";
import type { CliIo } from "./cli-io.ts";

/** The configuration with one key in it, and that key where it was made just now. */
export interface KeyedConfig {
  readonly config: GatewayConfig;
  /** Null when the key of an earlier start holds. */
  readonly newKey: string | null;
}

const FILE_NAME = "client-key.sha256";
const HASH = /^sha256:[0-9a-f]{64}$/;

/** Adds the client key. Throws when the data folder cannot be written. */
export function addClientKey(io: CliIo, config: GatewayConfig, dataFolder: string): KeyedConfig {
  const path = join(dataFolder, FILE_NAME);
  const kept = readHash(io, path);
  if (kept !== null) return { config: withKey(config, kept), newKey: null };
  const newKey = createKey({ id: (length) => io.randomId(length) });
  const hash = hashKey(newKey);
  io.writePrivateFile(path, `${hash}\n`);
  return { config: withKey(config, hash), newKey };
}

const withKey = (config: GatewayConfig, hash: string): GatewayConfig => ({
  ...config,
  keys: [{ name: "client", hash, models: ["*"] }],
});

/** A file that is not there or holds no hash is a first start. */
function readHash(io: CliIo, path: string): string | null {
  try {
    const text = io.readFile(path).trim();
    return HASH.test(text) ? text : null;
  } catch {
    // Not there yet, or unreadable: then writing it fails, and that is reported.
    return null;
  }
}
