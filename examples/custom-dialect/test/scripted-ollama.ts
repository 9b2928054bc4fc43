/** A server that answers `POST /api/chat` as Ollama does, by a script per model name. It keeps what it was asked. */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came. */
export interface AskedRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A running server. */
export interface ScriptedOllama {
  readonly url: string;
  readonly asked: readonly AskedRequest[];
  close(): Promise<void>;
}

type Line = Readonly<Record<string, unknown>>;

const CREATED_AT = "2026-01-15T10:30:00.123456789Z";
const DONE = { done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 7 };

const say = (message: object, rest: object = { done: false }): Line => ({
  model: "scripted",
  created_at: CREATED_AT,
  message: { role: "assistant", content: "", ...message },
  ...rest,
});

/** Lines of a streamed answer by model; a whole answer is their sum. `broken` fails in the middle, `cut` just stops. */
const SCRIPTS: Readonly<Record<string, readonly Line[]>> = {
  text: [say({ content: "Hello" }), say({ content: ", Zürich 😀" }), say({}, DONE)],
  thinking: [say({ thinking: "Let me " }), say({ thinking: "see." }), say({ content: "42" }), say({}, DONE)],
  // Two calls in one line, without ids, as older servers send them.
  tools: [
    say({ content: "Looking." }),
    say({
      tool_calls: [
        { function: { name: "weather", arguments: { city: "Zürich", days: 2 } } },
        { function: { name: "time", arguments: {} } },
      ],
    }),
    say({}, DONE),
  ],
  short: [say({ content: "Cut by the lim" }), say({}, { ...DONE, done_reason: "length" })],
  broken: [say({ content: "Hel" }), { error: "an error was encountered while running the model" }],
  cut: [say({ content: "Hel" })],
};

/** Starts a server on a free port. */
export async function startScriptedOllama(): Promise<ScriptedOllama> {
  const asked: AskedRequest[] = [];
  const server = createServer((req, res) => {
    void readJson(req).then((body) => {
      asked.push({ path: req.url ?? "", authorization: req.headers.authorization, body });
      answer(body, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readJson(req: IncomingMessage): Promise<AskedRequest["body"]> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as AskedRequest["body"];
}

function answer(body: AskedRequest["body"], res: ServerResponse): void {
  const lines = SCRIPTS[String(body["model"])];
  if (lines === undefined) {
    res.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error: "model 'x' not found" }));
    return;
  }
  if (body["stream"] === false) {
    res.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(sumOf(lines)));
    return;
  }
  res.writeHead(200, { "content-type": "application/x-ndjson" });
  // A line is cut in two on its way, as networks do.
  for (const line of lines) {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    res.write(bytes.subarray(0, bytes.length >> 1));
    res.write(bytes.subarray(bytes.length >> 1));
  }
  res.end();
}

/** The whole answer that a stream's lines say. */
function sumOf(lines: readonly Line[]): Line {
  const messages = lines.map(({ message }) => (message ?? {}) as Readonly<Record<string, unknown>>);
  const joined = (name: string): string =>
    messages.map((message) => (typeof message[name] === "string" ? message[name] : "")).join("");
  const calls = messages.flatMap(({ tool_calls: list }) => (list ?? []) as readonly unknown[]);
  return {
    ...lines.at(-1),
    message: {
      role: "assistant",
      content: joined("content"),
      ...(joined("thinking") === "" ? null : { thinking: joined("thinking") }),
      ...(calls.length === 0 ? null : { tool_calls: calls }),
    },
  };
}
