// One exchange through the built gateway with a scripted upstream behind it, and what it left behind: the answer, the upstream calls,
// and whether a socket that carried an anomaly is ever used again.
import { expect } from "vitest";

import { RawClient } from "../harness/raw-client.ts";
import type { RawAnswer } from "../harness/raw-client.ts";
import type { UpstreamCallLog } from "../../src/scripted-upstream/index.ts";
import { guardedModel, soleModel } from "./built-gateway.ts";
import type { BuiltGateway } from "./built-gateway.ts";
import { ask, post } from "./client-dialect.ts";
import type { Dialect } from "./client-dialect.ts";

/** Which providers a client's request can go to: its own dialect's, which forwards, and the other one's, which translates. */
export const ROUTES = ["forwarded", "translated"] as const;

/** One of the routes. */
export type Route = (typeof ROUTES)[number];

/** Models for every scripted behaviour in both provider dialects, alone and with a healthy second tier. */
export const SCRIPTED_MODELS = {
  "chat/*": soleModel("chat", "*"),
  "messages/*": soleModel("messages", "*"),
  "guarded/chat/*": guardedModel("chat", "*"),
  "guarded/messages/*": guardedModel("messages", "*"),
  nowhere: soleModel("nowhere", "any"),
};

/** What is asked for. */
export interface Asked {
  readonly dialect: Dialect;
  readonly route: Route;
  /** Faults of the scripted upstream by name, such as `garbage-html`. */
  readonly faults: string;
  readonly stream: boolean;
  /** Whether a healthy deployment stands behind the broken one. */
  readonly isGuarded?: boolean;
  readonly text?: string;
}

/** What came of it. */
export interface Seen {
  readonly answer: RawAnswer;
  readonly calls: readonly UpstreamCallLog[];
}

let serial = 0;

/** The model that asks for the faults; every one has a name of its own, so that no breaker or cooldown of one row meets another. */
export function modelFor({ dialect, route, faults, isGuarded = false }: Asked): string {
  serial += 1;
  const isChat = (dialect.name === "openai") === (route === "forwarded");
  return `${isGuarded ? "guarded/" : ""}${isChat ? "chat" : "messages"}/scripted-${faults}:row-${serial}`;
}

/** Sends the request on a connection of its own and waits for the whole answer or the connection's end. */
export async function askThrough(gateway: BuiltGateway, asked: Asked): Promise<Seen> {
  const before = gateway.upstream.calls.length;
  const body = asked.dialect.body({
    model: modelFor(asked),
    stream: asked.stream,
    ...(asked.text === undefined ? {} : { text: asked.text }),
  });
  const client = await RawClient.open(gateway.url);
  client.send(post(asked.dialect, body));
  await client.untilAnswerOrEnd();
  const [answer] = client.answers;
  client.destroy();
  if (answer === undefined) throw new Error("the connection ended without an answer");
  return { answer, calls: gateway.upstream.calls.slice(before) };
}

/**
 * The next client must get exactly its own answer, and not over the socket of the call given: it said what no answer may say.
 */
export async function expectSocketUnused(
  gateway: BuiltGateway,
  dialect: Dialect,
  call: UpstreamCallLog,
): Promise<void> {
  const before = gateway.upstream.calls.length;
  serial += 1;
  const text = `witness-${serial}`;
  for (const provider of ["chat", "messages"]) {
    const body = dialect.body({ model: `${provider}/scripted-text`, text });
    const answer = await ask(gateway.url, post(dialect, body));
    expect(answer.status).toBe(200);
    expect(dialect.textOf(answer)).toContain(text);
  }
  const connections = gateway.upstream.calls.slice(before).map(({ connection }) => connection);
  expect(connections).toHaveLength(2);
  expect(connections).not.toContain(call.connection);
}
