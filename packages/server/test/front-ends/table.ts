// The one table that every front end passes: what a client sees, and what is left behind, must not depend on how the gateway is
// embedded.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { until } from "../harness/until.ts";
import { SESSION_HEADER, startMounted } from "./front-end.ts";
import type { FrontEnd, Identification, MountedStack } from "./front-end.ts";
import { KEY } from "./hosts.ts";

const ROUTES = [
  { dialect: "chat", path: "/v1/chat/completions", last: "[DONE]" },
  { dialect: "messages", path: "/v1/messages", last: "message_stop" },
] as const;

/** Far more than all buffers on the way hold together. */
const FLOOD_BYTES = 64 * 1024 * 1024;
const MOST_BUFFERED_BYTES = 24 * 1024 * 1024;

/** A request as both dialects take it. */
function ask(stack: MountedStack, path: string, body: object, init: RequestInit = {}): Promise<Response> {
  return stack.fetch(stack.baseUrl + path, {
    method: "POST",
    ...init,
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${KEY}`,
      [SESSION_HEADER]: "of-ada",
      ...(path === "/v1/messages" ? { "anthropic-version": "2023-06-01" } : {}),
      ...(init.headers as Record<string, string> | undefined),
    },
    body: JSON.stringify({ max_tokens: 100, messages: [{ role: "user", content: "Hi" }], ...body }),
  });
}

/** Reads until the text holds; returns what came. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: string): Promise<string> {
  let text = "";
  while (!text.includes(wanted)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the answer ended before ${wanted}: ${text}`);
    text += Buffer.from(value).toString();
  }
  return text;
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (response.body === null) throw new Error("The answer has no body.");
  return response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
}

/** Resolves when the upstream has sent nothing for many looks. */
async function untilStill(stack: MountedStack): Promise<number> {
  let before = -1;
  let looks = 0;
  const sent = (): number => stack.upstream.calls.at(-1)?.bytesSent ?? 0;
  await until(() => {
    looks = sent() === before ? looks + 1 : 0;
    before = sent();
    return looks > 100;
  }, "the upstream to stand still");
  return before;
}

/** Registers the tests of one front end. */
export function describeFrontEnd(frontEnd: FrontEnd): void {
  const start = (identification: Identification): { readonly stack: MountedStack } => {
    const holder: { stack: MountedStack } = { stack: undefined as unknown as MountedStack };
    beforeAll(async () => {
      holder.stack = await startMounted(frontEnd, identification);
    });
    afterEach(() => holder.stack.upstream.clear());
    afterAll(() => holder.stack.close());
    return holder;
  };

  describe(`${frontEnd.name}: answers`, () => {
    const mounted = start("keys");

    it.each(ROUTES)("are whole on $path", async ({ dialect, path }) => {
      const response = await ask(mounted.stack, path, { model: `${dialect}/scripted-text` });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/json");
      const text = await response.text();
      expect(text).toContain("Hello! You said: “Hi”.");
      expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    });

    it.each(ROUTES)("are translated on $path", async ({ dialect, path }) => {
      const other = dialect === "chat" ? "messages" : "chat";
      const response = await ask(mounted.stack, path, { model: `${other}/scripted-text` });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("Hello! You said: “Hi”.");
    });

    it.each(ROUTES)("are streamed on $path: their beginning comes before the upstream's end", async (route) => {
      const { dialect, path, last } = route;
      const response = await ask(mounted.stack, path, {
        model: `${dialect}/scripted-text:stall-after-6`,
        stream: true,
      });
      expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
      expect(response.headers.get("cache-control")).toContain("no-transform");
      const reader = readerOf(response);
      await readUntil(reader, "Hello");
      expect(mounted.stack.upstream.calls.at(-1)?.ended).toBeNull();
      mounted.stack.upstream.release();
      await readUntil(reader, last);
      expect((await reader.read()).done).toBe(true);
    });

    it("carry the upstream's errors, and the gateway's own, in the client's dialect", async () => {
      const rejected = await ask(mounted.stack, "/v1/messages", { model: "messages/scripted-error-429" });
      expect(rejected.status).toBe(429);
      expect(await rejected.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
      const unknown = await ask(mounted.stack, "/v1/chat/completions", { model: "nobody/knows" });
      expect(unknown.status).toBe(404);
      expect(await unknown.json()).toMatchObject({ error: { code: "model_not_found" } });
    });

    it("say 404 and 405 in the client's dialect", async () => {
      const missing = await ask(mounted.stack, "/v1/nothing", {});
      expect(missing.status).toBe(404);
      expect(await missing.json()).toMatchObject({
        error: { message: expect.stringContaining("no such path") as string },
      });
      const method = await mounted.stack.fetch(`${mounted.stack.baseUrl}/v1/messages`);
      expect(method.status).toBe(405);
      expect(await method.json()).toMatchObject({ type: "error" });
    });

    it("refuse what is no JSON, with its place", async () => {
      const response = await ask(mounted.stack, "/v1/messages", {}, { headers: { "content-type": "text/html" } });
      expect(response.status).toBe(415);
      const { stack } = mounted;
      const broken = await stack.fetch(`${stack.baseUrl}/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
        body: '{"model": }',
      });
      expect(broken.status).toBe(400);
      expect(await broken.text()).toContain("line 1, column 11");
    });

    it("come to a body of several MiB, which the upstream gets whole", async () => {
      const content = "x".repeat(3 * 1024 * 1024);
      const response = await ask(mounted.stack, "/v1/messages", {
        model: "messages/scripted-text",
        messages: [{ role: "user", content }],
      });
      expect(response.status).toBe(200);
      expect(mounted.stack.upstream.calls.at(-1)?.body.includes(content)).toBe(true);
    });

    it("come to requests at the same time", async () => {
      const stalled = await ask(mounted.stack, "/v1/messages", {
        model: "messages/scripted-text:stall-after-6",
        stream: true,
      });
      const others = await Promise.all(
        Array.from({ length: 8 }, () => ask(mounted.stack, "/v1/messages", { model: "messages/scripted-text" })),
      );
      expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
      for (const response of others) await response.text();
      mounted.stack.upstream.release();
      expect(await stalled.text()).toContain("message_stop");
    });

    it.skipIf(!frontEnd.hasOtherRoutes)("leave the host's own routes and body parsers alone", async () => {
      const { stack } = mounted;
      const streaming = await ask(stack, "/v1/messages", {
        model: "messages/scripted-text:stall-after-6",
        stream: true,
      });
      const reader = readerOf(streaming);
      await readUntil(reader, "Hello");
      expect(await (await stack.fetch(`${stack.hostUrl}/other`)).text()).toBe("the host's own");
      const echoed = await stack.fetch(`${stack.hostUrl}/echo`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"a":1}',
      });
      expect(await echoed.text()).toBe('{"a":1}');
      stack.upstream.release();
      await readUntil(reader, "message_stop");
    });

    it("tell liveness and readiness", async () => {
      const response = await mounted.stack.fetch(`${mounted.stack.baseUrl}/readyz`);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: "ready", generation: 1 });
    });
  });

  describe(`${frontEnd.name}: clients`, () => {
    const mounted = start("keys");

    it("that leave in mid-stream end the upstream's call and leave nothing behind", async () => {
      const { stack } = mounted;
      const controller = new AbortController();
      const { signal } = controller;
      const model = "chat/scripted-text:stall-after-6";
      const response = await ask(stack, "/v1/chat/completions", { model, stream: true }, { signal });
      const reader = readerOf(response);
      await readUntil(reader, "Hello");
      controller.abort();
      // The stack's deployments drain: the upstream ends its answer for nobody.
      stack.upstream.release();
      await until(() => stack.upstream.calls.at(-1)?.ended !== null, "the end of the call");
      await until(() => stack.gateway.inFlight === 0, "the end of the exchange");
      expect(stack.principals.at(-1)).not.toBeNull();
    });

    it("that leave before the answer end their exchange", async () => {
      const { stack } = mounted;
      const controller = new AbortController();
      const { signal } = controller;
      const answer = ask(stack, "/v1/messages", { model: "messages/scripted-text:stall" }, { signal }).then(
        ({ status }) => status,
        () => "rejected",
      );
      await until(() => stack.upstream.calls.at(-1)?.bodyComplete === true, "the upstream's call");
      controller.abort();
      // A fetch handler has to answer its host, which has lost its client: 499 goes nowhere.
      expect(["rejected", 499]).toContain(await answer);
      stack.upstream.release();
      await until(() => stack.gateway.inFlight === 0, "the end of the exchange");
    });

    it("that read slowly slow the upstream down, in bounded memory", async () => {
      const { stack } = mounted;
      stack.upstream.script([{ behaviour: { faults: [{ kind: "oversize", what: "records", bytes: FLOOD_BYTES }] } }]);
      const controller = new AbortController();
      const { signal } = controller;
      const response = await ask(stack, "/v1/messages", { model: "messages/flood", stream: true }, { signal });
      const reader = readerOf(response);
      await reader.read();
      expect(await untilStill(stack)).toBeLessThan(MOST_BUFFERED_BYTES);
      expect(stack.upstream.calls.at(-1)?.ended).toBeNull();
      // Reading on lets it go on.
      const before = stack.upstream.calls.at(-1)?.bytesSent ?? 0;
      let readBytes = 0;
      while (readBytes < MOST_BUFFERED_BYTES) readBytes += (await reader.read()).value?.byteLength ?? 0;
      expect(stack.upstream.calls.at(-1)?.bytesSent).toBeGreaterThan(before);
      controller.abort();
      await until(() => stack.upstream.calls.at(-1)?.ended !== null, "the end of the call");
      await until(() => stack.gateway.inFlight === 0, "the end of the exchange");
    });

    it.skipIf(!frontEnd.identifies)("need a key that the configuration knows", async () => {
      const model = "messages/scripted-text";
      const wrong = { headers: { authorization: "Bearer dgm_wrong" } };
      const refused = await ask(mounted.stack, "/v1/messages", { model }, wrong);
      expect(refused.status).toBe(401);
      expect(await refused.json()).toMatchObject({ error: { type: "authentication_error" } });
      expect((await ask(mounted.stack, "/v1/messages", { model })).status).toBe(200);
    });
  });

  describe.skipIf(!frontEnd.identifies).each(["at-once", "later"] as const)(
    `${frontEnd.name}: callers that the host knows, told %s`,
    (identification) => {
      const mounted = start(identification);
      const asSession = (session: string, model: string = "messages/scripted-text"): Promise<Response> =>
        ask(mounted.stack, "/v1/messages", { model }, { headers: { [SESSION_HEADER]: session, authorization: "" } });

      it("are served without a key, under their own name", async () => {
        const response = await asSession("of-ada");
        expect(response.status).toBe(200);
        await response.text();
        await until(() => mounted.stack.principals.length > 0, "the outcome");
        expect(mounted.stack.principals.at(-1)).toBe("ada");
      });

      it("may use the models that the host gives them", async () => {
        expect((await asSession("of-guest", "chat/scripted-text")).status).toBe(403);
        expect((await asSession("of-guest")).status).toBe(200);
      });

      it("are refused when the host knows nobody, whatever key they show", async () => {
        const model = "messages/scripted-text";
        const headers = { [SESSION_HEADER]: "of-nobody" };
        const response = await ask(mounted.stack, "/v1/messages", { model }, { headers });
        expect(response.status).toBe(401);
        expect(await response.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
        expect(mounted.stack.upstream.calls).toEqual([]);
      });

      it("get a 500 when the host's function fails, and nothing is asked upstream", async () => {
        const response = await asSession("broken");
        expect(response.status).toBe(500);
        expect(await response.text()).not.toContain("session store");
        expect(mounted.stack.upstream.calls).toEqual([]);
      });
    },
  );
}
