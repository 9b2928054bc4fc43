import { describe, expect, it } from "vitest";

import type { ClientDialect, Issue } from "../dialect/index.ts";
import {
  buildCommonHeaders,
  buildJsonHeaders,
  buildStreamHeaders,
  readUpstreamRequestId,
  type AnswerHeaderParts,
} from "./answer-headers.ts";
import { ExchangeTiming } from "./exchange-timing.ts";

const client = {
  identify: (id: string) => ["x-request-id", id],
  streamContentType: "text/event-stream",
} as unknown as ClientDialect;
const parts = (more: Partial<AnswerHeaderParts> = {}): AnswerHeaderParts => ({
  client,
  requestId: "req_1",
  generation: 7,
  upstreamRequestId: null,
  rateLimits: null,
  debug: null,
  ...more,
});
const issue = (code: Issue["code"]): Issue => ({ code, path: "", severity: "adapt", detail: "" });

describe("readUpstreamRequestId", () => {
  it.each([
    { headers: ["x-request-id", "a", "request-id", "b"], expected: "a" },
    { headers: ["Request-Id", "b"], expected: "b" },
    { headers: ["apim-request-id", "c"], expected: "c" },
    { headers: ["x-request-id", "x".repeat(128)], expected: "x".repeat(128) },
    { headers: ["x-request-id", "x".repeat(129)], expected: null },
    { headers: ["x-request-id", "a\r\nset-cookie: b"], expected: null },
    { headers: ["x-request-id", ""], expected: null },
    { headers: [], expected: null },
  ])("reads $expected", ({ headers, expected }) => {
    expect(readUpstreamRequestId(headers)).toBe(expected);
  });
});

describe("answer headers", () => {
  it("name the request and the generation, and nothing else without reason", () => {
    expect(buildCommonHeaders(parts())).toEqual(["x-request-id", "req_1", "x-dragoman-generation", "7"]);
  });

  it("tell the deployment, the attempts and each adaptation once where debug headers are on", () => {
    const timing = new ExchangeTiming({ monotonicMs: () => 0 });
    timing.markBody();
    const debug = {
      deploymentId: "a b\r\nc",
      attempts: 2,
      issues: [issue("value_adapted"), issue("id_rewritten"), issue("value_adapted")],
      timing,
    };
    expect(buildCommonHeaders(parts({ upstreamRequestId: "up", debug })).slice(4)).toEqual([
      "x-upstream-request-id",
      "up",
      "x-dragoman-deployment",
      "a_b__c",
      "x-dragoman-attempts",
      "2",
      "x-dragoman-adaptations",
      "value_adapted,id_rewritten",
      "server-timing",
      "read;dur=0.000",
    ]);
  });

  it("forbid caching and transforming of streams", () => {
    expect(buildStreamHeaders(parts()).slice(4)).toEqual([
      "content-type",
      "text/event-stream",
      "cache-control",
      "no-cache, no-transform",
      "x-accel-buffering",
      "no",
    ]);
    expect(buildJsonHeaders(parts()).slice(4)).toEqual(["content-type", "application/json"]);
  });
});
