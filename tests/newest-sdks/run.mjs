// The newest vendor SDKs against the built server: a compact matrix, run by a newer Node than the server's. The scripted upstream
// is the demo's; the gateway under test is a server of its own in front of it. Prints a line per check and exits with 1 when one
// failed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import Anthropic, * as A from "@anthropic-ai/sdk";
import OpenAI from "openai";

const CLI = fileURLToPath(new URL("../../packages/server/dist/cli.js", import.meta.url));
const KEY = "dgm_KeyOfTheNewestSdks0000000000";
const NARROW_KEY = "dgm_NarrowKeyOfTheNewestSdks0000";
const CHECK_LIMIT_MS = 20_000;
const UPSTREAMS = ["chat", "messages"];

const hashOf = (key) => `sha256:${createHash("sha256").update(key).digest("hex")}`;

/** Starts the server's own Node, which is the one on the path, and waits for a line of its output. */
async function start(args, pattern) {
  const child = spawn("node", [CLI, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const found = await new Promise((resolve, reject) => {
    const collect = (chunk) => {
      output += chunk.toString("utf8");
      const match = pattern.exec(output);
      if (match !== null) resolve(match);
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`dragoman ${args[0]} ended with ${code}:\n${output}`)));
  });
  const stop = async () => {
    if (child.exitCode !== null) return child.exitCode;
    const ended = new Promise((resolve) => {
      child.once("exit", (code) => resolve(code));
    });
    child.kill("SIGTERM");
    return ended;
  };
  return { found, stop };
}

function configFor(upstreamUrl) {
  const capabilities = {
    defaultMaxOutputTokens: 1024,
    reasoning: { support: true, adaptive: true, budget: true, efforts: ["low", "medium", "high"], summaries: true },
  };
  const glob = (provider) => ({ attempts: 1, deployments: [{ provider, model: "*", capabilities }] });
  return {
    version: 1,
    server: { host: "127.0.0.1", port: 0, shutdown: "1s" },
    providers: {
      chat: { kind: "openai", baseUrl: `${upstreamUrl}/v1`, credentials: ["chat-credential"] },
      messages: { kind: "anthropic", baseUrl: upstreamUrl, credentials: ["messages-credential"] },
    },
    models: {
      "chat/*": glob("chat"),
      "messages/*": glob("messages"),
      listed: { deployments: [{ provider: "chat", model: "scripted-text" }] },
    },
    keys: [
      { name: "wide", hash: hashOf(KEY), models: ["*"] },
      { name: "narrow", hash: hashOf(NARROW_KEY), models: ["listed"] },
    ],
    telemetry: { requestLog: false },
  };
}

const checks = [];
const check = (name, body) => checks.push({ name, body });

let baseUrl = "";
const openAi = (options = {}) =>
  new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: KEY, maxRetries: 0, logLevel: "off", ...options });
const anthropic = (options = {}) =>
  new Anthropic({ baseURL: baseUrl, apiKey: KEY, maxRetries: 0, logLevel: "off", ...options });

/** A `fetch` that notes the status of every response. */
function watch(statuses) {
  return async (input, init) => {
    const response = await fetch(input, init);
    statuses.push(response.status);
    return response;
  };
}

const GREETING = "Hello! You said: “Hi there”. This answer is scripted.";
const UNICODE = "Grüße, 世界 🐉 – \u2028 “quoted” \\ \u0007 done";
const THINKING = "The user asks something simple. A short answer is enough.";
const SIGNATURE = Buffer.from(`scripted:${THINKING.length}`).toString("base64");
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const USER = { role: "user", content: "Hi there" };
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const CHAT_TOOLS = [
  { type: "function", function: { name: "get_weather", description: "Weather", parameters: SCHEMA } },
];
const MESSAGE_TOOLS = [{ name: "get_weather", description: "Weather", input_schema: SCHEMA }];

/** Reads a stream to its end; gives the events and the error that ended it, if one did. */
async function read(stream) {
  const events = [];
  try {
    for await (const event of stream) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events, error: null };
}

for (const upstream of UPSTREAMS) {
  const prefix = upstream === "chat" ? "call" : "toolu";
  const chat = (name, more = {}) => ({ model: `${upstream}/scripted-${name}`, messages: [USER], ...more });
  const message = (name, more = {}) => chat(name, { max_tokens: 500, ...more });
  const about = (client, what) => `${client} client, ${upstream} upstream: ${what}`;

  check(about("OpenAI", "plain and streamed answers are one"), async () => {
    const plain = await openAi().chat.completions.create(chat("text"));
    assert.equal(plain.choices[0].message.content, GREETING);
    assert.equal(plain.choices[0].finish_reason, "stop");
    assert.match(plain._request_id, /^req_[0-9A-Za-z]{24}$/);
    const final = await openAi().chat.completions.stream(chat("text")).finalChatCompletion();
    assert.equal(final.choices[0].message.content, GREETING);
    assert.equal(final.choices[0].finish_reason, "stop");
  });
  check(about("OpenAI", "raw chunks, usage last"), async () => {
    const request = chat("cached", { stream: true, stream_options: { include_usage: true } });
    const { events, error } = await read(await openAi().chat.completions.create(request));
    assert.equal(error, null);
    assert.equal(new Set(events.map(({ id }) => id)).size, 1);
    assert.equal(events.at(-1).usage.prompt_tokens_details.cached_tokens, 1024);
    assert.equal(events.at(-1).choices.length, 0);
  });
  check(about("OpenAI", "every character, cut anywhere"), async () => {
    const final = await openAi().chat.completions.stream(chat("unicode:split-1")).finalChatCompletion();
    assert.equal(final.choices[0].message.content, UNICODE);
  });
  check(about("OpenAI", "parallel tool calls and their results"), async () => {
    const request = chat("parallel-tools", { tools: CHAT_TOOLS });
    const first = (await openAi().chat.completions.stream(request).finalChatCompletion()).choices[0].message;
    assert.deepEqual(
      first.tool_calls.map((call) => [call.id, JSON.parse(call.function.arguments)]),
      [
        [`${prefix}_scripted_1`, { city: "Oslo" }],
        [`${prefix}_scripted_2`, { city: "Rome" }],
      ],
    );
    const results = first.tool_calls.map(({ id }, index) => ({ role: "tool", tool_call_id: id, content: `r${index}` }));
    const second = await openAi().chat.completions.create({ ...request, messages: [USER, first, ...results] });
    assert.equal(
      second.choices[0].message.content,
      `The tools answered: ${prefix}_scripted_1 returned “r0”; ${prefix}_scripted_2 returned “r1”.`,
    );
  });
  check(about("OpenAI", "the SDK's tool runner"), async () => {
    const runner = openAi().chat.completions.runTools(
      chat("tools", {
        tools: [
          {
            type: "function",
            function: {
              ...CHAT_TOOLS[0].function,
              parse: JSON.parse,
              function: ({ city }) => `7 degrees in ${city}`,
            },
          },
        ],
      }),
    );
    assert.equal(await runner.finalContent(), `The tools answered: ${prefix}_scripted_1 returned “7 degrees in Oslo”.`);
  });
  check(about("OpenAI", "images and instructions"), async () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } };
    const messages = [{ role: "user", content: [{ type: "text", text: "?" }, image] }];
    const seen = await openAi().chat.completions.create(chat("image", { messages }));
    assert.equal(seen.choices[0].message.content, "I got 1 image(s): #1 image/png, 70 bytes.");
    const told = await openAi().chat.completions.create(
      chat("echo", { messages: [{ role: "developer", content: "Be brief." }, USER], stop: ["END"] }),
    );
    const echo = JSON.parse(told.choices[0].message.content);
    assert.deepEqual(
      [echo.instructions.map(({ text }) => text), echo.stop, echo.lastUserText],
      [["Be brief."], ["END"], USER.content],
    );
  });
  check(about("OpenAI", "typed errors"), async () => {
    const create = (name, options) => openAi(options).chat.completions.create(chat(name));
    await assert.rejects(create("error-400"), OpenAI.BadRequestError);
    await assert.rejects(create("error-429-retry"), (error) => {
      assert.ok(error instanceof OpenAI.RateLimitError);
      assert.equal(error.headers.get("retry-after"), "7");
      assert.match(error.requestID, /^req_/);
      return true;
    });
    await assert.rejects(create("error-500"), OpenAI.InternalServerError);
    await assert.rejects(create("error-529"), { status: 503, code: "server_is_overloaded" });
    await assert.rejects(create("text", { apiKey: "dgm_nobody" }), OpenAI.AuthenticationError);
    await assert.rejects(create("text", { apiKey: NARROW_KEY }), OpenAI.PermissionDeniedError);
  });
  check(about("OpenAI", "broken streams raise"), async () => {
    for (const fault of ["error-after-6", "cut-after-6", "reset-after-6", "no-ending"]) {
      const { events, error } = await read(
        await openAi().chat.completions.create(chat(`text:${fault}`, { stream: true })),
      );
      assert.ok(events.length > 0, fault);
      assert.ok(error instanceof OpenAI.APIError, fault);
      await assert.rejects(
        openAi()
          .chat.completions.stream(chat(`text:${fault}`))
          .finalChatCompletion(),
        fault,
      );
    }
  });
  check(about("OpenAI", "abort in mid-stream"), async () => {
    const stream = openAi().chat.completions.stream(chat("text:stall-after-6"));
    stream.on("content", () => stream.abort());
    await assert.rejects(stream.finalChatCompletion(), OpenAI.APIUserAbortError);
  });

  check(about("Anthropic", "plain and streamed answers are one"), async () => {
    const plain = await anthropic().messages.create(message("text"));
    assert.deepEqual([plain.content[0].text, plain.stop_reason], [GREETING, "end_turn"]);
    assert.match(plain._request_id, /^req_[0-9A-Za-z]{24}$/);
    const final = await anthropic().messages.stream(message("text")).finalMessage();
    assert.deepEqual([final.content[0].text, final.stop_reason], [GREETING, "end_turn"]);
  });
  check(about("Anthropic", "raw events in order, usage"), async () => {
    const { events, error } = await read(await anthropic().messages.create(message("cached", { stream: true })));
    assert.equal(error, null);
    assert.deepEqual(
      [...new Set(events.map(({ type }) => type))],
      [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
      ],
    );
    const { usage } = await anthropic().messages.stream(message("cached")).finalMessage();
    assert.deepEqual([usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens], [5, 1024, 8]);
  });
  check(about("Anthropic", "every character, cut anywhere"), async () => {
    assert.equal(await anthropic().messages.stream(message("unicode:split-1")).finalText(), UNICODE);
  });
  check(about("Anthropic", "parallel tool calls and their results"), async () => {
    const request = message("parallel-tools", { tools: MESSAGE_TOOLS });
    const first = await anthropic().messages.stream(request).finalMessage();
    const calls = first.content.filter(({ type }) => type === "tool_use");
    assert.deepEqual(
      calls.map(({ id, input }) => [id, input]),
      [
        [`${prefix}_scripted_1`, { city: "Oslo" }],
        [`${prefix}_scripted_2`, { city: "Rome" }],
      ],
    );
    const results = calls.map(({ id }, index) => ({ type: "tool_result", tool_use_id: id, content: `r${index}` }));
    const messages = [USER, { role: "assistant", content: first.content }, { role: "user", content: results }];
    const second = await anthropic().messages.create({ ...request, messages });
    assert.equal(
      second.content[0].text,
      `The tools answered: ${prefix}_scripted_1 returned “r0”; ${prefix}_scripted_2 returned “r1”.`,
    );
  });
  check(about("Anthropic", "the SDK's tool runner"), async () => {
    const tool = {
      ...MESSAGE_TOOLS[0],
      type: "custom",
      parse: (input) => input,
      run: ({ city }) => `7 degrees in ${city}`,
    };
    const final = await anthropic().beta.messages.toolRunner(message("tools", { tools: [tool] }));
    assert.equal(final.content[0].text, `The tools answered: ${prefix}_scripted_1 returned “7 degrees in Oslo”.`);
  });
  check(about("Anthropic", "images and instructions"), async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };
    const seen = await anthropic().messages.create(
      message("image", { messages: [{ role: "user", content: [image] }] }),
    );
    assert.equal(seen.content[0].text, "I got 1 image(s): #1 image/png, 70 bytes.");
    const system = [{ type: "text", text: "Be brief." }];
    const told = await anthropic().messages.create(message("echo", { system, stop_sequences: ["END"] }));
    const echo = JSON.parse(told.content[0].text);
    assert.deepEqual([echo.instructions.map(({ text }) => text), echo.stop], [["Be brief."], ["END"]]);
  });
  check(about("Anthropic", "thinking where it was asked for"), async () => {
    const thinking = { type: "adaptive" };
    const { content } = await anthropic().messages.create(message("thinking", { thinking }));
    assert.deepEqual([content[0].type, content[0].thinking, content[1].text], ["thinking", THINKING, GREETING]);
    const final = await anthropic().messages.stream(message("thinking", { thinking })).finalMessage();
    assert.deepEqual([final.content[0].thinking, final.content[1].text], [THINKING, GREETING]);
  });
  check(about("Anthropic", "typed errors"), async () => {
    const create = (name, options) => anthropic(options).messages.create(message(name));
    await assert.rejects(create("error-400"), A.BadRequestError);
    // Another model than the one above, which rests now as its upstream asked.
    await assert.rejects(create("error-429-retry:crlf"), (error) => {
      assert.ok(error instanceof A.RateLimitError);
      assert.equal(error.headers.get("retry-after"), "7");
      assert.match(error.requestID, /^req_/);
      return true;
    });
    await assert.rejects(create("error-500"), A.InternalServerError);
    await assert.rejects(create("error-529"), A.OverloadedError);
    await assert.rejects(create("text", { apiKey: "dgm_nobody" }), A.AuthenticationError);
    await assert.rejects(create("text", { apiKey: NARROW_KEY }), A.PermissionDeniedError);
  });
  check(about("Anthropic", "broken streams raise"), async () => {
    for (const fault of ["error-after-6", "cut-after-6", "reset-after-6", "no-ending"]) {
      const { events, error } = await read(
        await anthropic().messages.create(message(`text:${fault}`, { stream: true })),
      );
      assert.ok(events.length > 0, fault);
      assert.ok(error instanceof A.APIError, fault);
      await assert.rejects(
        anthropic()
          .messages.stream(message(`text:${fault}`))
          .finalMessage(),
        fault,
      );
    }
  });
  check(about("Anthropic", "abort in mid-stream"), async () => {
    const stream = anthropic().messages.stream(message("text:stall-after-6"));
    stream.on("text", () => stream.abort());
    await assert.rejects(stream.finalMessage(), A.APIUserAbortError);
  });
}

check("OpenAI client: signed reasoning travels back byte for byte", async () => {
  const request = { model: "messages/scripted-thinking-tools", tools: CHAT_TOOLS, messages: [USER] };
  const client = openAi();
  const first = (await client.chat.completions.stream(request).finalChatCompletion()).choices[0].message;
  const [carried] = first.extra_content.gateway.reasoning;
  assert.equal(carried.text, THINKING);
  const [, , , payload] = carried.sig.split(".");
  assert.equal(Buffer.from(payload, "base64url").toString("utf8"), SIGNATURE);
  const result = { role: "tool", tool_call_id: first.tool_calls[0].id, content: "7 degrees" };
  const second = await client.chat.completions.create({ ...request, messages: [USER, first, result] });
  assert.match(second.choices[0].message.content, /returned “7 degrees”/);
});

check("Anthropic client: token counting", async () => {
  const counted = await anthropic().messages.countTokens({ model: "messages/scripted-text", messages: [USER] });
  assert.equal(counted.input_tokens, 5);
  const refused = anthropic().messages.countTokens({ model: "chat/scripted-text", messages: [USER] });
  await assert.rejects(refused, A.BadRequestError);
});

check("both clients: model lists", async () => {
  const chat = await read(openAi().models.list());
  assert.deepEqual([chat.events.map(({ id }) => id), chat.error], [["listed"], null]);
  const message = await read(anthropic().models.list());
  assert.deepEqual([message.events.map(({ id }) => id), message.error], [["listed"], null]);
  assert.equal((await openAi().models.retrieve("listed")).object, "model");
  assert.equal((await anthropic().models.retrieve("listed")).type, "model");
  await assert.rejects(openAi().models.retrieve("nowhere"), OpenAI.NotFoundError);
  await assert.rejects(anthropic().models.retrieve("nowhere"), A.NotFoundError);
});

check("both clients: requests that cannot be expressed", async () => {
  const chat = openAi().chat.completions.create({ model: "messages/scripted-text", n: 2, messages: [USER] });
  await assert.rejects(chat, { code: "unsupported_request" });
  const tools = [{ type: "web_search_20250305", name: "web_search" }];
  const message = anthropic().messages.create({ model: "chat/scripted-text", max_tokens: 9, tools, messages: [USER] });
  await assert.rejects(message, A.BadRequestError);
});

check("both clients: retries follow x-should-retry", async () => {
  const statuses = [];
  const options = { maxRetries: 1, fetch: watch(statuses) };
  await assert.rejects(openAi(options).chat.completions.create({ model: "chat/scripted-error-529", messages: [USER] }));
  await assert.rejects(openAi(options).chat.completions.create({ model: "chat/scripted-error-404", messages: [USER] }));
  const ask = { max_tokens: 9, messages: [USER] };
  await assert.rejects(anthropic(options).messages.create({ ...ask, model: "chat/scripted-error-529" }));
  await assert.rejects(anthropic(options).messages.create({ ...ask, model: "chat/scripted-error-404" }));
  assert.deepEqual(statuses, [503, 503, 502, 529, 529, 502]);
});

check("both clients: both styles of credentials", async () => {
  const chatHeaders = { authorization: null, "api-key": KEY };
  const chat = openAi({ apiKey: "unused", defaultHeaders: chatHeaders });
  await chat.chat.completions.create({ model: "chat/scripted-text", messages: [USER] });
  const messageHeaders = { authorization: null, "x-api-key": KEY };
  const message = anthropic({ apiKey: "unused", defaultHeaders: messageHeaders });
  await message.messages.create({ model: "messages/scripted-text", max_tokens: 9, messages: [USER] });
});

/** Fails instead of waiting for ever. */
async function withLimit(promise) {
  let timer;
  const limit = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${CHECK_LIMIT_MS} ms`)), CHECK_LIMIT_MS);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

async function runChecks() {
  let failed = 0;
  for (const { name, body } of checks) {
    try {
      const startMs = performance.now();
      await withLimit(body());
      console.log(`ok    ${name} (${Math.round(performance.now() - startMs)} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${name}\n${error?.stack ?? error}`);
    }
  }
  return failed;
}

const folder = await mkdtemp(join(tmpdir(), "dragoman-newest-"));
const demo = await start(["demo", "--port", "0"], /upstream\s+(http:\/\/\S+)/u);
let failed = checks.length;
try {
  const configPath = join(folder, "dragoman.json");
  await writeFile(configPath, JSON.stringify(configFor(demo.found[1])));
  const server = await start(
    ["serve", "--config", configPath, "--data", join(folder, "data")],
    /dragoman listens on (http:\S+)/u,
  );
  baseUrl = server.found[1];
  failed = await runChecks();
  const code = await server.stop();
  if (code !== 0) console.log(`FAIL  the server ended with code ${code}`);
  if (code !== 0) failed += 1;
} finally {
  await demo.stop();
  await rm(folder, { recursive: true });
}
console.log(`\n${checks.length - Math.min(failed, checks.length)} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
