import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { findTargetProblem } from "./request-target.ts";

describe("findTargetProblem", () => {
  it.each([
    "/",
    "/v1/chat/completions",
    "/v1beta/models/a:b?alt=sse&key=x'y",
    "/a.b/..c/.d/e..",
    "/%41/%2F/%252e%252e",
    "/?a=/../b",
    "/a?//",
    "/a?%2e%2e",
  ])("serves %s", (target) => expect(findTargetProblem(target)).toBeNull());

  it.each([
    "",
    "*",
    "a",
    "//",
    "/a//",
    "/.",
    "/..",
    "/a/.",
    "/%2e",
    "/%2E%2e/",
    "/.%2e",
    "/%00",
    "/?%00",
    "/%",
    "/%4",
    "/%gg",
    "/a b",
    "/\\",
    "/#",
    '/"',
    "/<",
    "/^",
    "/`",
    "/{",
    "/|",
    "/\x7f",
    "/\xff",
    "/\u0100",
    "http://a/",
    "a:80",
  ])("refuses %j", (target) => expect(findTargetProblem(target)).not.toBeNull());

  it("serves only targets that the WHATWG URL parser leaves as they are", () => {
    const piece = fc.constantFrom(
      "/",
      ".",
      "..",
      "%2e",
      "%2E",
      "%",
      "%00",
      "%41",
      "?",
      "#",
      "\\",
      "@",
      ":",
      ";",
      "a",
      "Z",
      "~",
      "[",
      "]",
      "'",
      "=",
      " ",
      "\t",
      "\xe4",
      "|",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const target = `/${pieces.join("")}`;
        if (findTargetProblem(target) !== null) return;
        const url = new URL(`http://host${target}`);
        expect(url.pathname).toBe(target.split("?")[0]);
        expect(url.host).toBe("host");
        expect(url.hash).toBe("");
      }),
      { numRuns: 2_000 },
    );
  });
});
