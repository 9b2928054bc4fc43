/** Resolves `env:NAME` and `file:PATH` against this process. Messages name the variable or the file, never what is in it. */
import { resolve } from "node:path";

import type { SecretResolver } from "@dragoman/core";

/** Where secrets come from. */
export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file as UTF-8 text; throws when it cannot. */
  readFile(path: string): string;
  /** Folder that relative paths start from. */
  readonly folder: string;
  /** Told of each file that is read, for a watcher. */
  readonly onFile?: (path: string) => void;
}

/** Longest secret: what is larger is the wrong file. */
const MAX_SECRET_CHARACTERS = 65_536;

/** Makes a resolver. The line break that editors put at a file's end is not part of the secret. */
export function createSecretResolver(sources: SecretSources): SecretResolver {
  return ({ scheme, name }) => {
    if (scheme === "env") {
      const secret = Object.hasOwn(sources.env, name) ? sources.env[name] : undefined;
      if (secret === undefined) return { ok: false, message: `the environment variable ${name} is not set` };
      return secret === "" ? { ok: false, message: `the environment variable ${name} is empty` } : { ok: true, secret };
    }
    const path = resolve(sources.folder, name);
    sources.onFile?.(path);
    let text: string;
    try {
      text = sources.readFile(path);
    } catch (error) {
      return { ok: false, message: `the file ${name} cannot be read${reasonOf(error)}` };
    }
    const secret = text.replace(/\r?\n$/, "");
    if (secret === "") return { ok: false, message: `the file ${name} is empty` };
    if (secret.length > MAX_SECRET_CHARACTERS)
      return { ok: false, message: `the file ${name} is too large for a secret` };
    return { ok: true, secret };
  };
}

/** Leaves every reference open: a check without secrets. */
export const OFFLINE_RESOLVER: SecretResolver = () => ({ ok: true, secret: null });

/** The system's code of a failed file operation in brackets, e.g. ` (ENOENT)`. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? ` (${code})` : "";
}
