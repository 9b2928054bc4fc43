import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import { Credential } from "./credential.ts";

describe("Credential", () => {
  it("gives the secret and the header value only to who asks for them", () => {
    const credential = new Credential("main#0", "hunter2", "Bearer ");
    expect(credential.secret).toBe("hunter2");
    expect(credential.headerValue).toBe("Bearer hunter2");
    const shown = [
      JSON.stringify(credential),
      inspect(credential, { showHidden: true, getters: false, depth: 9 }),
      JSON.stringify(Object.entries(credential)),
      JSON.stringify(structuredClone(credential)),
    ].join(" ");
    expect(shown).not.toContain("hunter2");
    expect(JSON.parse(JSON.stringify(credential))).toEqual({ id: "main#0" });
  });

  it("has no header value when it has no secret", () => {
    expect(new Credential("main#0", null, "Bearer ").headerValue).toBeNull();
  });
});
