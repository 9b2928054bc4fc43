import { describe, expect, it } from "vitest";

import { completePrincipal, identifyBy } from "./host-principal.ts";
import type { HostPrincipal, PrincipalSource } from "./host-principal.ts";

const ADA = { id: "ada", owner: null, tags: [], models: ["*"], debug: false };

describe("completePrincipal", () => {
  it("fills in what the host leaves out", () => expect(completePrincipal({ id: "ada" })).toEqual(ADA));

  it("keeps what the host says", () => {
    const said = { id: "ada", owner: "team", tags: ["a"], models: [], debug: true };
    expect(completePrincipal(said)).toEqual(said);
  });

  it("keeps nothing else of the host's object", () => {
    const user = { id: "ada", password: "secret" };
    expect(completePrincipal(user)).toEqual(ADA);
  });

  it.each([undefined, null, "", 7, { toString: () => "ada" }])("refuses the id %s", (id) => {
    expect(() => completePrincipal({ id } as unknown as HostPrincipal)).toThrow("needs an id");
  });
});

describe("identifyBy", () => {
  const rows: readonly { readonly name: string; readonly source: PrincipalSource<string>; readonly who: unknown }[] = [
    { name: "a fixed caller", source: { id: "ada" }, who: ADA },
    { name: "a function", source: (request) => ({ id: request }), who: ADA },
    { name: "a function that knows nobody", source: () => null, who: null },
    { name: "a function that returns nothing", source: () => undefined, who: null },
    { name: "an async function", source: (request) => Promise.resolve({ id: request }), who: ADA },
    { name: "an async function that knows nobody", source: () => Promise.resolve(undefined), who: null },
  ];

  it.each(rows)("asks $name", async ({ source, who }) => expect(await identifyBy(source)("ada")).toEqual(who));

  it("answers at once where the source does", () => {
    expect(identifyBy<string>((request) => ({ id: request }))("ada")).not.toBeInstanceOf(Promise);
  });

  it("fails for a nameless caller, also a late one, and never takes it for nobody", async () => {
    expect(() => identifyBy(() => ({ id: "" }))("")).toThrow("needs an id");
    await expect(identifyBy(() => Promise.resolve({ id: "" }))("")).rejects.toThrow("needs an id");
    expect(() => identifyBy({ id: "" })).toThrow("needs an id");
  });
});
