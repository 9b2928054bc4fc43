import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { readRetryAfterMs, readShouldRetry, relayedRetryAfter, retryHintHeaders } from "./retry-after.ts";
import { decodeEnvelope, encodeEnvelope } from "./signature-envelope.ts";
import { base62Digest, legalToolId } from "./tool-ids.ts";

describe("signature envelopes", () => {
  it("are spelled as documented", () => {
    expect(encodeEnvelope({ origin: "a", model: "up-model", data: "c2ln" })).toBe("gwsig1.a.dXAtbW9kZWw.YzJsbg");
  });
  it("give back what was put in, also empty and foreign text", () => {
    const envelope = fc.record({
      origin: fc.constantFrom("a", "ar", "g", "o"),
      model: fc.string(),
      data: fc.string({ unit: "grapheme" }),
    });
    const withText = fc.tuple(envelope, fc.string({ unit: "grapheme" })).map(([fields, text]) => ({ ...fields, text }));
    fc.assert(
      fc.property(fc.oneof(envelope, withText), (fields) => {
        const text = encodeEnvelope(fields);
        expect(decodeEnvelope(text)).toEqual(fields);
        expect(JSON.stringify(text)).toBe(`"${text}"`);
      }),
    );
  });
  it("refuse everything else", () => {
    for (const text of [
      "",
      "gwsig1.",
      "gwsig1.a.b",
      "gwsig1.A.b.c",
      "gwsig1.a.b.c.d.e",
      "gwsig1.a.+.c",
      "gwsig2.a.b.c",
      "EqQBCg==",
    ]) {
      expect(decodeEnvelope(text)).toBeNull();
    }
  });
  it("never throw on any text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => decodeEnvelope(`gwsig1.${text}`)).not.toThrow();
      }),
    );
  });
});

describe("tool ids", () => {
  const rule = { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64, prefix: "toolu_", length: 24 };
  it("keep what is legal", () => {
    expect(legalToolId("call_a-1", rule)).toEqual({ id: "call_a-1", rewritten: false });
  });
  it("are legal, stable and different for different ids", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 80 }), { minLength: 2 }), (ids) => {
        const legal = ids.map((id) => legalToolId(id, rule).id);
        expect(new Set(legal).size).toBe(ids.length);
        expect(ids.map((id) => legalToolId(id, rule).id)).toEqual(legal);
        for (const id of legal) expect(id).toMatch(rule.pattern);
      }),
    );
  });
  it("have the length that the rule asks for", () => {
    expect(legalToolId("functions.f:0", { ...rule, prefix: "", length: 9 }).id).toMatch(/^[0-9A-Za-z]{9}$/);
    expect(base62Digest("", 24)).toHaveLength(24);
  });
});

describe("retry hints", () => {
  const NOW = Date.parse("2026-11-30T12:00:00Z");
  const rows: readonly (readonly [headers: readonly string[], expected: number | undefined])[] = [
    [["retry-after", "12"], 12_000],
    [["Retry-After", "0.5"], 500],
    [["retry-after-ms", "250", "retry-after", "9"], 250],
    [["retry-after", "Mon, 30 Nov 2026 12:00:30 GMT"], 30_000],
    [["retry-after", "Mon, 30 Nov 2026 11:00:00 GMT"], undefined],
    [["retry-after", "soon"], undefined],
    [["retry-after", "-5"], undefined],
    [["retry-after", "2027"], 2_027_000],
    [["x-ratelimit-reset-requests", "6m0s"], 360_000],
    [["x-ratelimit-reset-tokens", "120ms", "x-ratelimit-remaining-tokens", "0"], 120],
    [["x-ratelimit-reset-tokens", "120ms", "x-ratelimit-remaining-tokens", "9"], undefined],
    [[], undefined],
  ];
  it.each(rows)("%j wait %d", (headers, expected) => {
    expect(readRetryAfterMs(headers, NOW)).toBe(expected);
  });
  it("are relayed as they came, else computed", () => {
    const error = { class: "rate-limit", origin: "upstream", message: "", retrySame: true, fallback: true } as const;
    expect(relayedRetryAfter(["retry-after", "7", "Retry-After-Ms", "6500"])).toEqual([
      "retry-after",
      "7",
      "retry-after-ms",
      "6500",
    ]);
    expect(relayedRetryAfter([])).toBeUndefined();
    expect(retryHintHeaders({ ...error, retryAfterHeaders: ["retry-after", "7"], retryAfterMs: 1 })).toEqual([
      "retry-after",
      "7",
    ]);
    expect(retryHintHeaders({ ...error, retryAfterMs: 1001 })).toEqual(["retry-after", "2"]);
    expect(retryHintHeaders(error)).toEqual([]);
  });
  it("say whether to retry at all", () => {
    expect(
      [["x-should-retry", "TRUE"], ["x-should-retry", "false"], ["x-should-retry", "maybe"], []].map(readShouldRetry),
    ).toEqual([true, false, undefined, undefined]);
  });
});
