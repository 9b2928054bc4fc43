import { describe, expect, it } from "vitest";

import { Credential, type Deployment } from "../config/index.ts";
import { findHeader, findHeaders } from "../dialect/index.ts";
import { buildUpstreamHeaders, isForwardable } from "./upstream-headers.ts";

const deployment = (headersAllow: unknown, headers: readonly string[] = []): Deployment =>
  ({
    provider: { credentialHeader: { name: "x-key", prefix: "P " }, headers },
    options: { headersAllow },
  }) as unknown as Deployment;

const build = (of: Deployment, clientHeaders: readonly string[], secret: string | null = "s3cret"): readonly string[] =>
  buildUpstreamHeaders({
    deployment: of,
    credential: new Credential("p#0", secret, "P "),
    dialectHeaders: ["x-version", "1"],
    clientHeaders,
    isStream: true,
    userAgent: "agent/1",
  });

describe("isForwardable", () => {
  it.each([
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "proxy-authorization",
    "proxy-connection",
    "cookie",
    "host",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "content-length",
    "content-type",
    "content-encoding",
    "accept",
    "accept-encoding",
    "user-agent",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-dragoman-user",
  ])("never lets %s pass", (name) => {
    expect(isForwardable(name)).toBe(false);
    expect(build(deployment([name]), [name, "from-client"]).includes("from-client")).toBe(false);
  });

  it.each(["x-session", "traceparent", "openai-organization", "anthropic-beta"])("may let %s pass", (name) => {
    expect(isForwardable(name)).toBe(true);
  });
});

describe("buildUpstreamHeaders", () => {
  it("writes the head anew: nothing of the client's passes when nothing is allowed", () => {
    expect(build(deployment(undefined, ["x-project", "p"]), ["x-session", "1", "Cookie", "c"])).toEqual([
      "content-type",
      "application/json",
      "accept",
      "text/event-stream",
      "accept-encoding",
      "identity",
      "user-agent",
      "agent/1",
      "x-key",
      "P s3cret",
      "x-version",
      "1",
      "x-project",
      "p",
    ]);
  });

  it("lets listed headers pass, whatever their case, with all their values", () => {
    const headers = build(deployment(["x-session"]), ["X-Session", "1", "x-other", "2", "x-session", "3"]);
    expect(findHeaders(headers, "x-session")).toEqual(["1", "3"]);
    expect(findHeader(headers, "x-other")).toBeUndefined();
  });

  it("sends no credential header for an account without a secret", () => {
    expect(findHeader(build(deployment([]), [], null), "x-key")).toBeUndefined();
  });

  it("takes an allow-list that is no list for none", () => {
    expect(build(deployment("x-session"), ["x-session", "1"])).not.toContain("x-session");
  });
});
