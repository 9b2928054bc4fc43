// One server of a test, on a loopback port, in a temporary folder. Invariants: it ends with whoever started it, also when that is
// killed, because a watchdog between them sees its standard input close; and what is started again keeps port and data.
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, chownSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

/** A server that tests may use. */
export interface Service {
  readonly url: string;
}

/** A server of the test's own, for what must not happen to others. */
export interface OwnService extends Service {
  /** Stops the server without ending it: connections stay, nobody answers. */
  pause(): void;
  resume(): void;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** How one kind of server is started. */
export interface ServiceRecipe {
  readonly name: string;
  /** Whom to run as; null = as the caller. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Prepares the folder, once. */
  prepare(folder: string): void;
  command(folder: string, port: number): readonly [string, ...string[]];
  /** A command that succeeds once the server answers. */
  probe(port: number): readonly [string, ...string[]];
  url(port: number): string;
}

/** `keep` on its standard input: end the server; its end: end the server and remove the folder. Prints the server's process id. */
const WATCHDOG = `
folder=$1; shift
"$@" </dev/null >"$folder/log" 2>&1 &
server=$!
echo $server
if read -r order; then remove=; else remove=yes; fi
kill -INT $server 2>/dev/null
kill -CONT $server $(cat /proc/$server/task/*/children 2>/dev/null) 2>/dev/null
wait $server
[ -z "$remove" ] || rm -rf "$folder"
`;

const READY_MS = 30_000;

/** Starts a server and waits until it answers. */
export async function startService(recipe: ServiceRecipe): Promise<OwnService> {
  const service = new RunningService(recipe, await freePort());
  try {
    await service.restart();
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}

class RunningService implements OwnService {
  readonly #recipe: ServiceRecipe;
  readonly #folder = mkdtempSync(join(tmpdir(), "dragoman-service-"));
  readonly #port: number;
  #watchdog: ChildProcessWithoutNullStreams | null = null;
  #pid = 0;

  constructor(recipe: ServiceRecipe, port: number) {
    this.#recipe = recipe;
    this.#port = port;
    const data = join(this.#folder, "data");
    mkdirSync(data, { mode: 0o700 });
    if (recipe.user !== null)
      for (const each of [this.#folder, data]) chownSync(each, recipe.user.uid, recipe.user.gid);
    recipe.prepare(data);
  }

  get url(): string {
    return this.#recipe.url(this.#port);
  }

  pause(): void {
    this.#signal("SIGSTOP");
  }

  resume(): void {
    this.#signal("SIGCONT");
  }

  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#endWatchdog(true);
  }

  async restart(): Promise<void> {
    await this.#endWatchdog(true);
    const command = this.#recipe.command(join(this.#folder, "data"), this.#port);
    const words = ["-c", WATCHDOG, "watchdog", this.#folder, ...command];
    // In a group of its own, where no signal to the tests (Ctrl-C) ends it before it has ended the server.
    const watchdog = spawn("/bin/sh", words, { detached: true, ...this.#recipe.user });
    this.#watchdog = watchdog;
    watchdog.stdin.on("error", () => {
      // It is gone already, which is what closing its input is for.
    });
    const [line] = (await once(createInterface(watchdog.stdout), "line")) as [string];
    this.#pid = Number(line);
    await this.#untilReady();
  }

  async stop(): Promise<void> {
    await this.#endWatchdog(false);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #untilReady(): Promise<void> {
    const [file, ...words] = this.#recipe.probe(this.#port);
    const deadline = Date.now() + READY_MS;
    for (;;) {
      try {
        execFileSync(file, words, { stdio: "ignore", timeout: 5_000 });
        return;
      } catch {
        if (Date.now() > deadline)
          throw new Error(`${this.#recipe.name} did not start: ${readFileSync(join(this.#folder, "log"), "utf8")}`);
        await pause(20);
      }
    }
  }

  async #endWatchdog(keepsFolder: boolean): Promise<void> {
    const watchdog = this.#watchdog;
    this.#watchdog = null;
    if (watchdog === null || watchdog.exitCode !== null) return;
    const ended = once(watchdog, "exit");
    watchdog.stdin.end(keepsFolder ? "keep\n" : "");
    await ended;
  }

  /** A server may have processes of its own, each a group leader, so that no signal to a group reaches them all. */
  #signal(signal: NodeJS.Signals): void {
    const children = `/proc/${this.#pid}/task/${this.#pid}/children`;
    const pids = existsSync(children) ? readFileSync(children, "utf8").trim().split(" ") : [];
    for (const pid of [this.#pid, ...pids.filter((each) => each !== "").map(Number)]) sendSignal(pid, signal);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // A child that has just ended needs no signal.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
