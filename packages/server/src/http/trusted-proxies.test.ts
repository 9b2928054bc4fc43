import { describe, expect, it } from "vitest";

import { createAddressSet, explainBlock } from "./trusted-proxies.ts";

describe("explainBlock", () => {
  it.each(["127.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "fd00::/8", "::/0", "::ffff:10.0.0.0/104", "10.1.2.3/32"])(
    "takes %s",
    (text) => {
      expect(explainBlock(text)).toBeNull();
    },
  );

  it.each([
    ["10.0.0", "IP address"],
    ["010.0.0.1", "IP address"],
    ["10.0.0.0/33", "at most 32 bits"],
    ["::/129", "at most 128 bits"],
    ["fe80::1%eth0", "IP address"],
    ["", "IP address"],
  ])("refuses %s", (text, says) => {
    expect(explainBlock(text)).toContain(says);
  });
});

describe("createAddressSet", () => {
  const set = createAddressSet(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::1", "fe80::/10"]);

  it.each([
    ["10.255.0.1", true],
    ["11.0.0.1", false],
    ["192.0.2.7", true],
    ["192.0.2.8", false],
    ["::ffff:10.0.0.1", true],
    ["::ffff:11.0.0.1", false],
    ["2001:db8:1::1", true],
    ["2001:db9::1", false],
    ["0:0:0:0:0:0:0:1", true],
    ["fe80::1%eth0", true],
    ["not an address", false],
    ["", false],
  ])("says of %s: %s", (address, expected) => {
    expect(set.has(address)).toBe(expected);
  });

  it("has nothing where nothing was given", () => {
    expect(createAddressSet([]).has("127.0.0.1")).toBe(false);
  });
});
