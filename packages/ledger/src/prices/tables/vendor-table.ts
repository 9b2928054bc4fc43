// How the tables of one vendor's page become rows: the page and the day once, rates in the order of its columns.
import type { PriceRates, PriceRow } from "@dragoman/core";

/** What all rows of a page share. */
export type PageFacts = Required<Pick<PriceRow, "source" | "day">> & Pick<PriceRow, "serverTools">;

/** Makes rows. */
export interface VendorTable<Rates> {
  /** A row; `more` adds members and replaces what the page says of all. */
  readonly row: (model: string, rates: Rates, more?: Partial<PriceRow>) => PriceRow;
  /** The tier of prompts of more tokens than that, for `more` of a row. */
  readonly above: (aboveInputTokens: number, rates: Rates) => Partial<PriceRow>;
}

/** Reads the columns of a page with `ratesOf`. */
export function vendorTable<Rates>(facts: PageFacts, ratesOf: (rates: Rates) => PriceRates): VendorTable<Rates> {
  return {
    row: (model, rates, more = {}) => ({ model, ...facts, ...ratesOf(rates), ...more }),
    above: (aboveInputTokens, rates) => ({ tiers: [{ aboveInputTokens, ...ratesOf(rates) }] }),
  };
}
