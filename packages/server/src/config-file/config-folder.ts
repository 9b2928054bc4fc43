/** The folder of a configuration file: relative paths start from it, and the price file is read from there. */
import { resolve } from "node:path";

import { compilePrices } from "@dragoman/ledger";
import { ConfigValidator } from "@dragoman/core";
import type { ConfigFolder, PriceFileReading, PriceRow } from "@dragoman/core";

import { reasonOf } from "./secret-resolver.ts";
import { readSource } from "./source-text.ts";

/** What a folder needs from outside. */
export interface ConfigFolderOptions {
  readonly folder: string;
  /** Reads a file as UTF-8 text; throws when it cannot. */
  readFile(path: string): string;
  /** Told of each file that is read, for a watcher. */
  readonly onFile?: (path: string) => void;
  readonly validator?: ConfigValidator;
}

/** Makes the folder's port. */
export function createConfigFolder(options: ConfigFolderOptions): ConfigFolder {
  return {
    resolve: (path) => resolve(options.folder, path),
    readPrices: (path) => readPrices(path, options),
  };
}

function readPrices(path: string, options: ConfigFolderOptions): PriceFileReading {
  const file = resolve(options.folder, path);
  options.onFile?.(file);
  let text: string;
  try {
    text = options.readFile(file);
  } catch (error) {
    return { ok: false, problems: [`the file ${path} cannot be read${reasonOf(error)}`] };
  }
  const source = readSource(text);
  if (!source.ok)
    return {
      ok: false,
      problems: source.problems.map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`),
    };
  const mistakes = (options.validator ?? new ConfigValidator()).validatePrices(source.value);
  // What the schema takes is a list of rows.
  const rows = source.value as readonly PriceRow[];
  const problems = mistakes.length > 0 ? mistakes : compilePrices(rows, "file").problems;
  if (problems.length === 0) return { ok: true, rows };
  return {
    ok: false,
    problems: problems.map((problem) => {
      const { line, column } = source.locate(problem.path);
      return `${path}:${line}:${column}: ${problem.path === "" ? "" : `${problem.path}: `}${problem.message}`;
    }),
  };
}
