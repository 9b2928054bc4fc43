/** Price tables and the look-up in them. */
export { PriceBook } from "./price-book.ts";
export type { PriceBookOptions } from "./price-book.ts";
export type { PriceRates, PriceRow, PriceTier } from "./price-row.ts";
export { compilePrice } from "./price.ts";
export type { Price, PriceReading, RateCard } from "./price.ts";
export { BUILT_IN_PRICES } from "./tables/built-in-prices.ts";
