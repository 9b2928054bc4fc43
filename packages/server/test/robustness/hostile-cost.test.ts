// What a hostile body costs the server, as CPU time of the built process against a benign body of the same size in the same run:
// the work has to be linear in bytes, whatever the structure. Both ways of translation and both forwarding ways.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { RawClient } from "../harness/raw-client.ts";
import { soleModel, startBuiltGateway } from "./built-gateway.ts";
import type { BuiltGateway } from "./built-gateway.ts";
import { ask, DIALECTS, post } from "./client-dialect.ts";
import type { Dialect } from "./client-dialect.ts";

const BODY_BYTES = 1_000_000;
/** The least of this many runs counts, since noise only ever adds; runs end with the first that is within the bound. */
const RUNS = 8;
/** The bound on the ratio. */
const MAX_RATIO = 3;

let gateway: BuiltGateway;
beforeAll(async () => {
  gateway = await startBuiltGateway({
    models: { chat: soleModel("chat", "scripted-length"), messages: soleModel("messages", "scripted-length") },
  });
});
afterAll(() => gateway.close());

const SENTENCE = 'The "quick" brown fox\njumps over the lazy dog; 42 times a day, naïvely. ';

function bodyOf(dialect: Dialect, model: string, messages: string, members = ""): string {
  const limit = dialect.name === "anthropic" ? '"max_tokens":64,' : "";
  return `{"model":${JSON.stringify(model)},${limit}${members}"messages":[${messages}]}`;
}

function turns(count: number, text: (index: number) => string): string {
  const turn = (_: unknown, index: number): string =>
    `{"role":"${index % 2 === 0 ? "user" : "assistant"}","content":${JSON.stringify(text(index))}}`;
  return Array.from({ length: count | 1 }, turn).join(",");
}

/** White space is legal everywhere between tokens, so every body is filled up to the same size. */
function filled(body: string): Buffer {
  const bytes = Buffer.from(body, "utf8");
  if (bytes.length > BODY_BYTES) throw new Error(`the body has ${bytes.length} bytes already`);
  return Buffer.concat([bytes, Buffer.alloc(BODY_BYTES - bytes.length, 0x20)]);
}

/** An ordinary agent's conversation: a sentence, a tool call, its result, a sentence, and so on. */
function benign(dialect: Dialect, model: string): string {
  const round = dialect.name === "openai" ? chatRound : messagesRound;
  return bodyOf(
    dialect,
    model,
    `${Array.from({ length: 1_800 }, (_, index) => round(index)).join(",")},${say("user", 0)}`,
  );
}

const say = (role: string, index: number): string => `{"role":"${role}","content":${JSON.stringify(SENTENCE + index)}}`;

function chatRound(index: number): string {
  const call = `{"id":"call_${index}","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"src/${index}.ts\\"}"}}`;
  const result = `{"role":"tool","tool_call_id":"call_${index}","content":${JSON.stringify(SENTENCE)}}`;
  return `${say("user", index)},{"role":"assistant","content":null,"tool_calls":[${call}]},${result},${say("assistant", index)}`;
}

function messagesRound(index: number): string {
  const call = `{"type":"tool_use","id":"call_${index}","name":"read_file","input":{"path":"src/${index}.ts"}}`;
  const result = `{"type":"tool_result","tool_use_id":"call_${index}","content":${JSON.stringify(SENTENCE)}}`;
  return `${say("user", index)},{"role":"assistant","content":[${call}]},{"role":"user","content":[${result}]},${say("assistant", index)}`;
}

interface HostileRow {
  readonly name: string;
  readonly body: (dialect: Dialect, model: string) => string;
}

const HOSTILE: readonly HostileRow[] = [
  {
    name: "20,000 small messages",
    body: (dialect, model) =>
      bodyOf(
        dialect,
        model,
        turns(20_000, () => "hi"),
      ),
  },
  {
    name: "20,000 content parts",
    body: (dialect, model) => {
      const parts = Array.from({ length: 20_000 }, () => '{"type":"text","text":"hi"}').join(",");
      return bodyOf(dialect, model, `{"role":"user","content":[${parts}]}`);
    },
  },
  {
    name: "nearly 100,000 unknown members",
    body: (dialect, model) => {
      const members = Array.from({ length: 90_000 }, (_, index) => `"x${index.toString(36)}":0`).join(",");
      return bodyOf(dialect, model, '{"role":"user","content":"hi"}', `${members},`);
    },
  },
  {
    name: "unknown members in every message",
    body: (dialect, model) => {
      const message = '{"role":"user","content":"hi","x1":1,"x2":[],"x3":{},"x4":null}';
      return bodyOf(dialect, model, Array.from({ length: 14_000 }, () => message).join(","));
    },
  },
  {
    name: "names that a weak hash takes for one",
    body: (dialect, model) => {
      // Every block is "Aa" or "BB": equal under the multiplicative hash of 31, equal in length, first and last letter apart.
      const name = (index: number): string =>
        `${Array.from({ length: 15 }, (_, bit) => ((index >> bit) & 1 ? "Aa" : "BB")).join("")}`;
      const members = Array.from({ length: 26_000 }, (_, index) => `"${name(index)}":0`).join(",");
      return bodyOf(dialect, model, '{"role":"user","content":"hi"}', `${members},`);
    },
  },
  {
    name: "nesting up to the limit, again and again",
    body: (dialect, model) => {
      const deep = "[".repeat(124) + "]".repeat(124);
      const list = Array.from({ length: 3_900 }, () => deep).join(",");
      return bodyOf(dialect, model, '{"role":"user","content":"hi"}', `"x":[${list}],`);
    },
  },
  {
    name: "one assistant turn of 20,000 parts",
    body: (dialect, model) => {
      const parts = Array.from({ length: 20_000 }, () => '{"type":"text","text":"hi"}').join(",");
      const ask = '{"role":"user","content":"hi"}';
      return bodyOf(dialect, model, `${ask},{"role":"assistant","content":[${parts}]},${ask}`);
    },
  },
  {
    name: "20,000 messages of one role",
    body: (dialect, model) =>
      bodyOf(dialect, model, Array.from({ length: 20_000 }, () => '{"role":"user","content":"hi"}').join(",")),
  },
  {
    name: "one huge string",
    body: (dialect, model) =>
      bodyOf(
        dialect,
        model,
        turns(1, () => "x".repeat(990_000)),
      ),
  },
  {
    name: "one huge string of escapes",
    body: (dialect, model) =>
      bodyOf(dialect, model, `{"role":"user","content":"${String.raw`\u00e9\"\n`.repeat(98_000)}"}`),
  },
  {
    name: "20,000 tools",
    body: (dialect, model) => {
      const tool = (_: unknown, index: number): string =>
        dialect.name === "openai"
          ? `{"type":"function","function":{"name":"t${index}"}}`
          : `{"name":"t${index}","input_schema":{"type":"object"}}`;
      return bodyOf(
        dialect,
        model,
        '{"role":"user","content":"hi"}',
        `"tools":[${Array.from({ length: 17_000 }, tool).join(",")}],`,
      );
    },
  },
  {
    name: "one huge number",
    body: (dialect, model) => bodyOf(dialect, model, '{"role":"user","content":"hi"}', `"x":${"1".repeat(990_000)},`),
  },
];

/** CPU microseconds of one exchange; the answer's status says only that it was served or refused, not that it failed. */
async function costOf(bytes: Buffer): Promise<number> {
  const before = await gateway.measure();
  const answer = await ask(gateway.url, bytes);
  const after = await gateway.measure();
  expect([200, 400]).toContain(answer.status);
  return after.cpuMicros - before.cpuMicros;
}

describe.each(DIALECTS)("a request of $name", (dialect) => {
  describe.each(["chat", "messages"])("to a provider of %s", (model) => {
    async function leastCost(body: string, enoughMicros: number): Promise<number> {
      const bytes = post(dialect, filled(body));
      let least = Number.POSITIVE_INFINITY;
      for (let run = 0; run < RUNS && least > enoughMicros; run += 1) least = Math.min(least, await costOf(bytes));
      return least;
    }

    it("costs at most a few times what a benign one of its size does, whatever its structure", async () => {
      // Once for the compiler of the engine, then as the measure.
      await leastCost(benign(dialect, model), 0);
      const base = await leastCost(benign(dialect, model), 0);
      const over: string[] = [];
      for (const { name, body } of HOSTILE) {
        const cost = await leastCost(body(dialect, model), MAX_RATIO * base);
        if (cost > MAX_RATIO * base) over.push(`${name}: ${(cost / base).toFixed(1)}`);
      }
      expect(over).toEqual([]);
    });

    it("of more messages and parts than a call has room for arguments is served", async () => {
      const parts = Array.from({ length: 130_000 }, () => '{"type":"text","text":"a"}').join(",");
      const messages = Array.from({ length: 130_000 }, () => '{"role":"user","content":"a"}').join(",");
      const assistant = `{"role":"user","content":"a"},{"role":"assistant","content":[${parts}]},{"role":"user","content":"a"}`;
      for (const list of [`{"role":"user","content":[${parts}]}`, assistant, messages])
        expect((await ask(gateway.url, post(dialect, bodyOf(dialect, model, list)))).status).toBe(200);
    });
  });

  it("leaves room for others: they are served while hostile bodies are", async () => {
    const hostile = HOSTILE.slice(0, 3).map(({ body }) => post(dialect, filled(body(dialect, "chat"))));
    const bystander = await RawClient.open(gateway.url);
    let served = 0;
    let isBusy = true;
    const watch = (async () => {
      while (isBusy) {
        bystander.send("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
        served += 1;
        expect((await bystander.answer(served)).status).toBe(200);
      }
    })();
    for (const bytes of hostile) await costOf(bytes);
    isBusy = false;
    await watch;
    // Between any two of the bodies at least one of the others had its turn.
    expect(served).toBeGreaterThan(hostile.length);
    bystander.destroy();
  });
});
