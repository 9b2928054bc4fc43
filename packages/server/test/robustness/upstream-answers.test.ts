// Broken and hostile answers of an upstream, for both client dialects, forwarded and translated, streamed and whole. Before the commit
// another deployment serves or the client gets a 502 in its dialect; after it the dialect's error event; never a clean end. A
// socket that said anything unexpected carries nothing more, and no other client sees a byte of it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { ODD_RESPONSES } from "../../src/scripted-upstream/index.ts";
import { until } from "../harness/until.ts";
import { PROVIDER_CREDENTIAL, startBuiltGateway } from "./built-gateway.ts";
import type { BuiltGateway } from "./built-gateway.ts";
import { ask, DIALECT, DIALECTS, post } from "./client-dialect.ts";
import type { Dialect } from "./client-dialect.ts";
import { askThrough, expectSocketUnused, modelFor, ROUTES, SCRIPTED_MODELS } from "./upstream-rig.ts";
import type { Route } from "./upstream-rig.ts";

let gateway: BuiltGateway;
beforeAll(async () => {
  gateway = await startBuiltGateway({ models: SCRIPTED_MODELS });
});
afterAll(() => gateway.close());

interface Way {
  readonly dialect: Dialect;
  readonly route: Route;
  readonly stream: boolean;
}

/** All ways of an exchange. */
const WAYS: readonly Way[] = DIALECTS.flatMap((dialect) =>
  ROUTES.flatMap((route) => [false, true].map((stream) => ({ dialect, route, stream }))),
);
const STREAMS = WAYS.filter(({ stream }) => stream);
const WHOLES = WAYS.filter(({ stream }) => !stream);

/** Odd responses that are legal HTTP and serve a client; every other one is refused. */
const LEGAL = new Set([
  "no-reason",
  "no-reason-no-space",
  "http-1-0",
  "chunk-extension",
  "trailer-fields",
  "connection-close-kept",
  "set-cookie",
]);
/** Legal HTTP on a socket that may be kept, but no answer to what was asked. */
const NO_ANSWER = new Set(["redirect-301", "redirect-307", "redirect-308", "reset-content-with-body"]);

/** The client's row of expectations for an answer that failed before the commit. */
function expectBadGateway(dialect: Dialect, answer: Awaited<ReturnType<typeof ask>>): void {
  expect(answer.status).toBe(502);
  expect(dialect.errorOf(answer)).toMatchObject({ type: dialect.name === "openai" ? "server_error" : "api_error" });
  for (const word of ["127.0.0.1", "localhost", PROVIDER_CREDENTIAL, "    at "])
    expect(answer.body).not.toContain(word);
}

describe("an answer that is no acceptable HTTP", () => {
  const refused = Object.keys(ODD_RESPONSES).filter((name) => !LEGAL.has(name));
  it.each(refused)("%s is refused with 502, and its socket is not used again", async (name) => {
    for (const way of name.endsWith("bomb") || name.startsWith("long") ? WAYS.slice(0, 1) : WAYS) {
      const { answer, calls } = await askThrough(gateway, { ...way, faults: `head-${name}` });
      expectBadGateway(way.dialect, answer);
      expect(calls).toHaveLength(1);
    }
    const { calls } = await askThrough(gateway, { ...(WAYS[0] as Way), faults: `head-${name}` });
    if (!NO_ANSWER.has(name)) await expectSocketUnused(gateway, DIALECT.openai, calls[0]!);
  });

  it.each(refused)("%s makes way for the next deployment", async (name) => {
    const asked = {
      dialect: DIALECT.openai,
      route: "forwarded",
      stream: false,
      isGuarded: true,
      text: "again",
    } as const;
    const { answer, calls } = await askThrough(gateway, { ...asked, faults: `head-${name}` });
    expect(answer.status).toBe(200);
    expect(DIALECT.openai.textOf(answer)).toContain("again");
    expect(calls).toHaveLength(2);
  });

  it.each([...LEGAL])("%s is legal and served, without the provider's own fields", async (name) => {
    const { answer } = await askThrough(gateway, {
      dialect: DIALECT.openai,
      route: "forwarded",
      stream: false,
      faults: `head-${name}`,
    });
    expect(answer.status).toBe(200);
    expect(DIALECT.openai.textOf(answer)).toBe("odd");
    for (const field of ["set-cookie", "x-checksum", "trailer"]) expect(answer.headers).not.toHaveProperty(field);
  });
});

describe.each(WAYS)("an answer that is no answer ($dialect.name, $route, stream: $stream)", (way) => {
  const NEVER_SERVED = [
    "garbage-text",
    "garbage-html",
    "garbage-invalid-utf8",
    "garbage-null",
    "garbage-array",
    "garbage-number",
    "garbage-empty",
    "garbage-deep",
    "garbage-truncated-json",
    "garbage-duplicate-names",
    "wrong-type",
    "gzip",
    "gzip-bomb",
    "interim-flood",
    "cut-at-0",
    "cut-at-10",
    "cut-at-120",
    "reset-at-10",
    "reset-at-120",
    "cut-after-0",
    "html-500",
    "empty-500",
    "huge-500",
  ];
  it.each(NEVER_SERVED)("%s: 502, or the next deployment", async (faults) => {
    const { answer } = await askThrough(gateway, { ...way, faults });
    expectBadGateway(way.dialect, answer);
    const guarded = await askThrough(gateway, { ...way, faults, isGuarded: true, text: "spare-marker" });
    expect(guarded.answer.status).toBe(200);
    expect(guarded.calls).toHaveLength(2);
    const { dialect, stream } = way;
    const isServed = stream
      ? dialect.isCleanEnd(guarded.answer.body)
      : dialect.textOf(guarded.answer).includes("spare-marker");
    expect(isServed).toBe(true);
  });
});

describe.each(STREAMS)("a stream that breaks ($dialect.name, $route)", (way) => {
  const { dialect } = way;
  /** How the client learns that its stream is broken: by the status before any content, by an event behind it, or not at all. */
  async function breakBy(faults: string): Promise<string> {
    const { answer } = await askThrough(gateway, { ...way, faults });
    if (answer.status !== 200) return [502, 503, 529].includes(answer.status) ? "told" : `status ${answer.status}`;
    if (dialect.isCleanEnd(answer.body)) return "a clean end";
    return answer.isWhole && dialect.hasErrorEvent(answer.body) ? "told" : "a silent end";
  }

  it.each([
    "cut-after-1",
    "cut-after-2",
    "cut-after-3",
    "cut-after-4",
    "cut-after-6",
    "reset-after-2",
    "reset-after-4",
    "reset-after-6",
    "error-record",
    "error-after-1",
    "error-after-4",
    "no-finish",
    "no-ending",
    "garbage-record-text",
    "garbage-record-html",
    "garbage-record-null",
    "garbage-record-array",
    "garbage-record-number",
    "garbage-record-invalid-utf8",
    "garbage-record-truncated-json",
    "garbage-record-deep",
    "parallel-tools:cut-after-5",
    "parallel-tools:cut-after-8",
    "thinking:reset-after-4",
  ])("%s is never a clean end", async (faults) => {
    expect(await breakBy(faults)).toBe("told");
  });

  it("cut at any byte is never a clean end and never an invented one", async () => {
    const whole = await askThrough(gateway, { ...way, faults: "text" });
    const size = whole.calls[0]!.bytesSent;
    const places = Array.from({ length: 24 }, (_, index) => Math.floor(((index + 0.5) * size) / 24));
    const inside = places.filter((at) => at < size - 40);
    const told = await Promise.all(inside.map((at) => breakBy(`cut-at-${at}`)));
    expect(told).toEqual(inside.map(() => "told"));
  });

  it("without its last record is complete only where a stop reason came", async () => {
    const { answer } = await askThrough(gateway, { ...way, faults: "no-end" });
    // The chat dialect's finish reason ends an answer; `message_stop` of the other one is part of the answer.
    const isChatUpstream = (dialect.name === "openai") === (way.route === "forwarded");
    expect(dialect.isCleanEnd(answer.body)).toBe(isChatUpstream);
    expect(dialect.hasErrorEvent(answer.body)).toBe(!isChatUpstream);
    const terminators = answer.body.match(/^data: \[DONE\]$/gm) ?? [];
    expect(terminators).toHaveLength(isChatUpstream && dialect.name === "openai" ? 1 : 0);
  });

  it("before its first content makes way for the next deployment, of whose answer alone the client hears", async () => {
    const asked = { ...way, isGuarded: true, text: "spare-marker" };
    const { answer, calls } = await askThrough(gateway, { ...asked, faults: "parallel-tools:cut-after-1" });
    expect(answer.status).toBe(200);
    expect(dialect.isCleanEnd(answer.body)).toBe(true);
    expect(answer.body).not.toMatch(/tool_use|tool_calls":\[/);
    expect(calls).toHaveLength(2);
  });

  it("after its first content stays with its error, however healthy the next deployment is", async () => {
    const { answer, calls } = await askThrough(gateway, {
      ...way,
      isGuarded: true,
      faults: "parallel-tools:cut-after-7",
    });
    expect(answer.status).toBe(200);
    expect(dialect.hasErrorEvent(answer.body)).toBe(true);
    expect(dialect.isCleanEnd(answer.body)).toBe(false);
    expect(calls).toHaveLength(1);
  });
});

describe.each(STREAMS)("another spelling of a stream is the same stream ($dialect.name, $route)", (way) => {
  it.each([
    "split-1",
    "split-2",
    "split-3",
    "crlf",
    "cr",
    "comments",
    "bom",
    "no-space",
    "crlf:comments:split-1",
    "until-close",
    "trailers",
    "interim",
  ])("%s", async (faults) => {
    const textOf = async (spelling: string): Promise<string> => {
      const { answer } = await askThrough(gateway, { ...way, faults: `unicode:${spelling}` });
      expect(way.dialect.isCleanEnd(answer.body)).toBe(true);
      const text = Buffer.from(answer.body, "latin1").toString("utf8");
      expect(text).not.toContain("\ufffd");
      return [...text.matchAll(/"(?:content|text)":("(?:[^"\\]|\\.)*")/g)]
        .map(([, json]) => JSON.parse(json ?? "") as string)
        .join("");
    };
    expect(await textOf(faults)).toBe(await textOf("text-is-plain"));
  });
});

describe.each(WAYS)("bytes behind an answer ($dialect.name, $route, stream: $stream)", (way) => {
  it("in the same write reach nobody, and their socket is not used again", async () => {
    const { answer, calls } = await askThrough(gateway, { ...way, faults: "extra-bytes" });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain("stolen");
    await expectSocketUnused(gateway, way.dialect, calls[0]!);
  });

  it("later, while the socket is idle, reach nobody, and it is not used again", async () => {
    const model = modelFor({ ...way, faults: "text" });
    const upstreamModel = model.slice(model.indexOf("/") + 1);
    gateway.upstream.script([
      {
        model: upstreamModel,
        behaviour: {
          faults: [
            { kind: "extra-bytes", when: "on-release", bytes: "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nstolen" },
          ],
        },
      },
    ]);
    const before = gateway.upstream.calls.length;
    const answer = await ask(gateway.url, post(way.dialect, way.dialect.body({ model, stream: way.stream })));
    expect(answer.status).toBe(200);
    const call = gateway.upstream.calls[before]!;
    await until(() => call.ended === "complete", "the end of the call");
    gateway.upstream.release();
    gateway.upstream.script(null);
    await expectSocketUnused(gateway, way.dialect, call);
  });
});

describe.each(WHOLES)("a large error body ($dialect.name, $route)", (way) => {
  it("is read up to a bound, classified and cut", async () => {
    const before = await gateway.measure();
    const { answer } = await askThrough(gateway, { ...way, faults: "huge-400" });
    const after = await gateway.measure();
    expect(answer.status).toBe(400);
    expect(way.dialect.errorOf(answer).type).toBe("invalid_request_error");
    expect(answer.body.length).toBeLessThan(8_192);
    // Far from the seconds that a search through the whole text takes, and above all noise.
    expect(after.cpuMicros - before.cpuMicros).toBeLessThan(500_000);
  });
});

describe.each(DIALECTS)("upstream errors towards $name", (dialect) => {
  it("an upstream that is not there: 502 without its address", async () => {
    const answer = await ask(gateway.url, post(dialect, dialect.body({ model: "nowhere" })));
    expectBadGateway(dialect, answer);
    expect(answer.body).not.toMatch(/ECONNREFUSED|:\d{4,5}/);
  });
});
