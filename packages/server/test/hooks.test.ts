/** Hooks of a host through the whole gateway: requests, answers, commits and outcomes, streamed and whole, in both dialects. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ExchangeOutcome, Hook, StreamEvent } from "@dragoman/core";
import { textToString } from "@dragoman/core";

import { maskEmails } from "../../../examples/custom-guardrail/mask-emails.ts";
import { createGateway } from "../src/index.ts";
import type { Gateway } from "../src/index.ts";
import { createScriptedUpstream, scriptAnswer } from "../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../src/scripted-upstream/index.ts";
import { buildStackConfig } from "./harness/stack-config.ts";

let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await createScriptedUpstream();
});
afterAll(() => upstream.close());

const FALLBACK = {
  attempts: 1,
  deployments: [
    { id: "first", provider: "chat", model: "scripted-text", tier: 1 },
    { id: "second", provider: "chat", model: "scripted-echo", tier: 2 },
  ],
};

interface Asked {
  readonly status: number;
  readonly text: string;
}

async function ask(
  gateway: Gateway,
  dialect: "chat" | "messages",
  model: string,
  content: string,
  stream: boolean,
): Promise<Asked> {
  const path = dialect === "chat" ? "/v1/chat/completions" : "/v1/messages";
  const answer = await gateway.as({ id: "tester" }).fetch(`http://gateway.test${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 500, stream, messages: [{ role: "user", content }] }),
  });
  return { status: answer.status, text: await answer.text() };
}

async function withHooks<Result>(hooks: readonly Hook[], use: (gateway: Gateway) => Promise<Result>): Promise<Result> {
  upstream.clear();
  const gateway = await createGateway(buildStackConfig(upstream.url, { models: { fallback: FALLBACK } }), { hooks });
  try {
    return await use(gateway);
  } finally {
    await gateway.close();
  }
}

/** Ids and times differ from call to call. */
const withoutIds = (text: string): string => text.replaceAll(/"(?:id|created)":("[^"]*"|\d+)/g, "");

const lastBody = (): string => Buffer.from(upstream.calls.at(-1)?.body ?? new Uint8Array()).toString("utf8");

const PAIRS = [
  ["chat", "chat/scripted-text"],
  ["chat", "messages/scripted-text"],
  ["messages", "messages/scripted-text"],
  ["messages", "chat/scripted-text"],
] as const;

describe.each(PAIRS)("a %s client of %s", (dialect, model) => {
  test.each([false, true])("has addresses masked on the way up and down, stream %s", async (stream) => {
    const { status, text } = await withHooks([maskEmails], (gateway) =>
      ask(gateway, dialect, model, "Write to ada.lovelace@example.org today", stream),
    );
    expect(status).toBe(200);
    expect(lastBody()).toContain("Write to [e-mail] today");
    expect(text).not.toContain("lovelace");
  });

  test.each([false, true])(
    "is watched by a reading hook while its answer passes unchanged, stream %s",
    async (stream) => {
      const seen: StreamEvent["type"][] = [];
      let said = "";
      const watcher: Hook = {
        name: "watcher",
        onEvent: {
          writes: false,
          open: () => ({
            event: (event) => {
              seen.push(event.type);
              if (event.type === "text-delta") said += textToString(event.text);
            },
          }),
        },
      };
      const plain = await withHooks([], (gateway) => ask(gateway, dialect, model, "Hello", stream));
      const watched = await withHooks([watcher], (gateway) => ask(gateway, dialect, model, "Hello", stream));
      expect(withoutIds(watched.text)).toBe(withoutIds(plain.text));
      expect(said).toContain("Hello! You said:");
      expect([seen[0], seen.at(-1)]).toEqual(["start", "end"]);
    },
  );
});

describe("an address cut by a chunk border", () => {
  test.each(["chat", "messages"] as const)("is masked in the stream of a %s upstream", async (provider) => {
    const answer = "Ask ada.lovelace@example.org or charles@example.org";
    const { text } = await withHooks([maskEmails], (gateway) => {
      upstream.script((_call, request) => ({ answer: scriptAnswer(request, { text: answer, deltas: answer.length }) }));
      return ask(gateway, "chat", `${provider}/scripted-text`, "Who?", true);
    });
    const said = [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]).join("");
    expect(said).toBe("Ask [e-mail] or [e-mail]");
  });
});

describe("request hooks", () => {
  test.each(["chat", "messages"] as const)(
    "refuse in the dialect of a %s client, and nothing goes upstream",
    async (dialect) => {
      const guard: Hook = {
        name: "guard",
        onRequest: {
          reads: "head",
          run: ({ model }) => ({ block: { message: `No ${model} today.`, code: "closed_today" } }),
        },
      };
      const { status, text } = await withHooks([guard], (gateway) =>
        ask(gateway, dialect, "chat/scripted-text", "Hello", false),
      );
      expect(status).toBe(400);
      expect(text).toContain("No chat/scripted-text today.");
      expect(upstream.calls).toHaveLength(0);
    },
  );

  test("that read the head only do not get the body", async () => {
    let document: unknown = "unset";
    const looker: Hook = {
      name: "looker",
      onRequest: {
        reads: "head",
        run: (view) => {
          document = view.document;
        },
      },
    };
    await withHooks([looker], (gateway) => ask(gateway, "chat", "chat/scripted-text", "Hello", false));
    expect(document).toBeNull();
  });

  test("may change the model, and permission is checked on what is dispatched", async () => {
    const swap: Hook = {
      name: "swap",
      onRequest: {
        reads: "body",
        writes: true,
        run: () => ({ body: Buffer.from('{"model":"nowhere","messages":[{"role":"user","content":"x"}]}') }),
      },
    };
    const { status, text } = await withHooks([swap], (gateway) =>
      ask(gateway, "chat", "chat/scripted-text", "Hello", false),
    );
    expect([status, text]).toEqual([404, expect.stringContaining("nowhere")]);
  });

  test.each([
    ["throws", "closed", 500, 0],
    ["throws", "open", 200, 1],
    ["is late", "closed", 500, 0],
    ["is late", "open", 200, 1],
    ["writes without saying so", "closed", 500, 0],
  ] as const)("that %s fail %s", async (how, onFailure, status, calls) => {
    const broken: Hook = {
      name: "broken",
      timeoutMs: 20,
      onFailure,
      onRequest: {
        reads: "head",
        run: () => {
          if (how === "throws") throw new Error("secret reason");
          if (how === "is late") return new Promise(() => undefined);
          return { body: Buffer.from("{}") };
        },
      },
    };
    const answer = await withHooks([broken], (gateway) => ask(gateway, "chat", "chat/scripted-text", "Hello", false));
    expect([answer.status, upstream.calls.length]).toEqual([status, calls]);
    expect(answer.text).not.toContain("secret reason");
  });
});

describe("commit hooks", () => {
  test.each([false, true])(
    "can send the request on to the next deployment before the client saw anything, stream %s",
    async (stream) => {
      const deployments: string[] = [];
      const choosy: Hook = {
        name: "choosy",
        beforeCommit: async ({ deploymentId }) => {
          await Promise.resolve();
          deployments.push(deploymentId);
          return deploymentId === "first" ? { next: true } : undefined;
        },
      };
      const { status, text } = await withHooks([choosy], (gateway) =>
        ask(gateway, "chat", "fallback", "Hello", stream),
      );
      expect([status, deployments]).toEqual([200, ["first", "second"]]);
      expect(text).not.toContain("You said");
      expect(text.includes("[DONE]")).toBe(stream);
    },
  );

  test.each([false, true])("can refuse an answer, stream %s", async (stream) => {
    const refuser: Hook = { name: "refuser", beforeCommit: () => ({ block: { message: "Not this answer." } }) };
    const { status, text } = await withHooks([refuser], (gateway) =>
      ask(gateway, "messages", "chat/scripted-text", "Hello", stream),
    );
    expect([status, text]).toEqual([400, expect.stringContaining("Not this answer.")]);
  });

  test("hold a stream back without losing or doubling anything", async () => {
    const slow: Hook = { name: "slow", beforeCommit: () => new Promise((resolve) => setImmediate(() => resolve())) };
    const plain = await withHooks([], (gateway) => ask(gateway, "messages", "messages/scripted-long", "Hello", true));
    const held = await withHooks([slow], (gateway) =>
      ask(gateway, "messages", "messages/scripted-long", "Hello", true),
    );
    expect(withoutIds(held.text)).toBe(withoutIds(plain.text));
  });
});

describe("event hooks", () => {
  test.each(["chat", "messages"] as const)(
    "that fail closed end the stream of a %s client as broken",
    async (dialect) => {
      const failing: Hook = {
        name: "failing",
        onEvent: {
          writes: true,
          open: () => ({
            event: (event) => {
              if (event.type === "stop") throw new Error("secret reason");
            },
          }),
        },
      };
      const { text } = await withHooks([failing], (gateway) =>
        ask(gateway, dialect, "chat/scripted-text", "Hello", true),
      );
      expect(text).toContain("error");
      expect(text).not.toContain("secret reason");
      expect(text).not.toMatch(/\[DONE\]|message_stop/);
    },
  );

  test("that fail open are left out of the rest of the answer", async () => {
    const failing: Hook = {
      name: "failing",
      onFailure: "open",
      onEvent: {
        writes: true,
        open: () => ({
          event: () => {
            throw new Error("always");
          },
        }),
      },
    };
    const { status, text } = await withHooks([failing], (gateway) =>
      ask(gateway, "chat", "chat/scripted-text", "Hello", true),
    );
    expect([status, text]).toEqual([200, expect.stringContaining("[DONE]")]);
  });
});

test("outcome hooks hear of every exchange once, and their failure changes nothing", async () => {
  const heard: ExchangeOutcome["status"][] = [];
  const hooks: Hook[] = [
    {
      name: "broken",
      onOutcome: () => {
        throw new Error("never mind");
      },
    },
    { name: "listener", onOutcome: ({ status }) => void heard.push(status) },
  ];
  await withHooks(hooks, async (gateway) => {
    await ask(gateway, "chat", "chat/scripted-text", "Hello", false);
    await ask(gateway, "chat", "nowhere", "Hello", false);
  });
  expect(heard).toEqual([200, 404]);
});
