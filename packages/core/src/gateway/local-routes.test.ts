import { describe, expect, it } from "vitest";

import { answerLocalRoute, isLocalRoute, type Readiness } from "./local-routes.ts";
import type { ClientRequest, Responder } from "./ports.ts";

const READY: Readiness = { isOpen: true, generation: 3, parts: { isReady: true, facts: {} } };

function ask(method: string, path: string, readiness: Readiness): { readonly status: number; readonly body: unknown } {
  const seen = { status: 0, body: null as unknown };
  const responder = {
    head: (status: number) => void (seen.status = status),
    end: (bytes: Uint8Array | null) => {
      seen.body = bytes === null ? null : JSON.parse(Buffer.from(bytes).toString());
    },
  } as unknown as Responder;
  const request = { method, path, query: "", headers: [], contentLength: null } as unknown as ClientRequest;
  answerLocalRoute(request, responder, readiness);
  return seen;
}

describe("isLocalRoute", () => {
  it.each([
    ["GET", "/healthz", true],
    ["HEAD", "/readyz", true],
    ["HEAD", "/", true],
    ["GET", "/", false],
    ["POST", "/healthz", false],
    ["GET", "/healthz/", false],
  ])("%s %s: %s", (method, path, expected) => {
    expect(isLocalRoute(method, path)).toBe(expected);
  });
});

describe("answerLocalRoute", () => {
  const rows: readonly {
    readonly name: string;
    readonly readiness: Readiness;
    readonly status: number;
    readonly body: Readonly<Record<string, unknown>>;
  }[] = [
    { name: "an open gateway", readiness: READY, status: 200, body: { status: "ready", generation: 3 } },
    {
      name: "an open gateway with a part that is down but not needed",
      readiness: { ...READY, parts: { isReady: true, facts: { ledger: { store: "down" } } } },
      status: 200,
      body: { status: "ready", generation: 3, ledger: { store: "down" } },
    },
    {
      name: "a gateway that would refuse requests",
      readiness: { ...READY, parts: { isReady: false, facts: { ledger: { journal: "full" } } } },
      status: 503,
      body: { status: "unready", generation: 3, ledger: { journal: "full" } },
    },
    {
      name: "a draining gateway",
      readiness: { ...READY, isOpen: false },
      status: 503,
      body: { status: "stopping", generation: 3 },
    },
  ];
  it.each(rows)("tells a readiness probe of $name", ({ readiness, status, body }) => {
    expect(ask("GET", "/readyz", readiness)).toEqual({ status, body });
    expect(ask("HEAD", "/readyz", readiness)).toEqual({ status, body: null });
  });

  it("is alive whatever its readiness", () => {
    expect(ask("GET", "/healthz", { ...READY, isOpen: false })).toEqual({ status: 200, body: { status: "ok" } });
    expect(ask("HEAD", "/", READY)).toEqual({ status: 200, body: null });
  });
});
