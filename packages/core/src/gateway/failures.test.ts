import { describe, expect, it } from "vitest";

import type { NeutralError } from "../ir/index.ts";
import { scan } from "../json/index.ts";
import {
  allResting,
  bodyFailure,
  brokenAnswer,
  forbiddenModel,
  internalFailure,
  invalidRequest,
  jsonFailure,
  noCredential,
  shuttingDown,
  transportFailure,
  unauthorized,
  unknownModel,
  unknownRoute,
  unsupportedMedia,
  upstreamTimeout,
  wrongMethod,
} from "./failures.ts";

const parseFailure = (text: string): NeutralError => {
  const result = scan(Buffer.from(text));
  if (result.ok) throw new Error("the text should not be JSON");
  return jsonFailure(result.error);
};

describe("failures", () => {
  it.each<{ readonly name: string; readonly error: NeutralError; readonly expected: Partial<NeutralError> }>([
    {
      name: "invalidRequest",
      error: invalidRequest("no"),
      expected: { class: "invalid-request", origin: "client", code: "invalid_request", message: "no" },
    },
    {
      name: "too large a body",
      error: bodyFailure("too-large", 10),
      expected: { class: "too-large", origin: "client", code: "body_too_large" },
    },
    {
      name: "a slow body",
      error: bodyFailure("timeout", 10),
      expected: { class: "timeout", origin: "client", code: "body_timeout" },
    },
    {
      name: "a short body",
      error: bodyFailure("incomplete", 10),
      expected: { class: "invalid-request", origin: "client" },
    },
    {
      name: "a malformed body",
      error: bodyFailure("malformed", 10),
      expected: { class: "invalid-request", origin: "client" },
    },
    {
      name: "a body that the host has read",
      error: bodyFailure("consumed", 10),
      expected: { class: "internal", origin: "gateway", code: "body_consumed" },
    },
    {
      name: "unauthorized",
      error: unauthorized("who?"),
      expected: { class: "auth", origin: "client", code: "invalid_api_key" },
    },
    { name: "unknownRoute", error: unknownRoute("GET"), expected: { class: "not-found", code: "route_not_found" } },
    {
      name: "wrongMethod",
      error: wrongMethod("POST"),
      expected: {
        class: "method-not-allowed",
        code: "method_not_allowed",
        message: "This path takes POST requests only.",
      },
    },
    { name: "unsupportedMedia", error: unsupportedMedia("xml"), expected: { class: "unsupported-media-type" } },
    { name: "unknownModel", error: unknownModel("m"), expected: { class: "not-found", code: "model_not_found" } },
    {
      name: "forbiddenModel",
      error: forbiddenModel("m"),
      expected: { class: "permission", code: "permission_denied" },
    },
    { name: "internalFailure", error: internalFailure(), expected: { class: "internal", origin: "gateway" } },
    {
      name: "shuttingDown",
      error: shuttingDown(),
      expected: { class: "overloaded", code: "gateway_closed", retryAfterMs: 1_000 },
    },
    {
      name: "allResting",
      error: allResting(42),
      expected: { class: "overloaded", code: "no_deployment_available", retryAfterMs: 42 },
    },
  ])("$name is final and says whose fault it is", ({ error, expected }) => {
    expect(error).toMatchObject({ ...expected, retrySame: false, fallback: false });
    expect(error.message).not.toBe("");
  });

  it.each<{ readonly name: string; readonly error: NeutralError; readonly expected: Partial<NeutralError> }>([
    {
      name: "a provider without credential",
      error: noCredential(),
      expected: { class: "auth", origin: "upstream", retrySame: false, fallback: true },
    },
    {
      name: "our patience with one attempt",
      error: upstreamTimeout(false),
      expected: { class: "timeout", retrySame: false, fallback: true },
    },
    {
      name: "our patience with the exchange",
      error: upstreamTimeout(true),
      expected: { class: "timeout", retrySame: false, fallback: false },
    },
    {
      name: "a broken answer",
      error: brokenAnswer("what"),
      expected: { class: "protocol", code: "upstream_protocol_error", retrySame: true, fallback: true },
    },
    {
      name: "broken HTTP",
      error: transportFailure({ kind: "protocol", detail: "two lengths", hasResponse: true }),
      expected: { class: "protocol", message: "two lengths" },
    },
    {
      name: "a slow connect",
      error: transportFailure({ kind: "connect-timeout", detail: "", hasResponse: false }),
      expected: { class: "timeout", fallback: true },
    },
    {
      name: "a refused connect",
      error: transportFailure({ kind: "connect", detail: "10.0.0.1", hasResponse: false }),
      expected: { class: "network", retrySame: true, fallback: true, message: "The provider could not be reached." },
    },
    {
      name: "a lost connection",
      error: transportFailure({ kind: "reset", detail: "x", hasResponse: true }),
      expected: { class: "network", message: "The provider connection was lost." },
    },
  ])("$name leaves routing its choice", ({ error, expected }) => {
    expect(error).toMatchObject(expected);
  });

  it("shows no host of a transport failure in its message", () => {
    expect(
      transportFailure({ kind: "dns", detail: "no such host: secret.internal", hasResponse: false }).message,
    ).not.toContain("internal");
  });

  it("says where a body stops being JSON", () => {
    const error = parseFailure('{\n  "a": [1, nope]\n}');
    expect(error).toMatchObject({
      class: "invalid-request",
      origin: "client",
      code: "json_syntax",
      details: { line: 2, column: 12, path: "$.a[1]" },
    });
    expect(error.message).toContain("line 2, column 12");
  });

  it("echoes a model's name short and printable", () => {
    const { message } = unknownModel(`a\r\nb\u0000${"x".repeat(500)}`);
    expect(message).toContain("a??b?");
    expect(message.length).toBeLessThan(250);
  });
});
