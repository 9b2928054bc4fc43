// The servers that other tests rely on: they answer, survive a crash, fall silent when told, and end with whoever started them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { usePostgres } from "./postgres.ts";
import { useValkey } from "./valkey.ts";

const postgres = await usePostgres();
const valkey = await useValkey();

/** What a server says to `bytes`; the empty string when it closes or is not there. */
async function ask(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = createConnection(Number(port), hostname);
  try {
    await once(socket, "connect");
    socket.write(bytes);
    const [answer] = (await once(socket, "data")) as [Buffer];
    return answer.toString("latin1");
  } catch {
    return "";
  } finally {
    socket.destroy();
  }
}

/** An SSLRequest (PostgreSQL manual, 55.7), which every server answers with one letter, and a PING. */
const ROWS = [
  { name: "postgres", service: postgres, request: Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]), answer: /^[SN]$/ },
  { name: "valkey", service: valkey, request: Buffer.from("PING\r\n"), answer: /^\+PONG/ },
];

describe.each(ROWS)("$name", ({ service, request, answer }) => {
  it.skipIf(service === null)("answers", async () => {
    expect(await ask(service!.url, request)).toMatch(answer);
  });

  it.skipIf(!service?.startOwn)("is gone after a crash, and back on the same port after a restart", async () => {
    const own = await service!.startOwn!();
    await own.kill();
    expect(await ask(own.url, request)).toBe("");
    await own.restart();
    expect(await ask(own.url, request)).toMatch(answer);
  });

  it.skipIf(!service?.startOwn)("answers what was asked while it was paused once it is resumed", async () => {
    const own = await service!.startOwn!();
    own.pause();
    const answered = ask(own.url, request);
    own.resume();
    expect(await answered).toMatch(answer);
  });
});

it.skipIf(!valkey?.startOwn).each([
  { name: "is killed", signal: "SIGKILL", isGroup: false },
  { name: "is interrupted with its whole process group", signal: "SIGINT", isGroup: true },
] as const)("a server and its folder end when whoever started it $name", async ({ signal, isGroup }) => {
  const script = fileURLToPath(new URL("with-services.ts", import.meta.url));
  const environment = { ...process.env, DRAGOMAN_TEST_POSTGRES_URL: "none" };
  delete (environment as Record<string, string | undefined>)["DRAGOMAN_TEST_VALKEY_URL"];
  const folder = mkdtempSync(join(tmpdir(), "dragoman-services-"));
  const child = spawn(process.execPath, ["--import", "tsx", script, "cat"], {
    env: { ...environment, TMPDIR: folder },
    detached: isGroup,
  });
  let url = "";
  for await (const line of createInterface(child.stdout))
    if (line.startsWith("DRAGOMAN_TEST_VALKEY_URL=")) {
      url = line.slice(line.indexOf("=") + 1);
      break;
    }
  const { hostname, port } = new URL(url);
  const socket = createConnection(Number(port), hostname);
  await once(socket, "connect");
  const closed = once(socket.resume(), "close");
  const ended = once(child, "exit");
  process.kill(isGroup ? -child.pid! : child.pid!, signal);
  await Promise.all([closed, ended]);
  expect(await ask(url, Buffer.from("PING\r\n"))).toBe("");
  // The watchdog removes the folder last, when nobody is left to wait for it.
  while (readdirSync(folder).some((name) => name.startsWith("dragoman-service-"))) await new Promise(setImmediate);
  rmSync(folder, { recursive: true });
});
