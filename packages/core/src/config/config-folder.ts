/** The folder that a configuration lies in, as its compilation sees it: a port, since core reads no file. */
import type { PriceRow } from "./price-row.ts";

/** Checked rows, or one sentence for each mistake in the file with its place in it. */
export type PriceFileReading =
  | { readonly ok: true; readonly rows: readonly PriceRow[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Where relative paths of a configuration start from. */
export interface ConfigFolder {
  /** The path as the process can use it wherever it runs. */
  resolve(path: string): string;
  /** Reads a price file, whose path is as the configuration has it. Never throws. */
  readPrices(path: string): PriceFileReading;
}
