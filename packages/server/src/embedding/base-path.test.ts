import { describe, expect, it } from "vitest";

import { readBasePath, stripBasePath } from "./base-path.ts";

describe("readBasePath", () => {
  it.each([
    { given: "", path: "" },
    { given: "/", path: "" },
    { given: "/llm", path: "/llm" },
    { given: "/llm/", path: "/llm" },
    { given: "/api/v2/llm", path: "/api/v2/llm" },
  ])("takes $given", ({ given, path }) => expect(readBasePath(given)).toBe(path));

  it.each(["llm", "//", "/llm//", "/llm/*", "/:tenant/llm", "/a//b", "/llm?x", "https://host/llm"])(
    "refuses %s",
    (given) => {
      expect(() => readBasePath(given)).toThrow("The base path must be like");
    },
  );
});

describe("stripBasePath", () => {
  it.each([
    { target: "/v1/models", base: "", below: "/v1/models" },
    { target: "/llm/v1/models?limit=1", base: "/llm", below: "/v1/models?limit=1" },
    { target: "/llm", base: "/llm", below: "/" },
    { target: "/llm?x=/llm/y", base: "/llm", below: "/?x=/llm/y" },
    { target: "/llm/", base: "/llm", below: "/" },
    { target: "/llmx/v1/models", base: "/llm", below: null },
    { target: "/LLM/v1/models", base: "/llm", below: null },
    { target: "/v1/models", base: "/llm", below: null },
    { target: "/a/llm/v1", base: "/llm", below: null },
  ])("$target below $base is $below", ({ target, base, below }) => expect(stripBasePath(target, base)).toBe(below));
});
