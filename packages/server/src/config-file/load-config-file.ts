/** From a path to a checked configuration: reads, parses and compiles the file, and gives every problem its line and column. */
import { dirname } from "node:path";

import { compileConfig, ConfigValidator } from "@dragoman/core";
import type { ConfigFolder, DialectRegistry, GatewayConfig, SecretResolver, Snapshot } from "@dragoman/core";

import { checkConfig } from "./check-config.ts";
import { createConfigFolder } from "./config-folder.ts";
import { createSecretResolver, OFFLINE_RESOLVER, reasonOf } from "./secret-resolver.ts";
import { readSource } from "./source-text.ts";
import type { Place } from "./source-text.ts";

/** What loading needs from outside. */
export interface LoadConfigOptions {
  readonly registry: DialectRegistry;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file as UTF-8 text; throws when it cannot. */
  readFile(path: string): string;
  /** Checks without resolving secrets. */
  readonly isOffline?: boolean;
  /** Leaves secrets open that cannot be resolved, for work that needs only some of them. */
  readonly isLenient?: boolean;
  /** Number of the snapshot; 1 by default. */
  readonly generation?: number;
  readonly validator?: ConfigValidator;
}

/** One mistake in a configuration file. */
export interface FileProblem extends Place {
  readonly file: string;
  /** JSON Pointer; empty for a mistake of the text itself. */
  readonly path: string;
  readonly message: string;
}

/** A checked configuration, or every problem in the order of the file. */
export type LoadResult =
  | {
      readonly ok: true;
      /** The source form, its references unresolved. */
      readonly config: GatewayConfig;
      readonly snapshot: Snapshot;
      /** Resolves the configuration's references once more; relative paths start from the file's folder. */
      readonly resolveSecret: SecretResolver;
      /** The file's folder. */
      readonly folder: ConfigFolder;
      /** The file and those that its secrets and prices were read from, for a watcher. */
      readonly files: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** Loads a YAML or JSON configuration file. Never throws. */
export function loadConfigFile(path: string, options: LoadConfigOptions): LoadResult {
  const files = [path];
  const fail = (problems: readonly Omit<FileProblem, "file">[]): LoadResult => ({
    ok: false,
    problems: problems
      .map((problem) => ({ ...problem, file: path }))
      .sort((left, right) => left.line - right.line || left.column - right.column),
  });
  let text: string;
  try {
    text = options.readFile(path);
  } catch (error) {
    return fail([{ line: 1, column: 1, path: "", message: `the file cannot be read${reasonOf(error)}` }]);
  }
  const source = readSource(text);
  if (!source.ok) return fail(source.problems.map((problem) => ({ ...problem, path: "" })));
  const onFile = (file: string): void => {
    if (!files.includes(file)) files.push(file);
  };
  const strict = createSecretResolver({
    env: options.env,
    readFile: (file) => options.readFile(file),
    folder: dirname(path),
    onFile,
  });
  const resolveSecret =
    options.isOffline === true ? OFFLINE_RESOLVER : options.isLenient === true ? lenient(strict) : strict;
  const validator = options.validator ?? new ConfigValidator();
  const folder = createConfigFolder({
    folder: dirname(path),
    readFile: (file) => options.readFile(file),
    onFile,
    validator,
  });
  const result = compileConfig(source.value, {
    registry: options.registry,
    generation: options.generation ?? 1,
    resolveSecret,
    folder,
    check: checkConfig,
    validator,
  });
  if (!result.ok)
    return fail(
      result.problems.map((problem) => ({
        ...source.locate(problem.path),
        path: problem.path,
        message: problem.message,
      })),
    );
  // A value that compiled is a configuration.
  return { ok: true, config: source.value as GatewayConfig, snapshot: result.snapshot, resolveSecret, folder, files };
}

const lenient =
  (resolve: SecretResolver): SecretResolver =>
  (reference) => {
    const resolution = resolve(reference);
    return resolution.ok ? resolution : { ok: true, secret: null };
  };

/** One line for a problem: `file:line:column: path: message`. */
export function formatFileProblem({ file, line, column, path, message }: FileProblem): string {
  return `${file}:${line}:${column}: ${path === "" ? "" : `${path}: `}${message}`;
}
