import { connect } from "node:net";
import type { Socket } from "node:net";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createScriptedUpstream } from "./index.ts";
import type { ScriptedUpstream } from "./index.ts";

let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await createScriptedUpstream();
});
afterEach(async () => {
  await upstream.close();
});

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${upstream.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

const HI = [{ role: "user", content: "Hi" }];

function openSocket(): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(upstream.port, "127.0.0.1", () => resolve(socket));
  });
}

/** Collects what a socket receives until `isEnough` holds or the peer ends. */
function receive(socket: Socket, isEnough: (text: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const check = (bytes: Buffer): void => {
      text += bytes.toString("latin1");
      if (!isEnough(text)) return;
      socket.off("data", check);
      resolve(text);
    };
    socket.on("data", check);
    socket.once("end", () => resolve(text));
  });
}

describe("endpoints", () => {
  it.each([
    { path: "/v1/chat/completions", member: "choices" },
    { path: "/chat/completions", member: "choices" },
    { path: "/v1/messages", member: "content" },
    { path: "/messages?beta=true", member: "content" },
    { path: "/v1/messages/count_tokens", member: "input_tokens" },
    { path: "/messages/count_tokens", member: "input_tokens" },
  ])("serves POST $path", async ({ path, member }) => {
    const response = await post(path, { model: "any-model", max_tokens: 9, messages: HI });
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty(member);
  });

  it.each([
    { name: "in the chat form", headers: {}, expected: { object: "list" } },
    {
      name: "in the messages form when a version is named",
      headers: { "anthropic-version": "2023-06-01" },
      expected: { has_more: false },
    },
  ])("lists models $name", async ({ headers, expected }) => {
    const response = await fetch(`${upstream.url}/v1/models`, { headers });
    expect(await response.json()).toMatchObject(expected);
  });

  it("answers 404 in the dialect's envelope on an unknown path", async () => {
    const response = await post("/v1/messages/batches", {});
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  });
});

describe("framing", () => {
  it("reads a chunked body with extensions and trailers absent, cut anywhere", async () => {
    const body = '{"model":"scripted-echo","messages":[]}';
    const wire =
      "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n" +
      `5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`;
    const socket = await openSocket();
    const answer = receive(socket, () => false);
    for (const byte of wire) socket.write(byte);
    expect(await answer).toContain("scripted-echo");
    expect(upstream.calls[0]?.body.toString()).toBe(body);
  });

  it("answers pipelined requests in order on one connection", async () => {
    const one = (text: string): string => {
      const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: text }] });
      return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    const socket = await openSocket();
    socket.write(one("first") + one("second"));
    const text = await receive(socket, (seen) => seen.includes("second"));
    expect(text.indexOf("first")).toBeLessThan(text.indexOf("second"));
    expect(upstream.calls.map((call) => call.connection)).toEqual([1, 1]);
    socket.destroy();
  });

  it("continues a request that expects 100", async () => {
    const socket = await openSocket();
    socket.write("POST /v1/messages HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
    expect(await receive(socket, (text) => text.includes("\r\n\r\n"))).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("{}");
    expect(await receive(socket, (text) => text.includes("\r\n\r\n"))).toContain("200 OK");
    socket.destroy();
  });

  it.each([
    { name: "no request line", wire: "nonsense\r\n\r\n" },
    { name: "a bad length", wire: "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n" },
    { name: "a bad chunk size", wire: "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n" },
  ])("refuses and closes on $name", async ({ wire }) => {
    const socket = await openSocket();
    socket.write(wire);
    expect(await receive(socket, () => false)).toContain("400 Bad Request");
  });
});

describe("call log", () => {
  it("records what was asked and how it ended", async () => {
    await (await post("/v1/messages?beta=true", { model: "scripted-text", messages: HI }, { "x-api-key": "k" })).text();
    const call = await upstream.waitForCall((each) => each.ended !== null);
    expect(call).toMatchObject({
      method: "POST",
      path: "/v1/messages",
      target: "/v1/messages?beta=true",
      model: "scripted-text",
      bodyComplete: true,
      ended: "complete",
      json: { model: "scripted-text" },
    });
    expect(call.headers["x-api-key"]).toBe("k");
    expect(call.bytesSent).toBeGreaterThan(100);
  });

  it("marks a call whose client left while the upstream was silent", async () => {
    const abort = new AbortController();
    const response = fetch(`${upstream.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify({ model: "scripted-stall" }),
      signal: abort.signal,
    });
    await upstream.waitForCall((call) => call.bodyComplete);
    abort.abort();
    await expect(response).rejects.toThrow("aborted");
    expect(await upstream.waitForCall((call) => call.ended === "client-closed")).toMatchObject({ bytesSent: 0 });
  });

  it("forgets calls and script on clear, and the oldest call past its bound", async () => {
    const small = await createScriptedUpstream({ maxCalls: 2 });
    for (const model of ["a", "b", "c"]) {
      await (await fetch(`${small.url}/v1/messages`, { method: "POST", body: JSON.stringify({ model }) })).text();
    }
    expect(small.calls.map((call) => call.model)).toEqual(["b", "c"]);
    small.clear();
    expect(small.calls).toEqual([]);
    await small.close();
  });

  it("rejects those who wait when it closes", async () => {
    const other = await createScriptedUpstream();
    const waiting = other.waitForCall(() => true).catch((error: unknown) => String(error));
    await other.close();
    expect(await waiting).toContain("closed before");
  });
});

describe("scripts", () => {
  it("matches rules by model, path and ordinal, else goes by the model's name", async () => {
    upstream.script([
      { model: /^m/u, nth: 2, behaviour: { error: { status: 503 } } },
      { path: "/v1/messages", behaviour: { error: { status: 401 } } },
    ]);
    const statuses = [];
    for (const [path, model] of [
      ["/v1/chat/completions", "m1"],
      ["/v1/chat/completions", "m2"],
      ["/v1/messages", "m3"],
      ["/v1/chat/completions", "scripted-error-429"],
    ] as const) {
      const response = await post(path, { model, messages: HI });
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 503, 401, 429]);
  });

  it("lets a function decide and keeps the model's answer when only faults are given", async () => {
    upstream.script((call, request) =>
      call.path === "/v1/messages" && request.lastUserText === "Hi"
        ? { faults: [{ kind: "headers", add: [["x-extra", "1"]] }] }
        : null,
    );
    const response = await post("/v1/messages", { model: "scripted-refusal", messages: HI });
    expect(response.headers.get("x-extra")).toBe("1");
    expect(await response.json()).toMatchObject({ stop_reason: "refusal" });
  });

  it("answers 500 and fails to close cleanly when a script throws", async () => {
    const broken = await createScriptedUpstream({
      script: () => {
        throw new Error("oops");
      },
    });
    const response = await fetch(`${broken.url}/v1/messages`, { method: "POST", body: "{}" });
    await response.text();
    expect(response.status).toBe(500);
    await expect(broken.close()).rejects.toThrow("script");
  });
});
