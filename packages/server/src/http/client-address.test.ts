import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { findClientAddress } from "./client-address.ts";
import { createAddressSet } from "./trusted-proxies.ts";

const TRUSTED = createAddressSet(["10.0.0.0/8", "fd00::/8"]);
const forwarded = (...values: readonly string[]): readonly string[] =>
  values.flatMap((value) => ["X-Forwarded-For", value]);

describe("findClientAddress", () => {
  it.each<{
    readonly name: string;
    readonly remote: string | null;
    readonly headers: readonly string[];
    readonly expected: string | null;
  }>([
    { name: "nobody's", remote: null, headers: forwarded("1.2.3.4"), expected: null },
    {
      name: "the connection's where no proxy is trusted",
      remote: "1.1.1.1",
      headers: forwarded("9.9.9.9"),
      expected: "1.1.1.1",
    },
    { name: "the proxy's that says nothing", remote: "10.0.0.1", headers: [], expected: "10.0.0.1" },
    { name: "the one that a proxy names", remote: "10.0.0.1", headers: forwarded("1.2.3.4"), expected: "1.2.3.4" },
    {
      name: "the last one that is no proxy",
      remote: "10.0.0.1",
      headers: forwarded("9.9.9.9, 1.2.3.4, 10.0.0.2"),
      expected: "1.2.3.4",
    },
    {
      name: "the same over several fields",
      remote: "10.0.0.1",
      headers: forwarded("9.9.9.9", "1.2.3.4,10.0.0.2"),
      expected: "1.2.3.4",
    },
    {
      name: "the first of a chain of proxies alone",
      remote: "10.0.0.1",
      headers: forwarded("10.0.0.3, 10.0.0.2"),
      expected: "10.0.0.3",
    },
    { name: "IPv6", remote: "fd00::1", headers: forwarded("2001:db8::7"), expected: "2001:db8::7" },
    {
      name: "IPv6 in brackets with a port",
      remote: "fd00::1",
      headers: forwarded("[2001:db8::7]:443"),
      expected: "2001:db8::7",
    },
    { name: "IPv4 with a port", remote: "10.0.0.1", headers: forwarded("1.2.3.4:5678"), expected: "1.2.3.4" },
    {
      name: "the proxy's that names no address",
      remote: "10.0.0.1",
      headers: forwarded("1.2.3.4, unknown"),
      expected: "10.0.0.1",
    },
    {
      name: "the last known one before a hop without address",
      remote: "10.0.0.1",
      headers: forwarded("1.2.3.4, _hidden, 10.0.0.9"),
      expected: "10.0.0.9",
    },
    {
      name: "that of a proxy that comes mapped into IPv6",
      remote: "::ffff:10.0.0.1",
      headers: forwarded("1.2.3.4"),
      expected: "1.2.3.4",
    },
    { name: "nothing of Forwarded", remote: "10.0.0.1", headers: ["forwarded", "for=1.2.3.4"], expected: "10.0.0.1" },
    { name: "nothing of an empty field", remote: "10.0.0.1", headers: forwarded(""), expected: "10.0.0.1" },
  ])("is $name", ({ remote, headers, expected }) => {
    expect(findClientAddress(remote, headers, TRUSTED)).toBe(expected);
  });

  it("cannot be changed by what a client sends itself", () => {
    const anyText = fc.stringMatching(/^[0-9a-f.:,[\] _x]{0,40}$/);
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 4 }), (invented) => {
        const headers = forwarded(...invented, "1.2.3.4", "10.0.0.2");
        expect(findClientAddress("10.0.0.1", headers, TRUSTED)).toBe("1.2.3.4");
        expect(findClientAddress("1.1.1.1", headers, TRUSTED)).toBe("1.1.1.1");
      }),
    );
  });

  it("looks at a bounded number of hops", () => {
    const chain = Array.from({ length: 33 }, (_, index) => `10.0.1.${index}`).join(",");
    expect(findClientAddress("10.0.0.1", forwarded(`1.2.3.4,${chain}`), TRUSTED)).toBe("10.0.1.1");
  });
});
