import { inspect } from "node:util";

import { expect, it } from "vitest";

import { Secret } from "./secret.ts";

it("gives its text only to who asks for it", () => {
  const secret = new Secret("hunter2");
  expect(secret.text).toBe("hunter2");
  const shown = [
    JSON.stringify({ url: secret }),
    inspect(secret, { showHidden: true, getters: false, depth: 9 }),
    `${JSON.stringify(Object.entries(secret))} ${JSON.stringify(structuredClone(secret))}`,
  ].join(" ");
  expect(shown).not.toContain("hunter2");
  expect(Object.isFrozen(secret)).toBe(true);
});
