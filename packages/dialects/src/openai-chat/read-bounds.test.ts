import type { RequestBounds } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { documentOf } from "../testing/spelled-json.ts";
import { readBounds } from "./read-bounds.ts";

const boundsOf = (body: unknown): RequestBounds => readBounds(documentOf(JSON.stringify(body)));

describe("readBounds", () => {
  it.each<{ readonly name: string; readonly body: unknown; readonly expected: RequestBounds }>([
    {
      name: "all of them",
      body: { max_completion_tokens: 50, n: 2, user: "eve" },
      expected: { maxOutputTokens: 50, choices: 2, endUser: "eve" },
    },
    {
      name: "the current members over the deprecated ones",
      body: { max_tokens: 7, max_completion_tokens: 5, user: "a", safety_identifier: "b" },
      expected: { maxOutputTokens: 5, endUser: "b" },
    },
    { name: "the deprecated limit alone", body: { max_tokens: 7 }, expected: { maxOutputTokens: 7 } },
    {
      name: "nothing from what is not there, null, or of a wrong kind",
      body: { max_tokens: null, n: "2", user: 5, safety_identifier: "" },
      expected: {},
    },
    {
      name: "nothing from numbers that are no counts",
      body: { max_tokens: 0, max_completion_tokens: 1.5, n: -1 },
      expected: {},
    },
    { name: "nothing from a body that is no object", body: [1], expected: {} },
  ])("reads $name", ({ body, expected }) => {
    expect(boundsOf(body)).toEqual(expected);
  });
});
