/** `dragoman keys list|revoke|rotate|import`: the keys that the ledger's store keeps. No command ever sees a secret but the one it makes. */
import { ConfigValidator, type KeyConfig } from "@dragoman/core";
import type { StoredKey } from "@dragoman/ledger";

import { reasonOf } from "../config-file/index.ts";
import { createKey, hashKey } from "../keys/index.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { readKeyLines } from "./key-lines.ts";
import { problemsOf, readList, reportRefusal, storedKeyOf } from "./keys-command.ts";
import { withLedger } from "./ledger-place.ts";
import { readSpan } from "./read-moment.ts";
import { textTable } from "./text-table.ts";

type Values = ReadonlyMap<string, string>;

const HEADER = ["id", "name", "owner", "models", "state", "created", "expires"];

/** Lists keys in the order in which they were made. */
export function runKeysList(io: CliIo, values: Values, isJson: boolean): Promise<ExitCode> {
  return withLedger(io, values, async (store) => {
    const { keys } = await store.keys.load();
    const sorted = keys.toSorted((one, other) => one.createdMs - other.createdMs || (one.id < other.id ? -1 : 1));
    const nowMs = io.nowMs();
    if (isJson)
      for (const key of sorted) io.stdout.write(`${JSON.stringify({ ...key, state: stateOf(key, nowMs) })}\n`);
    else
      io.stdout.write(
        textTable(
          HEADER,
          sorted.map((key) => rowOf(key, nowMs)),
        ),
      );
    return ExitCode.done;
  });
}

const rowOf = (key: StoredKey, nowMs: number): readonly string[] => [
  key.id,
  key.name,
  key.owner ?? "-",
  key.models.join(",") || "-",
  stateOf(key, nowMs),
  dayOf(key.createdMs),
  key.expiresMs === null ? "-" : dayOf(key.expiresMs),
];

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function stateOf(key: StoredKey, nowMs: number): string {
  if (key.revokedMs !== null) return "revoked";
  if (key.expiresMs !== null && nowMs >= key.expiresMs) return "expired";
  return key.secrets.some(({ untilMs }) => untilMs !== null && untilMs > nowMs) ? "active, in grace" : "active";
}

/** Refuses a key from now on. */
export function runKeysRevoke(io: CliIo, values: Values, key: string): Promise<ExitCode> {
  return withLedger(io, values, async (store) => {
    const change = await store.keys.revoke(key, io.nowMs());
    if (!change.ok) return reportRefusal(io, key, change.reason);
    io.stdout.write(`Revoked ${change.key.id} (${change.key.name}). Running gateways refuse it within seconds.\n`);
    return ExitCode.done;
  });
}

const DEFAULT_GRACE = "24h";

/** Gives a key a new secret; the old one goes on for its grace. */
export async function runKeysRotate(io: CliIo, values: Values, key: string): Promise<ExitCode> {
  const graceMs = readSpan(values.get("grace") ?? DEFAULT_GRACE);
  if (graceMs === null) {
    io.stderr.write("--grace must be 0 or a time such as 90s, 30m, 24h or 7d\n");
    return ExitCode.usage;
  }
  return withLedger(io, values, async (store) => {
    const secret = createKey({ id: (length) => io.randomId(length) });
    const untilMs = io.nowMs() + graceMs;
    const change = await store.keys.rotate(key, hashKey(secret).slice("sha256:".length), untilMs);
    if (!change.ok) return reportRefusal(io, key, change.reason);
    const until = graceMs === 0 ? "is refused from now on" : `holds until ${new Date(untilMs).toISOString()}`;
    io.stdout.write(`Client key, shown only now: ${secret}\n\nKept as ${change.key.id} (${change.key.name}). `);
    io.stdout.write(`The secret before it ${until}.\n`);
    return ExitCode.done;
  });
}

/** Takes keys over by their hashes. A file with a mistake changes nothing; keys that are there already are named and left alone. */
export async function runKeysImport(io: CliIo, values: Values, path: string): Promise<ExitCode> {
  let text: string;
  try {
    text = io.readFile(path);
  } catch (error) {
    io.stderr.write(`${path}: the file cannot be read${reasonOf(error)}\n`);
    return ExitCode.usage;
  }
  const { lines, problems } = readKeyLines(text);
  const owner = values.get("owner");
  const models = readList(values.get("models") ?? "*");
  const entries = lines.map(({ line, name, hash, owner: own = owner }): { line: number; entry: KeyConfig } => ({
    line,
    entry: { name, hash, ...(own === undefined ? {} : { owner: own }), models },
  }));
  const validator = new ConfigValidator();
  for (const { line, entry } of entries)
    problems.push(...problemsOf(entry, validator).map((message) => ({ line, message: message.slice("--".length) })));
  for (const { line, message } of problems) io.stderr.write(`${path}:${line}: ${message}\n`);
  if (problems.length > 0) return ExitCode.usage;
  return withLedger(io, values, async (store) => {
    let taken = 0;
    for (const { line, entry } of entries) {
      const change = await store.keys.create(storedKeyOf(io, entry));
      if (change.ok) taken += 1;
      else reportRefusal(io, `${path}:${line}: ${entry.name}`, change.reason);
    }
    io.stdout.write(`Imported ${taken} of ${entries.length} keys.\n`);
    return taken === entries.length ? ExitCode.done : ExitCode.failed;
  });
}
