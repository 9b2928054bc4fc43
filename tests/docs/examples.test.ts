// The examples do what they say: the service with a gateway in it serves its own page and both dialects, the configuration is valid,
// and so is the one in the README. They run as a reader would run them, each in a process of its own.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { readCodeBlocks, REPOSITORY } from "./markdown-files.ts";

/** Each process compiles the packages as it loads them. */
const PROCESS_TIMEOUT_MS = 120_000;

const FROM_SOURCES = { ...process.env, TSX_TSCONFIG_PATH: join(REPOSITORY, "tsconfig.test.json") };

const ANSWER = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "small",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello, Ada" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
});

async function check(file: string): Promise<string> {
  const command = ["--import", "tsx", "packages/server/src/cli.ts", "check", "--offline", file];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: REPOSITORY, env: FROM_SOURCES });
  return stdout;
}

describe("configurations", () => {
  it("examples/standalone-config/dragoman.yaml is valid", { timeout: PROCESS_TIMEOUT_MS }, async () => {
    expect(await check("examples/standalone-config/dragoman.yaml")).toContain(": valid");
  });

  it("the one in the README is valid", { timeout: PROCESS_TIMEOUT_MS }, async () => {
    const blocks = readCodeBlocks(readFileSync(join(REPOSITORY, "README.md"), "utf8"));
    const [yaml, ...others] = blocks.filter(({ language }) => language === "yaml");
    expect(others).toEqual([]);
    const folder = mkdtempSync(join(tmpdir(), "dragoman-readme-"));
    try {
      const file = join(folder, "dragoman.yaml");
      writeFileSync(file, yaml?.code ?? "");
      expect(await check(file)).toContain(": valid");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("examples/embedded", () => {
  let upstream: Server;
  let example: ReturnType<typeof spawn>;
  let url: string;

  beforeAll(async () => {
    upstream = createServer((req, res) => {
      req.resume();
      req.once("end", () => res.writeHead(200, { "content-type": "application/json" }).end(ANSWER));
    });
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    const { port } = upstream.address() as AddressInfo;
    example = spawn(process.execPath, ["--import", "tsx", "examples/embedded/server.ts"], {
      cwd: REPOSITORY,
      env: { ...FROM_SOURCES, PORT: "0", UPSTREAM_URL: `http://127.0.0.1:${port}/v1`, UPSTREAM_MODEL: "small" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (example.stdout === null) throw new Error("The example has no output.");
    const [line] = (await once(createInterface({ input: example.stdout }), "line")) as [string];
    url = line.replace("listening on ", "");
  }, PROCESS_TIMEOUT_MS);

  afterAll(async () => {
    upstream.close();
    if (example.exitCode === null) {
      example.kill("SIGTERM");
      await once(example, "exit");
    }
  });

  async function post(path: string, session: string): Promise<{ readonly status: number; readonly text: string }> {
    const body = { model: "chat", max_tokens: 20, messages: [{ role: "user", content: "Hello" }] };
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-session": session },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  it("keeps its own page", async () => {
    expect(await (await fetch(`${url}/anything`)).text()).toBe("the service's own page\n");
  });

  it.each(["/llm/v1/chat/completions", "/llm/v1/messages"])("answers %s for a session that it knows", async (path) => {
    const { status, text } = await post(path, "session-of-ada");
    expect(text).toContain("Hello, Ada");
    expect(status).toBe(200);
  });

  it.each([
    { path: "/llm/v1/chat/completions", type: "invalid_request_error" },
    { path: "/llm/v1/messages", type: "authentication_error" },
  ])("refuses a session that it does not know on $path, in the dialect's words", async ({ path, type }) => {
    const { status, text } = await post(path, "somebody-else");
    expect(status).toBe(401);
    expect(JSON.parse(text)).toMatchObject({ error: { type } });
  });

  it("ends when it is told to", { timeout: PROCESS_TIMEOUT_MS }, async () => {
    const exit = once(example, "exit");
    example.kill("SIGTERM");
    expect(await exit).toEqual([0, null]);
  });
});
