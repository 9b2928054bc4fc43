// What may cross the gateway and what may not: credentials, destinations, headers and error texts in both directions, over the built
// server. Each row is a way in which gateways in use have leaked.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Behaviour } from "../../src/scripted-upstream/index.ts";
import { CAPABILITIES, KEY, NARROW_KEY, PROVIDER_CREDENTIAL, soleModel, startBuiltGateway } from "./built-gateway.ts";
import type { BuiltGateway } from "./built-gateway.ts";
import { ask, DIALECT, DIALECTS, post } from "./client-dialect.ts";
import type { Dialect } from "./client-dialect.ts";
import { modelFor, ROUTES, SCRIPTED_MODELS } from "./upstream-rig.ts";
import type { Route } from "./upstream-rig.ts";

const MARKER = "content-that-no-log-may-hold";

let gateway: BuiltGateway;
beforeAll(async () => {
  gateway = await startBuiltGateway({
    models: {
      ...SCRIPTED_MODELS,
      "locked-401": soleModel("locked", "scripted-locked-401"),
      bare: soleModel("bare", "scripted-text"),
      crossing: {
        attempts: 1,
        deployments: [
          { id: "crossing-1", provider: "chat", model: "scripted-error-503", capabilities: CAPABILITIES, tier: 1 },
          { id: "crossing-2", provider: "messages", model: "scripted-text", capabilities: CAPABILITIES, tier: 2 },
        ],
      },
    },
  });
});
afterAll(() => gateway.close());

const WAYS = DIALECTS.flatMap((dialect) => ROUTES.map((route) => ({ dialect, route })));

/** Asks for a behaviour that has no name; the script is taken back afterwards. */
async function askScripted(
  way: { readonly dialect: Dialect; readonly route: Route },
  behaviour: Behaviour,
  stream = false,
) {
  const model = modelFor({ ...way, faults: "text", stream });
  gateway.upstream.script([{ model: model.slice(model.indexOf("/") + 1), behaviour }]);
  const answer = await ask(gateway.url, post(way.dialect, way.dialect.body({ model, stream, text: MARKER })));
  gateway.upstream.script(null);
  return answer;
}

describe.each(WAYS)("headers towards the provider ($dialect.name, $route)", ({ dialect, route }) => {
  it("are written anew: nothing of the client's but what the dialect needs, no credential-shaped field, no compression", async () => {
    const foreign = [
      "cookie: session=client-secret",
      "x-goog-api-key: client-secret",
      "proxy-authorization: Basic client-secret",
      "x-forwarded-for: 203.0.113.9",
      "x-forwarded-host: client-secret.test",
      "forwarded: for=203.0.113.9",
      "x-real-ip: 203.0.113.9",
      "accept-encoding: gzip, br",
      "te: trailers",
      "user-agent: client-secret",
      "x-stainless-lang: client-secret",
      "x-custom: client-secret",
      "openai-organization: client-secret",
      "via: 1.1 client-secret",
    ];
    const model = modelFor({ dialect, route, faults: "text", stream: false });
    const answer = await ask(gateway.url, post(dialect, dialect.body({ model }), `${foreign.join("\r\n")}\r\n`));
    expect(answer.status).toBe(200);
    const call = gateway.upstream.calls.at(-1)!;
    const names = Object.keys(call.headers).toSorted();
    const credential = call.path === "/v1/messages" ? "x-api-key" : "authorization";
    expect(names).toEqual(
      [
        "accept",
        "accept-encoding",
        ...(credential === "x-api-key" ? ["anthropic-version"] : []),
        "content-length",
        "content-type",
        credential,
        "host",
        "user-agent",
        ...(call.headers["connection"] === undefined ? [] : ["connection"]),
      ].toSorted(),
    );
    expect(call.headers[credential]).toContain(PROVIDER_CREDENTIAL);
    expect(call.headers["accept-encoding"]).toBe("identity");
    const sent = JSON.stringify(call.rawHeaders) + call.target;
    for (const secret of ["client-secret", KEY, "203.0.113.9"]) expect(sent).not.toContain(secret);
  });
});

describe.each(WAYS)("headers towards the client ($dialect.name, $route)", (way) => {
  it.each([false, true])("are written anew (stream: %s)", async (stream) => {
    const answer = await askScripted(
      way,
      {
        faults: [
          {
            kind: "headers",
            add: [
              ["set-cookie", "session=provider-secret; Domain=provider.test"],
              ["x-internal-host", "provider-secret"],
              ["server", "provider-secret"],
              ["via", "1.1 provider-secret"],
              ["keep-alive", "timeout=5"],
              ["proxy-authenticate", "Basic realm=provider-secret"],
              ["www-authenticate", "Bearer realm=provider-secret"],
              ["access-control-allow-origin", "*"],
              ["x-dragoman-generation", "999"],
              ["openai-organization", "provider-secret"],
            ],
          },
        ],
      },
      stream,
    );
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.headers)).not.toContain("provider-secret");
    for (const name of [
      "set-cookie",
      "server",
      "via",
      "proxy-authenticate",
      "www-authenticate",
      "access-control-allow-origin",
    ])
      expect(answer.headers).not.toHaveProperty(name);
    expect(answer.headers["x-dragoman-generation"]).toBe("1");
  });
});

describe.each(WAYS)("a stream ($dialect.name, $route)", (way) => {
  it("is kept from caches and rewriting proxies", async () => {
    const answer = await askScripted(way, {}, true);
    expect(answer.headers["cache-control"]).toBe("no-cache, no-transform");
  });
});

describe("a client chooses no destination", () => {
  const ELSEWHERE = "http://169.254.169.254/latest/meta-data";
  it.each([
    ["at the top", `"api_base":"${ELSEWHERE}","base_url":"${ELSEWHERE}","api_key":"k"`],
    ["in extra_body", `"extra_body":{"api_base":"${ELSEWHERE}"}`],
    ["in metadata", `"metadata":{"api_base":"${ELSEWHERE}"}`],
    ["in a list of fallbacks", `"fallbacks":[{"model":"x","api_base":"${ELSEWHERE}"}]`],
    ["in a list of models", `"models":["${ELSEWHERE}"],"route":"fallback"`],
  ])("by a member %s: it is data, or refused", async (_name, member) => {
    for (const dialect of DIALECTS)
      for (const route of ROUTES) {
        const before = gateway.upstream.calls.length;
        const model = modelFor({ dialect, route, faults: "text", stream: false });
        const answer = await ask(gateway.url, post(dialect, dialect.body({ model }).replace("{", `{${member},`)));
        expect([200, 400]).toContain(answer.status);
        const calls = gateway.upstream.calls.slice(before);
        expect(calls).toHaveLength(answer.status === 200 ? 1 : 0);
        for (const call of calls) {
          expect(["/v1/chat/completions", "/v1/messages"]).toContain(call.target);
          expect(`http://${call.headers["host"]}`).toBe(gateway.upstream.url);
        }
      }
  });

  it.each([
    ["a URL", ELSEWHERE],
    ["a vendor's path with a URL", `huggingface/${ELSEWHERE}`],
    ["a URL behind a glob", `chat/${ELSEWHERE}`],
    ["a path that climbs behind a glob", "chat/../../admin"],
    ["a query behind a glob", "chat/scripted-text?x=y"],
    ["a line end behind a glob", "chat/scripted-text\r\nx-injected: 1"],
  ])("by a model named like %s", async (_name, model) => {
    for (const dialect of DIALECTS) {
      const before = gateway.upstream.calls.length;
      const answer = await ask(gateway.url, post(dialect, dialect.body({ model })));
      const calls = gateway.upstream.calls.slice(before);
      // What a model's name may hold goes as data to the configured place, and nowhere else.
      const mayBeName = /^chat\/[A-Za-z0-9._:@/-]+$/.test(model);
      expect(mayBeName ? [200, 400, 404] : [400, 404]).toContain(answer.status);
      expect(calls.map(({ target }) => target)).toEqual(answer.status === 200 ? ["/v1/chat/completions"] : []);
    }
  });
});

describe("credentials", () => {
  it("of a client never stand in for one that a provider does not have", async () => {
    for (const dialect of DIALECTS) {
      const before = gateway.upstream.calls.length;
      await ask(gateway.url, post(dialect, dialect.body({ model: "bare" })));
      for (const call of gateway.upstream.calls.slice(before)) {
        expect(JSON.stringify(call.rawHeaders)).not.toContain(KEY);
        expect(call.headers).not.toHaveProperty("authorization");
      }
    }
  });

  it.each(DIALECTS)("that a provider refuses are no fault of a client of $name, and are not shown", async (dialect) => {
    const message = `Incorrect API key provided: ${PROVIDER_CREDENTIAL}. Find yours at https://provider.test/keys.`;
    gateway.upstream.script([{ model: "scripted-locked-401", behaviour: { error: { status: 401, message } } }]);
    const answer = await ask(gateway.url, post(dialect, dialect.body({ model: "locked-401" })));
    gateway.upstream.script(null);
    expect(answer.status).toBe(502);
    expect(dialect.errorOf(answer).message).toMatch(/credential/);
    for (const word of ["sk-", "Incorrect", "provider.test"]) expect(answer.body).not.toContain(word);
  });

  it.each(WAYS)("that a provider echoes in a refused request are masked ($dialect.name, $route)", async (way) => {
    const message = `Unexpected member near key ${PROVIDER_CREDENTIAL} in the request.`;
    const answer = await askScripted(way, { error: { status: 400, message } });
    expect(answer.status).toBe(400);
    expect(answer.body).not.toContain(PROVIDER_CREDENTIAL.slice(0, 20));
    expect(way.dialect.errorOf(answer).message).toContain("Unexpected member");
  });

  it.each(WAYS)("that a provider echoes in a stream's error are masked ($dialect.name, $route)", async (way) => {
    const message = `Overloaded while serving ${PROVIDER_CREDENTIAL} at 10.0.0.7.`;
    const answer = await askScripted(
      way,
      { faults: [{ kind: "error-record", afterRecords: 4, status: 529, message }] },
      true,
    );
    expect(answer.status).toBe(200);
    expect(way.dialect.hasErrorEvent(answer.body)).toBe(true);
    expect(answer.body).not.toContain(PROVIDER_CREDENTIAL.slice(0, 20));
  });

  it("and contents are in no line of the log", () => {
    expect(gateway.log).toContain('"msg":"request"');
    for (const secret of [KEY, NARROW_KEY, PROVIDER_CREDENTIAL, MARKER]) expect(gateway.log).not.toContain(secret);
  });
});

describe("the upstream body", () => {
  it("holds the client's members and the encoder's alone, at first and after a fall-back to another dialect", async () => {
    const before = gateway.upstream.calls.length;
    const body = '{"model":"crossing","messages":[{"role":"user","content":"hi"}],"temperature":0.5}';
    expect((await ask(gateway.url, post(DIALECT.openai, body))).status).toBe(200);
    const calls = gateway.upstream.calls.slice(before);
    expect(calls[0]?.body.toString("utf8")).toBe(body.replace("crossing", "scripted-error-503"));
    expect(calls[1]?.json).toEqual({
      model: "scripted-text",
      max_tokens: CAPABILITIES.defaultMaxOutputTokens,
      messages: [{ role: "user", content: expect.anything() as unknown }],
      temperature: 0.5,
    });
    expect(calls).toHaveLength(2);
  });
});

describe.each(ROUTES)("what a provider says about waiting (%s)", (route) => {
  const LIMITED: Behaviour = {
    error: {
      status: 429,
      message: "Number of requests has exceeded your rate limit.",
      headers: [
        ["retry-after", "287441"],
        ["anthropic-ratelimit-unified-status", "rejected"],
      ],
    },
  };
  it.each(DIALECTS)("reaches a client of $name: 429 with retry-after", async (dialect) => {
    const answer = await askScripted({ dialect, route }, LIMITED);
    expect(answer.status).toBe(429);
    expect(dialect.errorOf(answer).type).toBe("rate_limit_error");
    expect(answer.headers["retry-after"]).toBe("287441");
    // The other fields describe the operator's account, not the client's.
    expect(answer.headers).not.toHaveProperty("anthropic-ratelimit-unified-status");
  });

  it.each([
    ["garbage", "soon"],
    ["a negative number", "-5"],
    ["a number with a unit", "5s"],
    ["no HTTP date", "2030-01-01T00:00:00Z"],
  ])("is left out when it is %s", async (_name, value) => {
    for (const dialect of DIALECTS) {
      const error = { status: 429, headers: [["retry-after", value]] } as const;
      const answer = await askScripted({ dialect, route }, { error });
      expect(answer.status).toBe(429);
      expect(answer.headers).not.toHaveProperty("retry-after");
    }
  });

  it("may be an HTTP date", async () => {
    const date = "Wed, 21 Oct 2037 07:28:00 GMT";
    const error = { status: 429, headers: [["retry-after", date]] } as const;
    for (const dialect of DIALECTS)
      expect((await askScripted({ dialect, route }, { error })).headers["retry-after"]).toBe(date);
  });

  it("an overload of 529 is 529 for one dialect and 503 for the other", async () => {
    const error = { status: 529, message: "Overloaded" };
    expect((await askScripted({ dialect: DIALECT.anthropic, route }, { error })).status).toBe(529);
    expect((await askScripted({ dialect: DIALECT.openai, route }, { error })).status).toBe(503);
  });
});

describe("frames of a stream", () => {
  const chunk = (delta: string, finish = "null"): string =>
    `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}`;
  const end = `data: ${chunk("{}", '"stop"')}\n\ndata: [DONE]\n\n`;
  const bodies = (route: Route) => ({ dialect: route === "forwarded" ? DIALECT.openai : DIALECT.anthropic, route });

  it.each(ROUTES)("end at blank lines only, however long they are (%s)", async (route) => {
    const long = "x".repeat(150_000);
    const body = `: PROCESSING\n\ndata: ${chunk(`{"content":"${long}"}`)}\n\nevent: message\ndata: ${chunk('{"content":"y"}')}\n\n${end}`;
    const way = bodies(route);
    const answer = await askScripted(
      way,
      {
        faults: [
          { kind: "body", bytes: body },
          { kind: "split", bytes: 1460 },
        ],
      },
      true,
    );
    expect(way.dialect.isCleanEnd(answer.body)).toBe(true);
    expect([...answer.body.matchAll(/x{3,}/g)].map(([run]) => run.length)).toEqual([150_000]);
    expect(answer.body).not.toMatch(/data: ?:|data: ?data:|PROCESSING/);
  });

  it.each(ROUTES)("that several data lines make are joined (%s)", async (route) => {
    const way = bodies(route);
    const whole = chunk('{"content":"joined"}');
    // A line end is white space between two tokens of the JSON text.
    const cut = whole.indexOf(",") + 1;
    const body = `data: ${whole.slice(0, cut)}\ndata: ${whole.slice(cut)}\n\n${end}`;
    const answer = await askScripted(way, { faults: [{ kind: "body", bytes: body }] }, true);
    expect(way.dialect.isCleanEnd(answer.body)).toBe(true);
    expect(answer.body).toContain("joined");
  });

  it.each(ROUTES)("that are glued into each other are a broken answer (%s)", async (route) => {
    const way = bodies(route);
    const glued = `data: ${chunk('{"content":"a"}')}\n\ndata: {"id":"c","obdata: ${chunk('{"content":"b"}')}\n\n${end}`;
    const answer = await askScripted(way, { faults: [{ kind: "body", bytes: glued }] }, true);
    expect(answer.status).toBe(200);
    expect(way.dialect.hasErrorEvent(answer.body)).toBe(true);
    expect(way.dialect.isCleanEnd(answer.body)).toBe(false);
  });

  it.each(ROUTES)("behind the end are ignored, a second end is harmless (%s)", async (route) => {
    const way = bodies(route);
    const body = `data: ${chunk('{"content":"a"}')}\n\n${end}data: [DONE]\n\ndata: ${chunk('{"content":"late"}')}\n\n`;
    const answer = await askScripted(way, { faults: [{ kind: "body", bytes: body }] }, true);
    expect(way.dialect.isCleanEnd(answer.body)).toBe(true);
    expect(answer.body).not.toContain("late");
  });
});
