import { describe, expect, it } from "vitest";

import type { ClientDialect, ClientRoute } from "./client-dialect.ts";
import { findHeader } from "./header-list.ts";
import type { ProviderDialect } from "./provider-dialect.ts";
import type { ProviderKind } from "./provider-kind.ts";
import { DialectRegistry } from "./registry.ts";

const client = (id: string, routes: readonly ClientRoute[]): ClientDialect =>
  ({
    id,
    routes,
    claims: (path: string, headers: readonly string[]) =>
      findHeader(headers, "x-dialect") === id || path.startsWith(`/${id}/`),
  }) as unknown as ClientDialect;
const provider = (id: string): ProviderDialect => ({ id }) as unknown as ProviderDialect;
const kind = (id: string): ProviderKind => ({ id }) as unknown as ProviderKind;

const generate = (path: string): ClientRoute => ({ method: "POST", path, operation: "generate" });
const list: ClientRoute = { method: "GET", path: "/v1/models", operation: "list-models" };
const one: ClientRoute = { method: "GET", path: "/v1/models/{id}", operation: "get-model" };
const verb: ClientRoute = { method: "POST", path: "/v1beta/models/{model}:generate", operation: "generate" };

const registry = new DialectRegistry(
  [
    { client: client("one", [generate("/v1/one"), list, one]), provider: provider("one") },
    { client: client("two", [generate("/v1/two"), list, one, verb]) },
    { provider: provider("three") },
  ],
  [kind("k")],
);

describe("DialectRegistry", () => {
  it.each([
    { name: "a path of one dialect", method: "POST", path: "/v1/two", headers: [], expected: ["two", "generate"] },
    {
      name: "a shared path without a claim: the first registered",
      method: "GET",
      path: "/v1/models",
      headers: [],
      expected: ["one", "list-models"],
    },
    {
      name: "a shared path by the headers",
      method: "GET",
      path: "/v1/models",
      headers: ["X-Dialect", "two"],
      expected: ["two", "list-models"],
    },
    {
      name: "a shared pattern by the headers",
      method: "GET",
      path: "/v1/models/m",
      headers: ["x-dialect", "two"],
      expected: ["two", "get-model"],
    },
    {
      name: "a claim of a dialect without this route changes nothing",
      method: "POST",
      path: "/v1/one",
      headers: ["x-dialect", "two"],
      expected: ["one", "generate"],
    },
  ])("routes $name", ({ method, path, headers, expected }) => {
    const result = registry.route(method, path, "q=1", headers);
    expect(result.found && [result.client.id, result.match.operation]).toEqual(expected);
    expect(result.found && [result.match.path, result.match.query]).toEqual([path, "q=1"]);
  });

  it.each([
    { path: "/v1/models/gpt-5", captures: { id: "gpt-5" } },
    { path: "/v1/models/a%2Fb", captures: { id: "a%2Fb" } },
    { path: "/v1/models/org/name", captures: { id: "org/name" } },
  ])("captures from $path as it came, undecoded", ({ path, captures }) => {
    expect(registry.route("GET", path, "", [])).toMatchObject({ found: true, match: { captures } });
  });

  it("captures between fixed text, which is no regular expression", () => {
    expect(registry.route("POST", "/v1beta/models/gem.x:generate", "", [])).toMatchObject({
      found: true,
      match: { captures: { model: "gem.x" } },
    });
    expect(registry.route("POST", "/v1beta/models/gem:generateX", "", []).found).toBe(false);
    expect(registry.route("POST", "/v1beta/models/:generate", "", []).found).toBe(false);
  });

  it.each(["/v1/one/", "//v1/one", "/v1/../v1/one", "/v1/%6fne", "/V1/ONE", "/v1/one?x", "/v1/models/", ""])(
    "finds nothing at %j: paths are compared as they came",
    (path) => {
      expect(registry.route("POST", path, "", [])).toMatchObject({ found: false, allow: null });
    },
  );

  it("tells the methods of a path that has others, in its owner's envelope", () => {
    expect(registry.route("GET", "/v1/two", "", [])).toMatchObject({
      found: false,
      client: { id: "two" },
      allow: "POST",
    });
    expect(registry.route("POST", "/v1/models", "", [])).toMatchObject({ found: false, allow: "GET" });
  });

  it("answers an unknown path in the envelope of who claims it, else of the first", () => {
    expect(registry.route("POST", "/two/x", "", []).client.id).toBe("two");
    expect(registry.route("POST", "/x", "", ["x-dialect", "two"]).client.id).toBe("two");
    expect(registry.route("POST", "/x", "", []).client.id).toBe("one");
  });

  it("finds dialects and kinds by id", () => {
    expect(registry.clients.map(({ id }) => id)).toEqual(["one", "two"]);
    expect(registry.providers.map(({ id }) => id)).toEqual(["one", "three"]);
    expect(registry.kinds.map(({ id }) => id)).toEqual(["k"]);
    expect([registry.client("two")?.id, registry.provider("three")?.id, registry.kind("k")?.id]).toEqual([
      "two",
      "three",
      "k",
    ]);
    expect([registry.client("three"), registry.provider("two"), registry.kind("x")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([
    {
      name: "two client dialects of one id",
      make: () => new DialectRegistry([{ client: client("a", []) }, { client: client("a", []) }], []),
    },
    {
      name: "two provider dialects of one id",
      make: () =>
        new DialectRegistry(
          [{ client: client("a", []) }, { provider: provider("a") }, { provider: provider("a") }],
          [],
        ),
    },
    {
      name: "two kinds of one id",
      make: () => new DialectRegistry([{ client: client("a", []) }], [kind("k"), kind("k")]),
    },
    { name: "no client dialect", make: () => new DialectRegistry([{ provider: provider("a") }], []) },
  ])("refuses $name", ({ make }) => {
    expect(make).toThrow(expect.objectContaining({ code: "state_violation" }));
  });
});
