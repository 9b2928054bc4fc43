/** Compiles `keys` and `owners`: virtual keys by hash, owners by name. */
import { compileSecret } from "./compile-context.ts";
import type { CompileContext } from "./compile-context.ts";
import { freezeMap } from "./freeze.ts";
import type { KeyConfig } from "./gateway-config.ts";
import type { LimitConfig, OwnerConfig } from "./limit-config.ts";
import { pointer } from "./problem.ts";
import type { KeyRecord, OwnerRecord } from "./snapshot.ts";

const NO_LIMITS: readonly LimitConfig[] = Object.freeze([]);

const HASH = /^sha256:([0-9A-Fa-f]{64})$/;

/** Compiles the list; names and hashes are unique. */
export function compileKeys(context: CompileContext, configs: readonly KeyConfig[]): ReadonlyMap<string, KeyRecord> {
  const records = new Map<string, KeyRecord>();
  const names = new Set<string>();
  configs.forEach((config, index) => {
    const path = pointer("/keys", index);
    if (names.has(config.name)) context.list.add(pointer(path, "name"), `the key "${config.name}" is there twice`);
    names.add(config.name);
    const expiresMs = compileExpiry(context, pointer(path, "expires"), config.expires);
    const hash = compileHash(context, pointer(path, "hash"), config.hash);
    if (hash === null) return;
    const holder = records.get(hash);
    if (holder !== undefined)
      context.list.add(pointer(path, "hash"), `the keys "${holder.id}" and "${config.name}" have the same hash`);
    records.set(
      hash,
      Object.freeze({
        id: config.name,
        hash,
        owner: config.owner ?? null,
        tags: config.tags ?? Object.freeze([]),
        models: config.models,
        debug: config.debug ?? false,
        isTrusted: config.trusted ?? false,
        limits: config.limits ?? NO_LIMITS,
        isDisabled: config.disabled ?? false,
        expiresMs,
      }),
    );
  });
  return freezeMap(records);
}

/** Compiles the `owners` member. */
export function compileOwners(configs: Readonly<Record<string, OwnerConfig>>): ReadonlyMap<string, OwnerRecord> {
  return freezeMap(
    new Map(
      Object.entries(configs).map(([id, { limits = NO_LIMITS, eachKey = NO_LIMITS }]) => [
        id,
        Object.freeze({ id, limits, eachKey }),
      ]),
    ),
  );
}

function compileHash(context: CompileContext, path: string, text: string): string | null {
  const resolved = compileSecret(context, path, text);
  if (resolved === null) return null;
  const digits = HASH.exec(resolved)?.[1];
  if (digits === undefined) context.list.add(path, 'must resolve to "sha256:" and 64 hexadecimal digits');
  return digits?.toLowerCase() ?? null;
}

/** The schema has checked the spelling; what is left are days that no calendar has. */
function compileExpiry(context: CompileContext, path: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const moment = new Date(text);
  if (!Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text.slice(0, 10))) return moment.getTime();
  context.list.add(path, "must be a day and time that exist");
  return null;
}
