import { describe, expect, it } from "vitest";

import { checkAnswerFields } from "./answer-fields.ts";

describe("checkAnswerFields", () => {
  it.each([
    ["a line end in a value", ["a", "b\r\nc: d"]],
    ["a bare LF in a value", ["a", "b\nc"]],
    ["NUL in a value", ["a", "\0"]],
    ["a character beyond latin1", ["a", "\u20ac"]],
    ["a colon in a name", ["a:b", "c"]],
    ["an empty name", ["", "c"]],
    ["a fault behind a sound field", ["a", "b", "c d", "e"]],
  ])("refuses %s", (_name, headers) => {
    expect(() => checkAnswerFields(headers)).toThrow(expect.objectContaining({ code: "state_violation" }));
  });

  it.each([
    ["no fields", []],
    ["an empty value", ["a", ""]],
    ["tabs and octets beyond ASCII in a value", ["x-A", "b\t\xe4"]],
  ])("takes %s", (_name, headers) => {
    expect(() => checkAnswerFields(headers)).not.toThrow();
  });
});
