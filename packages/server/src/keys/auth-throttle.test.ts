import type { ClientRequest, ServerSettings } from "@dragoman/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createGateway } from "../create-gateway.ts";
import { createNodeClock } from "../ports/index.ts";
import { AddressThrottle } from "./auth-throttle.ts";
import { hashKey } from "./create-key.ts";

const WINDOW_MS = 60_000;
const server = (more: Partial<ServerSettings> = {}): ServerSettings =>
  ({ trustedProxies: [], authThrottle: { failures: 3, windowMs: WINDOW_MS }, ...more }) as ServerSettings;
const from = (remoteAddress: string | null, ...headers: readonly string[]): ClientRequest =>
  ({ remoteAddress, headers }) as unknown as ClientRequest;

describe("AddressThrottle", () => {
  it("tells those beyond the number to wait until the window ends, and begins anew then", () => {
    const throttle = new AddressThrottle();
    const fail = (nowMs: number): number | null => throttle.fail(from("192.0.2.1"), server(), nowMs);
    expect([0, 10, 20, 30, WINDOW_MS - 1].map(fail)).toEqual([null, null, null, WINDOW_MS - 30, 1]);
    expect([WINDOW_MS, WINDOW_MS + 1].map(fail)).toEqual([null, null]);
  });

  it.each([
    { name: "an IPv4 address by itself", one: "192.0.2.1", other: "192.0.2.2", isSame: false },
    { name: "a /64 of IPv6 as one", one: "2001:db8::1", other: "2001:db8::ffff:1", isSame: true },
    { name: "another /64 by itself", one: "2001:db8::1", other: "2001:db8:0:1::1", isSame: false },
    { name: "an IPv4 address alike over either protocol", one: "192.0.2.1", other: "::ffff:192.0.2.1", isSame: true },
  ])("counts $name", ({ one, other, isSame }) => {
    const throttle = new AddressThrottle();
    for (let count = 0; count < 3; count += 1) throttle.fail(from(one), server(), 0);
    expect(throttle.fail(from(other), server(), 0) !== null).toBe(isSame);
  });

  it("counts clients behind a trusted proxy apart, and the proxy's word only where it is trusted", () => {
    const throttle = new AddressThrottle();
    const proxied = (client: string): ClientRequest => from("10.0.0.1", "x-forwarded-for", client);
    const trusting = server({ trustedProxies: ["10.0.0.1"] });
    for (let count = 0; count < 3; count += 1) throttle.fail(proxied("192.0.2.1"), trusting, 0);
    expect(throttle.fail(proxied("192.0.2.2"), trusting, 0)).toBeNull();
    expect(throttle.fail(proxied("192.0.2.1"), trusting, 0)).toBe(WINDOW_MS);
    for (let count = 0; count < 3; count += 1) throttle.fail(proxied(`192.0.2.${count}`), server(), 0);
    expect(throttle.fail(proxied("192.0.2.99"), server(), 0)).toBe(WINDOW_MS);
  });

  it.each([
    ["it is off", from("192.0.2.1"), server({ authThrottle: null })],
    ["nobody knows the address", from(null), server()],
    ["the address is none", from("a socket"), server()],
  ])("lets all be when %s", (_name, request, settings) => {
    const throttle = new AddressThrottle();
    for (let count = 0; count < 10; count += 1) expect(throttle.fail(request, settings, 0)).toBeNull();
    expect(throttle.size).toBe(0);
  });

  it("remembers a bounded number of addresses, and forgets the one that has been quiet longest", () => {
    const throttle = new AddressThrottle(2);
    const fail = (address: string): number | null => throttle.fail(from(address), server(), 0);
    for (const address of ["1.1.1.1", "1.1.1.1", "1.1.1.1", "2.2.2.2", "1.1.1.1", "3.3.3.3"]) fail(address);
    expect(throttle.size).toBe(2);
    expect(fail("1.1.1.1")).not.toBeNull();
  });

  it("does not make anybody wait longer than a window when the clock goes back", () => {
    const throttle = new AddressThrottle();
    for (let count = 0; count < 9; count += 1) throttle.fail(from("192.0.2.1"), server(), 1_000_000_000);
    expect(throttle.fail(from("192.0.2.1"), server(), 0)).toBeNull();
  });
});

interface Answer {
  status: number;
  headers: readonly string[];
  body: string;
}

const KEY = "dgm_TheOnlyValidKey";

/** A gateway with one key, and a way to ask it for its models from an address at a time. */
async function rig() {
  const state = { nowMs: 1_780_000_000_000 };
  const gateway = await createGateway(
    {
      version: 1,
      server: { authThrottle: { failures: 3, per: "1m" } },
      providers: { main: { kind: "openai", credentials: ["x"] } },
      models: { chat: ["main/x"] },
      keys: [{ name: "app", hash: hashKey(KEY), models: ["*"] }],
    },
    { clock: { ...createNodeClock(), nowMs: () => state.nowMs } },
  );
  const ask = (remoteAddress: string, secret: string | null, more: readonly string[] = []): Promise<Answer> =>
    new Promise((resolve) => {
      const answer: Answer = { status: 0, headers: [], body: "" };
      gateway.handle(
        {
          method: "GET",
          path: "/v1/models",
          query: "",
          headers: secret === null ? more : ["authorization", `Bearer ${secret}`, ...more],
          contentLength: null,
          remoteAddress,
          readBody: () => Promise.resolve({ ok: false, reason: "consumed" }),
        },
        {
          onDrain: null,
          onGone: null,
          head: (status, headers) => Object.assign(answer, { status, headers }),
          write: () => true,
          end: (bytes) => resolve({ ...answer, body: Buffer.from(bytes ?? []).toString() }),
          abort: () => resolve(answer),
        },
      );
    });
  return { gateway, state, ask };
}

/** What a failure is answered with: windows of a minute that begin with a failure, both IPv6 addresses as one. */
function makeModel(): (address: string, nowMs: number) => number {
  const windows = new Map<string, { readonly sinceMs: number; readonly count: number }>();
  return (address, nowMs) => {
    const party = address.includes(":") ? "v6" : address;
    const known = windows.get(party);
    const isOpen = known !== undefined && nowMs < known.sinceMs + WINDOW_MS;
    const window = { sinceMs: isOpen ? known.sinceMs : nowMs, count: (isOpen ? known.count : 0) + 1 };
    windows.set(party, window);
    return window.count > 3 ? 429 : 401;
  };
}

describe("a gateway that counts failed authentications", () => {
  it("never refuses a valid key, whatever its address did, and refuses every other alike", async () => {
    const { gateway, state, ask } = await rig();
    const step = fc.record({
      address: fc.constantFrom("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"),
      secret: fc.constantFrom(KEY, KEY, "dgm_wrong", `${KEY}x`, null),
      waitMs: fc.nat(20_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        state.nowMs += 10 * WINDOW_MS;
        const expected = makeModel();
        for (const { address, secret, waitMs } of steps) {
          state.nowMs += waitMs;
          const { status } = await ask(address, secret);
          expect(status).toBe(secret === KEY ? 200 : expected(address, state.nowMs));
        }
      }),
      { numRuns: 300 },
    );
    await gateway.close();
  });

  it.each([
    { name: "OpenAI", more: [], type: "rate_limit_error" },
    { name: "Anthropic", more: ["anthropic-version", "2023-06-01"], type: "rate_limit_error" },
  ])("tells $name clients to wait in their own envelope, the same for every wrong key", async ({ more, type }) => {
    const { gateway, state, ask } = await rig();
    const wrong = ["dgm_a", null, `${KEY}x`, "dgm_b", KEY.slice(0, -1)];
    const answers: Answer[] = [];
    for (const secret of wrong) answers.push(await ask("192.0.2.1", secret, more));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429]);
    state.nowMs += 59_500;
    const last = await ask("192.0.2.1", "dgm_c", more);
    expect(last.headers.slice(last.headers.indexOf("retry-after")).slice(0, 2)).toEqual(["retry-after", "1"]);
    expect(JSON.parse(last.body)).toMatchObject({ error: { type } });
    const shape = ({ body }: Answer | undefined = last): string => body.replaceAll(/req_\w+/g, "req");
    expect(shape(answers[3])).toBe(shape(answers[4]));
    expect((await ask("192.0.2.1", KEY, more)).status).toBe(200);
    await gateway.close();
  });
});
