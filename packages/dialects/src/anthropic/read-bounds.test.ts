import type { RequestBounds } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { documentOf } from "../testing/spelled-json.ts";
import { readBounds } from "./read-bounds.ts";

const boundsOf = (body: unknown): RequestBounds => readBounds(documentOf(JSON.stringify(body)));

describe("readBounds", () => {
  it.each<{ readonly name: string; readonly body: unknown; readonly expected: RequestBounds }>([
    {
      name: "both",
      body: { max_tokens: 50, metadata: { user_id: "eve" } },
      expected: { maxOutputTokens: 50, endUser: "eve" },
    },
    { name: "a limit of 0", body: { max_tokens: 0 }, expected: { maxOutputTokens: 0 } },
    {
      name: "nothing from what is not there, null, or of a wrong kind",
      body: { max_tokens: "5", metadata: { user_id: null } },
      expected: {},
    },
    {
      name: "nothing from metadata that is no object and limits that are no counts",
      body: { max_tokens: 1.5, metadata: "eve" },
      expected: {},
    },
    { name: "nothing from a body that is no object", body: [1], expected: {} },
  ])("reads $name", ({ body, expected }) => {
    expect(boundsOf(body)).toEqual(expected);
  });
});
