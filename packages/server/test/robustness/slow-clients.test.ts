// Clients that send slowly or not at all, against the built server with short limits: each is answered where it asked something, then
// cut, and nobody waits for it. Side by side, because what is tested is that time passes.
import { once } from "node:events";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { RawClient } from "../harness/raw-client.ts";
import { KEY, soleModel, startBuiltGateway } from "./built-gateway.ts";
import type { BuiltGateway } from "./built-gateway.ts";
import { ask, DIALECT, DIALECTS, post } from "./client-dialect.ts";
import type { Dialect } from "./client-dialect.ts";

let gateway: BuiltGateway;
beforeAll(async () => {
  gateway = await startBuiltGateway({
    models: { chat: soleModel("chat", "scripted-text") },
    server: { limits: { headTimeout: "1s", bodyTimeout: "1s", idleTimeout: "1s" } },
  });
});
afterAll(() => gateway.close());

/** A head without its end. */
const headOf = (dialect: Dialect): string =>
  `POST ${dialect.path} HTTP/1.1\r\nhost: a\r\n${dialect.credential(KEY)}content-type: application/json\r\n`;

/** One byte in a while, until the connection is over. */
async function drip(client: RawClient): Promise<void> {
  const timer = setInterval(() => client.send("a"), 200);
  await once(client.socket, "close");
  clearInterval(timer);
}

describe.concurrent("a slow client", () => {
  it("that sends nothing at all is cut; there is nothing to answer", async () => {
    const client = await RawClient.open(gateway.url);
    await once(client.socket, "close");
    for (const answer of client.answers) expect(answer.status).toBe(408);
  });

  it("that sends its head in single bytes is answered and cut: 408", async () => {
    const client = await RawClient.open(gateway.url);
    client.send(`${headOf(DIALECT.openai)}x-slow: `);
    await drip(client);
    expect(client.answers.map((answer) => answer.status)).toEqual([408]);
  });

  it.for(
    DIALECTS.flatMap((dialect) => [
      { dialect, name: "sends its body in single bytes", sent: "content-length: 1000\r\n\r\n{", drips: true },
      {
        dialect,
        name: "sends a chunked body in single bytes",
        sent: "transfer-encoding: chunked\r\n\r\nff\r\n{",
        drips: true,
      },
      { dialect, name: "stops in its body", sent: "content-length: 1000\r\n\r\n{", drips: false },
    ]),
  )("of $dialect.name that $name is answered and cut: 408", async ({ dialect, sent, drips }) => {
    const client = await RawClient.open(gateway.url);
    client.send(headOf(dialect) + sent);
    if (drips) await drip(client);
    else await once(client.socket, "close");
    expect(client.answers.map((answer) => answer.status)).toEqual([408]);
    expect(dialect.errorOf(client.answers[0]!)).toMatchObject({
      type: "invalid_request_error",
      message: "The request body did not arrive in time.",
    });
  });

  it("that is idle between requests loses its connection", async () => {
    const client = await RawClient.open(gateway.url);
    client.send("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
    expect((await client.answer()).status).toBe(200);
    await once(client.socket, "close");
  });

  it("does not keep others waiting, however many there are", async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, () => RawClient.open(gateway.url)));
    for (const client of clients) client.send(`${headOf(DIALECT.openai)}content-length: 1000\r\n\r\n{`);
    const served = await ask(gateway.url, post(DIALECT.openai, DIALECT.openai.body({ model: "chat" })));
    expect(served.status).toBe(200);
    expect(clients.filter((client) => client.isClosed)).toEqual([]);
    await Promise.all(clients.map((client) => client.untilClosed()));
  });
});
