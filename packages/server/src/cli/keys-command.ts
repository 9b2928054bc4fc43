/** `dragoman keys create`. The key is printed once and kept nowhere; the store, or the configuration, gets its hash. */
import { ConfigValidator, pointerTokens, type KeyConfig, type LimitConfig } from "@dragoman/core";
import { compileLimits, type KeyRefusal, type StoredKey } from "@dragoman/ledger";

import { readSource } from "../config-file/index.ts";
import { createKey, hashKey } from "../keys/index.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { findLedger, onLedger } from "./ledger-place.ts";
import { readMoment } from "./read-moment.ts";

/** Base62 characters of a stored key's id. */
const ID_CHARACTERS = 16;

/** Makes a client key and prints it, with its id where a store keeps it, else with the lines that let it in. */
export async function runKeysCreate(
  io: CliIo,
  values: ReadonlyMap<string, string>,
  switches: ReadonlySet<string>,
): Promise<ExitCode> {
  const key = createKey({ id: (length) => io.randomId(length) });
  const entry = readEntry(hashKey(key), values, switches);
  const problems = problemsOf(entry, new ConfigValidator());
  for (const problem of problems) io.stderr.write(`${problem}\n`);
  if (problems.length > 0) return ExitCode.usage;
  const place = findLedger(io, values);
  if (place === null) return ExitCode.usage;
  if (place === "none") {
    io.stdout.write(`Client key, shown only now: ${key}\n\nFor the configuration:\n\n${yamlOf(entry)}`);
    return ExitCode.done;
  }
  return onLedger(io, place, async (store) => {
    const change = await store.keys.create(storedKeyOf(io, entry));
    if (!change.ok) return reportRefusal(io, entry.name, change.reason);
    io.stdout.write(`Client key, shown only now: ${key}\n\nKept as ${change.key.id} (${change.key.name}).\n`);
    return ExitCode.done;
  });
}

const REFUSALS: Readonly<Record<KeyRefusal, string>> = {
  "unknown-key": "there is no such key",
  "revoked-key": "this key was revoked, which is for ever",
  "name-taken": "another key has this name; names may come again once their key is revoked",
  "hash-taken": "another key has this secret",
};

/** Says why a change of a key was not made. */
export function reportRefusal(io: CliIo, key: string, reason: KeyRefusal): ExitCode {
  io.stderr.write(`${key}: ${REFUSALS[reason]}\n`);
  return ExitCode.failed;
}

/** The key as a store keeps it. Its entry has no problems. */
export function storedKeyOf(io: CliIo, entry: KeyConfig): StoredKey {
  return {
    id: `key_${io.randomId(ID_CHARACTERS)}`,
    name: entry.name,
    secrets: [{ hash: entry.hash.slice("sha256:".length).toLowerCase(), untilMs: null }],
    owner: entry.owner ?? null,
    tags: entry.tags ?? [],
    models: entry.models,
    debug: entry.debug ?? false,
    trusted: entry.trusted ?? false,
    limits: entry.limits ?? [],
    createdMs: io.nowMs(),
    expiresMs: entry.expires === undefined ? null : readMoment(entry.expires),
    revokedMs: null,
  };
}

/** A comma-separated list. */
export const readList = (text: string): readonly string[] => text.split(",").map((name) => name.trim());

function readEntry(hash: string, values: ReadonlyMap<string, string>, switches: ReadonlySet<string>): KeyConfig {
  const [owner, tags, expires, limits] = ["owner", "tags", "expires", "limits"].map((name) => values.get(name));
  return {
    name: values.get("name") ?? "app",
    hash,
    ...(owner === undefined ? {} : { owner }),
    ...(tags === undefined ? {} : { tags: readList(tags) }),
    models: readList(values.get("models") ?? "*"),
    ...(expires === undefined ? {} : { expires }),
    ...(switches.has("debug") ? { debug: true } : {}),
    ...(switches.has("trusted") ? { trusted: true } : {}),
    ...(limits === undefined ? {} : { limits: readLimits(limits) }),
  };
}

/** What is no YAML stays a text, which the schema then refuses. */
function readLimits(text: string): readonly LimitConfig[] {
  const source = readSource(text);
  return (source.ok ? source.value : text) as readonly LimitConfig[];
}

/** What is wrong with a key, each problem beginning with the option that is to blame. */
export function problemsOf(entry: KeyConfig, validator: ConfigValidator): readonly string[] {
  const mistakes = validator
    .validate({ keys: [entry] })
    .filter(({ path }) => path.startsWith("/keys/0/"))
    .map(({ path, message }) => {
      const [option = "", ...rest] = pointerTokens(path).slice(2);
      // A place in a list of names says nothing; one in limits does.
      return `--${option}: ${option === "limits" && rest.length > 0 ? `/${rest.join("/")}: ` : ""}${message}`;
    });
  if (mistakes.length > 0) return mistakes;
  const reading = compileLimits(entry.limits ?? []);
  const limits = reading.ok ? [] : reading.problems.map(({ path, message }) => `--limits: ${path}: ${message}`);
  const isDay = entry.expires === undefined || readMoment(entry.expires) !== null;
  return isDay ? limits : [...limits, "--expires: must be a day and time that exist"];
}

/** JSON texts and lists are YAML too (YAML 1.2 §1.3), so nothing needs quoting rules of its own. */
function yamlOf(entry: KeyConfig): string {
  const lines = Object.entries(entry).map(([member, value]) => `${member}: ${JSON.stringify(value)}`);
  return `keys:\n  - ${lines.join("\n    ")}\n`;
}
