// The embedding examples run as a reader would run them, each in a process of its own, against the scripted upstream.
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { createScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../../src/scripted-upstream/index.ts";

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));

/** Each process compiles the packages as it loads them. */
const PROCESS_TIMEOUT_MS = 120_000;

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await createScriptedUpstream();
});
afterAll(() => upstream.close());

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  TSX_TSCONFIG_PATH: `${REPOSITORY}/tsconfig.test.json`,
  PORT: "0",
  UPSTREAM_URL: `${upstream.url}/v1`,
  UPSTREAM_MODEL: "scripted-text",
});

describe.each(["express", "fastify"])("examples/%s", (name) => {
  let example: ChildProcess | null = null;
  afterEach(() => example?.kill("SIGKILL"));

  it(
    "streams to its sessions, keeps its own route, and ends when told to",
    { timeout: PROCESS_TIMEOUT_MS },
    async () => {
      example = spawn(process.execPath, ["--import", "tsx", `examples/${name}/server.ts`], {
        cwd: REPOSITORY,
        env: environment(),
        stdio: ["ignore", "pipe", "inherit"],
      });
      if (example.stdout === null) throw new Error("The example has no output.");
      const [line] = (await once(createInterface({ input: example.stdout }), "line")) as [string];
      const url = line.replace("listening on ", "");
      const post = (path: string, body: object, session: string): Promise<Response> =>
        fetch(url + path, {
          method: "POST",
          headers: { "content-type": "application/json", "x-session": session },
          body: JSON.stringify(body),
        });
      const question = { model: "chat", max_tokens: 20, stream: true, messages: [{ role: "user", content: "Hello" }] };
      const answered = await post("/llm/v1/messages", question, "session-of-ada");
      expect(answered.status).toBe(200);
      expect(await answered.text()).toContain("message_stop");
      expect((await post("/llm/v1/messages", question, "of-somebody-else")).status).toBe(401);
      expect(await (await post("/notes", { text: "mine" }, "")).json()).toEqual({ saved: { text: "mine" } });
      const exit = once(example, "exit");
      example.kill("SIGTERM");
      expect(await exit).toEqual([0, null]);
    },
  );
});

describe("examples that run to their end", () => {
  it.each([
    { file: "fetch-hono/app.ts", prints: ["200 text/event-stream", "message_stop"] },
    { file: "in-process/main.ts", prints: ["Hello! You said: “Hello”.", "nightly-report used local/scripted-text"] },
  ])("examples/$file", { timeout: PROCESS_TIMEOUT_MS }, async ({ file, prints }) => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", `examples/${file}`], {
      cwd: REPOSITORY,
      env: environment(),
    });
    for (const text of prints) expect(stdout).toContain(text);
  });
});
