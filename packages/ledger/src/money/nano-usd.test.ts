import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { addNanoUsd, formatUsd, MAX_NANO_USD, nanoUsdOf, scaleDecimal } from "./nano-usd.ts";

describe("nanoUsdOf", () => {
  it.each<{ readonly usd: number | string; readonly expected: number | null }>([
    { usd: 0, expected: 0 },
    { usd: 1, expected: 1_000_000_000 },
    { usd: 0.1, expected: 100_000_000 },
    { usd: "0.054399", expected: 54_399_000 },
    { usd: 1e-9, expected: 1 },
    { usd: "1.0000000000", expected: 1_000_000_000 },
    { usd: 2e3, expected: 2_000_000_000_000 },
    { usd: "9007199.254740991", expected: MAX_NANO_USD },
    { usd: "9007199.254740992", expected: null },
    { usd: 1e-10, expected: null },
    { usd: -1, expected: null },
    { usd: Number.NaN, expected: null },
    { usd: Number.POSITIVE_INFINITY, expected: null },
    { usd: 1e300, expected: null },
    { usd: "1,5", expected: null },
    { usd: "", expected: null },
  ])("reads $usd as $expected nano-USD", ({ usd, expected }) => {
    expect(nanoUsdOf(usd)).toBe(expected);
  });

  it("takes back what formatUsd wrote", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (amount) => {
        expect(nanoUsdOf(formatUsd(amount))).toBe(amount);
      }),
    );
  });
});

describe("scaleDecimal", () => {
  it("equals exact integer arithmetic for any digits", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 999_999_999n), fc.integer({ min: 0, max: 6 }), (digits, decimals) => {
        const text = digits.toString().padStart(decimals + 1, "0");
        const decimal = decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
        expect(scaleDecimal(decimal, 6)).toBe(Number(digits * 10n ** BigInt(6 - decimals)));
      }),
    );
  });
});

describe("addNanoUsd", () => {
  it("stops at the bound instead of losing digits", () => {
    expect(addNanoUsd(MAX_NANO_USD - 1, 1)).toBe(MAX_NANO_USD);
    expect(addNanoUsd(MAX_NANO_USD, MAX_NANO_USD)).toBe(MAX_NANO_USD);
    expect(addNanoUsd(1, 2)).toBe(3);
  });
});

describe("formatUsd", () => {
  it("writes totals beyond the bound of one account", () => {
    expect(formatUsd(12_345_678_900_000_000_001n)).toBe("12345678900.000000001");
    expect(formatUsd(0)).toBe("0");
  });
});
