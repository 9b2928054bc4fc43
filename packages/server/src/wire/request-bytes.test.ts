import { isGatewayError } from "@dragoman/core";
import type { UpstreamRequest } from "@dragoman/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { COALESCE_BYTES, gatherWrites, serializeRequestHead } from "./request-bytes.ts";
import { makeRequest } from "./fixtures/scripted-upstream.ts";

const ORIGIN = { protocol: "http:", host: "api.test", port: 80, authority: "api.test", key: "api.test" } as const;

describe("serializeRequestHead refuses", () => {
  const rows: [string, Partial<UpstreamRequest>][] = [
    ["CR in a value", { headers: ["a", "b\rc"] }],
    ["LF in a value", { headers: ["a", "b\nc"] }],
    ["CRLF and a field in a value", { headers: ["a", "b\r\nhost: evil"] }],
    ["NUL in a value", { headers: ["a", "b\0"] }],
    ["DEL in a value", { headers: ["a", "\x7f"] }],
    ["a character beyond latin1 that would be cut to LF", { headers: ["a", "\u010a"] }],
    ["a name without value", { headers: ["a"] }],
    ["an empty name", { headers: ["", "b"] }],
    ["a space in a name", { headers: ["a b", "c"] }],
    ["a colon in a name", { headers: ["a:", "c"] }],
    ["a line end in a name", { headers: ["a\r\nb", "c"] }],
    ["a line end behind a name", { headers: ["a\n", "c"] }],
    ...[
      "Host",
      "content-length",
      "Transfer-Encoding",
      "connection",
      "TE",
      "expect",
      "upgrade",
      "trailer",
      "keep-alive",
    ].map((name): [string, Partial<UpstreamRequest>] => [`the field ${name}`, { headers: [name, "1"] }]),
    ["a target that is not a path", { path: "http://other/" }],
    ["an empty target", { path: "" }],
    ["a space in the target", { path: "/a b" }],
    ["a line end in the target", { path: "/a\r\nb" }],
    ["a line end behind the target", { path: "/a\n" }],
    ["a fragment", { path: "/a#b" }],
    ["a target beyond ASCII", { path: "/\u00e9" }],
    ["a line end in the authority", { origin: { ...ORIGIN, authority: "a\r\nb: c" } }],
    ["a length that is too small", { bodyLength: 1 }],
    ["a length that is too large", { bodyLength: 100 }],
  ];
  it.each(rows)("%s", (_name, changes) => {
    let thrown: unknown;
    try {
      serializeRequestHead(makeRequest(ORIGIN, changes));
    } catch (error) {
      thrown = error;
    }
    expect(isGatewayError(thrown) && thrown.code).toBe("state_violation");
  });
});

describe("gatherWrites", () => {
  const body = (...lengths: number[]): Uint8Array[] =>
    lengths.map((length, index) => new Uint8Array(length).fill(65 + index));
  const sizesOf = (head: string, segments: Uint8Array[]): number[] =>
    gatherWrites(
      head,
      segments,
      segments.reduce((sum, each) => sum + each.length, 0),
    ).map((write) => write.length);

  it.each([
    ["one write at the threshold", 100, [COALESCE_BYTES - 100], [COALESCE_BYTES]],
    ["the caller's memory one byte past it", 100, [COALESCE_BYTES - 99], [100, COALESCE_BYTES - 99]],
    ["small segments joined around large ones", 10, [5, 5, 20_000, 7, 2047, 2048, 1], [20, 20_000, 2054, 2048, 1]],
    [
      "long runs of small segments cut at the threshold",
      10,
      Array.from({ length: 20 }, () => 2000),
      [4010, ...Array.from({ length: 9 }, () => 4000)],
    ],
    ["the head alone", 10, [], [10]],
  ])("makes %s", (_name, headLength, lengths, sizes) => {
    expect(sizesOf("h".repeat(headLength), body(...lengths))).toEqual(sizes);
  });

  it("does not copy a large segment", () => {
    const large = Buffer.alloc(100_000);
    expect(gatherWrites("head", [large], large.length)[1]).toBe(large);
  });

  it("rejoins to head and body for any segments", () => {
    const segment = fc
      .oneof(fc.nat(50), fc.nat(3000), fc.nat(20_000))
      .chain((length) => fc.nat(255).map((octet) => Buffer.alloc(length, octet)));
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), fc.array(segment, { maxLength: 30 }), (head, segments) => {
        const whole = Buffer.concat([Buffer.from(head, "latin1"), ...segments]);
        const writes = gatherWrites(head, segments, whole.length - head.length);
        expect(Buffer.concat(writes).equals(whole)).toBe(true);
        expect(whole.length === 0 || writes.every((write) => write.length > 0)).toBe(true);
      }),
    );
  });
});
