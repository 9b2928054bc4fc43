import { GatewayError } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { storeFailure } from "./store-failure.ts";

const withCode = (message: string, code: string): Error => Object.assign(new Error(message), { code });

describe("storeFailure", () => {
  it.each([
    {
      name: "code and message",
      cause: withCode("relation is missing", "42P01"),
      reason: "relation is missing (42P01).",
    },
    { name: "the first line", cause: new Error("one\ntwo"), reason: "one." },
    {
      name: "the first of several errors",
      cause: new AggregateError([withCode("connect refused", "ECONNREFUSED"), new Error("other")]),
      reason: "connect refused (ECONNREFUSED).",
    },
    {
      name: "no address",
      cause: new Error("Invalid URL: postgres://gw:hunter2@host/x"),
      reason: "Invalid URL: (address).",
    },
    { name: "what is no error", cause: "odd", reason: "the driver threw no error." },
  ])("tells $name", ({ cause, reason }) => {
    const error = storeFailure("PostgreSQL", "ingest entries", cause);
    expect(error).toMatchObject({ code: "ledger_store_failed", cause });
    expect(error.message).toBe(`The PostgreSQL store failed to ingest entries: ${reason}`);
  });

  it("leaves our own errors as they are", () => {
    const own = new GatewayError("state_violation", "no");
    expect(storeFailure("SQLite", "ingest entries", own)).toBe(own);
  });
});
