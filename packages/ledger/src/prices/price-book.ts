/**
 * Finds the price of a call: prices of its deployment first, then of the configuration, then of the operator's file, then the
 * package's own table; in each an exact id wins over the id without its date, and that over the longest beginning. Of rows for one
 * model the newest that already holds is taken. What is not found is unpriced, which is never the same as free.
 */
import { GatewayError, type PriceRow } from "@dragoman/core";

import { undatedModelId } from "./model-id.ts";
import { compilePrices, type Price } from "./price.ts";
import { BUILT_IN_PRICES } from "./tables/built-in-prices.ts";

/** Where prices come from, most specific first. */
export interface PriceBookOptions {
  /** By deployment id. Their `model` may be `*`. */
  readonly deployments?: ReadonlyMap<string, readonly PriceRow[]>;
  /** Rows of the configuration itself. */
  readonly configured?: readonly PriceRow[];
  /** The operator's own table. */
  readonly rows?: readonly PriceRow[];
  /** Replaces the package's table; `[]` for none. */
  readonly builtIn?: readonly PriceRow[];
}

/** Rows of one model, the one that holds latest first. */
type Dated = readonly Price[];

/** Model ids come from clients where a model is a glob, so what was looked up is kept for so many of them only. */
const MAX_REMEMBERED = 4_096;

const NONE: Dated = [];

/** Prices of one configuration. Immutable for its users. */
export class PriceBook {
  readonly #deployments = new Map<string, PriceTable>();
  readonly #tables: readonly PriceTable[];
  readonly #found = new Map<string, Map<string, Dated>>();
  #remembered = 0;

  /** Throws `config_invalid` that names every row which is no price. */
  constructor(options: PriceBookOptions = {}) {
    const problems: string[] = [];
    for (const [id, rows] of options.deployments ?? [])
      this.#deployments.set(id, new PriceTable(rows, `deployment ${id}`, problems));
    this.#tables = [
      new PriceTable(options.configured ?? [], "config", problems),
      new PriceTable(options.rows ?? [], "file", problems),
      new PriceTable(options.builtIn ?? BUILT_IN_PRICES, "built-in", problems),
    ];
    if (problems.length > 0)
      throw new GatewayError("config_invalid", `Prices are invalid. ${problems.join("; ")}.`, {
        details: { problems },
      });
  }

  /** The price of a call to a deployment's model at a time, or null when nobody priced it. */
  find(deploymentId: string, model: string, atMs: number): Price | null {
    const rows = this.#found.get(deploymentId)?.get(model) ?? this.#look(deploymentId, model);
    for (const price of rows) if (price.fromMs <= atMs) return price;
    return null;
  }

  #look(deploymentId: string, model: string): Dated {
    const rows =
      this.#deployments.get(deploymentId)?.find(model) ??
      this.#tables.map((table) => table.find(model)).find((found) => found !== null);
    if (this.#remembered >= MAX_REMEMBERED) {
      this.#found.clear();
      this.#remembered = 0;
    }
    this.#remembered += 1;
    let models = this.#found.get(deploymentId);
    if (models === undefined) this.#found.set(deploymentId, (models = new Map()));
    models.set(model, rows ?? NONE);
    return rows ?? NONE;
  }
}

/** One table: exact ids, and beginnings with the longest first. */
class PriceTable {
  readonly #exact = new Map<string, Price[]>();
  readonly #beginnings: { readonly text: string; readonly rows: Price[] }[] = [];

  constructor(rows: readonly PriceRow[], name: string, problems: string[]) {
    const compiled = compilePrices(rows, name);
    problems.push(...compiled.problems.map(({ path, message }) => `${name}${path}: ${message}`));
    for (const price of compiled.prices) this.#add(price);
    const newestFirst = (one: Price, other: Price): number => other.fromMs - one.fromMs;
    for (const prices of this.#exact.values()) prices.sort(newestFirst);
    for (const { rows: prices } of this.#beginnings) prices.sort(newestFirst);
    this.#beginnings.sort((one, other) => other.text.length - one.text.length);
  }

  find(model: string): Dated | null {
    const exact = this.#exact.get(model) ?? this.#exact.get(undatedModelId(model));
    return exact ?? this.#beginnings.find(({ text }) => model.startsWith(text))?.rows ?? null;
  }

  #add(price: Price): void {
    if (!price.model.endsWith("*")) {
      const rows = this.#exact.get(price.model);
      if (rows === undefined) this.#exact.set(price.model, [price]);
      else rows.push(price);
      return;
    }
    const text = price.model.slice(0, -1);
    const same = this.#beginnings.find((beginning) => beginning.text === text);
    if (same === undefined) this.#beginnings.push({ text, rows: [price] });
    else same.rows.push(price);
  }
}
