import { describe, expect, it } from "vitest";

import { announcesBody } from "./announced-body.ts";

describe("announcesBody", () => {
  it.each([
    { name: "neither length nor coding", contentLength: null, headers: ["host", "a"], expected: false },
    { name: "a length of zero", contentLength: 0, headers: ["content-length", "0"], expected: false },
    { name: "a length", contentLength: 1, headers: ["content-length", "1"], expected: true },
    { name: "a transfer coding", contentLength: null, headers: ["Transfer-Encoding", "chunked"], expected: true },
  ])("is $expected with $name", ({ contentLength, headers, expected }) => {
    expect(announcesBody({ contentLength, headers })).toBe(expected);
  });
});
