// Every way an attempt can end has one settlement rule; each attempt is settled once and each ticket closed once.
import { describe, expect, it } from "vitest";

import { deployment, startEngine } from "./engine-stack.ts";
import type { EngineStack } from "./engine-stack.ts";
import type { FakeClient } from "./fake-client.ts";
import {
  closingRecords,
  contentRecord,
  openingRecords,
  PROOF_DIALECTS,
  recordedStream,
  streamRequest,
  textOf,
} from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

interface Scene {
  readonly stack: EngineStack;
  readonly client: FakeClient;
  readonly upstream: ProofDialect;
}

interface Row {
  readonly name: string;
  readonly play: (scene: Scene) => void | Promise<void>;
  readonly rules: Readonly<Record<ProofDialect, readonly string[]>>;
  readonly disconnect?: { readonly mode: "drain" | "cancel"; readonly maxMs?: number; readonly maxBytes?: number };
}

const both = (...rules: string[]): Row["rules"] => ({ chat: rules, messages: rules });
const first = ({ stack }: Scene): ReturnType<EngineStack["upstream"]["call"]> => stack.upstream.call(0);
const opening = ({ upstream }: Scene): string => textOf(openingRecords(upstream));
const content = ({ upstream }: Scene): string => contentRecord(upstream, "Hello").text;
const closing = ({ upstream }: Scene): string => textOf(closingRecords(upstream));
const DRAIN = { mode: "drain", maxMs: 1_000, maxBytes: 2_000 } as const;
const CANCEL = { mode: "cancel" } as const;

const ROWS: readonly Row[] = [
  {
    name: "completed with the provider's usage",
    play: (scene) =>
      void first(scene)
        .sent()
        .head()
        .data(opening(scene) + content(scene) + closing(scene))
        .end(),
    rules: both("actual"),
  },
  {
    name: "completed without usage",
    play: (scene) =>
      void first(scene)
        .sent()
        .head()
        .data(textOf(recordedStream("chat", ["Hello"], false)))
        .end(),
    rules: { chat: ["estimated"], messages: [] },
  },
  {
    name: "client gone, the rest arrived with usage",
    disconnect: DRAIN,
    play: (scene) => {
      first(scene)
        .sent()
        .head()
        .data(opening(scene) + content(scene));
      scene.client.leave();
      first(scene).data(closing(scene)).end();
    },
    rules: both("after_disconnect"),
  },
  {
    name: "client gone before any content, the rest arrived with usage",
    disconnect: DRAIN,
    play: (scene) => {
      first(scene).sent();
      scene.client.leave();
      first(scene)
        .head()
        .data(opening(scene) + content(scene) + closing(scene))
        .end();
    },
    rules: both("after_disconnect"),
  },
  {
    name: "client gone after content, the rest came too late",
    disconnect: DRAIN,
    play: async (scene) => {
      first(scene)
        .sent()
        .head()
        .data(opening(scene) + content(scene));
      scene.client.leave();
      await scene.stack.clock.advance(DRAIN.maxMs);
    },
    rules: both("partial"),
  },
  {
    name: "client gone after content, the rest was too long",
    disconnect: DRAIN,
    play: (scene) => {
      first(scene)
        .sent()
        .head()
        .data(opening(scene) + content(scene));
      scene.client.leave();
      first(scene).data(contentRecord(scene.upstream, "x".repeat(DRAIN.maxBytes)).text);
    },
    rules: both("partial"),
  },
  {
    name: "client gone after content and cancelled at once",
    disconnect: CANCEL,
    play: (scene) => {
      first(scene)
        .sent()
        .head()
        .data(opening(scene) + content(scene));
      scene.client.leave();
    },
    rules: both("partial"),
  },
  {
    name: "client gone and cancelled while the sent request was unanswered",
    disconnect: CANCEL,
    play: (scene) => {
      first(scene).sent();
      scene.client.leave();
    },
    rules: both("partial"),
  },
  {
    name: "client gone and cancelled before the request was sent whole",
    disconnect: CANCEL,
    play: (scene) => scene.client.leave(),
    rules: both("failed_free"),
  },
  {
    name: "the upstream broke after content",
    play: (scene) =>
      void first(scene)
        .sent()
        .head()
        .data(opening(scene) + content(scene))
        .fail(),
    rules: both("partial"),
  },
  {
    name: "failed before content, and only messages streams had reported usage by then",
    play: (scene) => void first(scene).sent().head().data(opening(scene)).fail(),
    rules: { chat: ["failed_free"], messages: ["failed_actual"] },
  },
  {
    name: "failed before anything came",
    play: (scene) => void first(scene).fail(),
    rules: both("failed_free"),
  },
  {
    name: "refused with a status",
    play: (scene) => void first(scene).sent().head(503, ["content-type", "application/json"]).data("{}").end(),
    rules: both("failed_free"),
  },
  {
    name: "sent whole, then given up by our own timeout before content",
    play: async (scene) => {
      first(scene).sent();
      await scene.stack.clock.advance(60_000);
    },
    rules: both("abandoned"),
  },
  {
    name: "given up by our own timeout after content",
    play: async (scene) => {
      first(scene)
        .sent()
        .head()
        .data(opening(scene) + content(scene));
      await scene.stack.clock.advance(60_000);
    },
    rules: both("abandoned"),
  },
];

const PAIRS = PROOF_DIALECTS.flatMap((client) => PROOF_DIALECTS.map((upstream) => ({ client, upstream })));

describe.each(PAIRS)("a $client client of a $upstream upstream", ({ client: dialect, upstream }) => {
  it.each(ROWS.filter((row) => row.rules[upstream].length > 0))("settles once, by its rule: $name", async (row) => {
    const stack = startEngine({
      m: {
        attempts: 1,
        timeouts: { firstContent: "60s", idle: "60s" },
        deployments: [deployment("a", upstream, row.disconnect === undefined ? {} : { disconnect: row.disconnect })],
      },
    });
    const client = await stack.ask(dialect, streamRequest(dialect, "m"));
    await row.play({ stack, client, upstream });
    await stack.clock.advance(0);
    expect(stack.admission.rules).toEqual([row.rules[upstream]]);
    expect(stack.admission.tickets[0]?.holds).toBe(1);
    expect(client.ending).not.toBeNull();
    expect(stack.outcomes[0]?.attempts.map((attempt) => attempt.rule)).toEqual(row.rules[upstream]);
    expect(stack.leftovers()).toEqual([]);
  });

  it("settles each attempt of a fallback for itself and closes the ticket once", async () => {
    const stack = startEngine({
      m: { attempts: 2, deployments: [deployment("a", upstream, { tier: 1 }), deployment("b", upstream, { tier: 2 })] },
    });
    const client = await stack.ask(dialect, streamRequest(dialect, "m"));
    stack.upstream
      .call(0)
      .sent()
      .head()
      .data(textOf(openingRecords(upstream)))
      .fail();
    await stack.clock.advance(30_000);
    stack.upstream.call(1).sent().fail();
    await stack.clock.advance(0);
    stack.upstream
      .call(2)
      .sent()
      .head()
      .data(textOf(recordedStream(upstream, ["Hello"])))
      .end();
    await stack.clock.advance(0);
    const failed = upstream === "messages" ? "failed_actual" : "failed_free";
    expect(stack.admission.rules).toEqual([[failed, "failed_free", "actual"]]);
    expect(stack.admission.tickets[0]?.attempts).toEqual(["a", "a", "b"]);
    expect(client.ending).toBe("end");
    expect(stack.leftovers()).toEqual([]);
  });

  it("settles an attempt that the upstream client refuses to send, and gives the body back", async () => {
    const stack = startEngine({ m: { attempts: 1, deployments: [deployment("a", upstream)] } });
    stack.upstream.send = () => {
      throw new Error("the request cannot be written");
    };
    const client = await stack.ask(dialect, streamRequest(dialect, "m"));
    expect(client.status).toBe(500);
    expect(client.ending).toBe("end");
    expect(stack.admission.rules).toEqual([["failed_free"]]);
    expect(stack.leftovers()).toEqual([]);
  });

  it("settles nothing and closes the ticket when the client leaves between two attempts", async () => {
    const stack = startEngine({ m: { attempts: 2, deployments: [deployment("a", upstream)] } });
    const client = await stack.ask(dialect, streamRequest(dialect, "m"));
    stack.upstream.call(0).sent().fail();
    await stack.clock.advance(0);
    client.leave();
    await stack.clock.advance(60_000);
    expect(stack.upstream.calls).toHaveLength(1);
    expect(stack.admission.rules).toEqual([["failed_free"]]);
    expect(stack.leftovers()).toEqual([]);
  });
});
