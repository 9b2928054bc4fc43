/** The package's own price table: list prices of the vendors' public APIs at the standard service tier. */
import type { PriceRow } from "@dragoman/core";

import { ANTHROPIC_PRICES } from "./anthropic.ts";
import { GEMINI_PRICES } from "./gemini.ts";
import { OPENAI_PRICES } from "./openai.ts";

/** All rows of the package. */
export const BUILT_IN_PRICES: readonly PriceRow[] = [...OPENAI_PRICES, ...ANTHROPIC_PRICES, ...GEMINI_PRICES];
