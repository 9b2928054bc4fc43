import { describe, expect, it } from "vitest";

import { ERROR_CODES } from "./codes.ts";
import { GatewayError, isGatewayError } from "./gateway-error.ts";

describe("GatewayError", () => {
  it("carries code, message, cause and details", () => {
    const cause = new Error("inner");
    const error = new GatewayError("state_violation", "called twice", { cause, details: { calls: 2 } });
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe("GatewayError");
    expect(error.code).toBe("state_violation");
    expect(error.message).toBe("called twice");
    expect(error.cause).toBe(cause);
    expect(error.details).toEqual({ calls: 2 });
    expect(error.status).toBe(ERROR_CODES.state_violation.status);
    expect(error.isRetryable).toBe(false);
  });

  it("has no cause and null details when none are given", () => {
    const error = new GatewayError("gateway_closed", "closed");
    expect("cause" in error).toBe(false);
    expect(error.details).toBeNull();
    expect(error.isRetryable).toBe(true);
  });

  it("keeps a cause that is undefined apart from none", () => {
    expect("cause" in new GatewayError("internal", "x", { cause: undefined })).toBe(true);
  });
});

describe("isGatewayError", () => {
  const mark = Symbol.for("dragoman.error");
  const rows = [
    { name: "an own error", input: new GatewayError("internal", "x"), expected: true },
    {
      name: "an error of another copy of the package",
      input: Object.assign(new Error("x"), { [mark]: true }),
      expected: true,
    },
    { name: "a plain error", input: new Error("x"), expected: false },
    { name: "an object with a code", input: { code: "internal" }, expected: false },
    { name: "null", input: null, expected: false },
    { name: "undefined", input: undefined, expected: false },
    { name: "a string", input: "internal", expected: false },
  ];
  it.each(rows)("answers $expected for $name", ({ input, expected }) => {
    expect(isGatewayError(input)).toBe(expected);
  });
});
