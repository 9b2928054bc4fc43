/** Price tables and the look-up in them. */
export { PriceBook } from "./price-book.ts";
export type { PriceBookOptions } from "./price-book.ts";
export { compilePrice, compilePrices } from "./price.ts";
export type { PriceRates, PriceRow, PriceTier } from "@dragoman/core";
export type { Price, PriceReading, RateCard } from "./price.ts";
export { BUILT_IN_PRICES } from "./tables/built-in-prices.ts";
