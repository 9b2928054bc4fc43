// A PostgreSQL server for tests: the one that DRAGOMAN_TEST_POSTGRES_URL names, else one of this machine's own binaries, else none.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { ServiceRecipe } from "./service-process.ts";
import { useService, type Available } from "./use-service.ts";

const ROOTS = ["/usr/lib/postgresql", "/opt/homebrew/opt"];

/** A server shared by all tests of a file, or null and one line that says why. Tests keep to a schema of their own. */
export async function usePostgres(): Promise<Available | null> {
  return useService({ name: "postgres", url: process.env["DRAGOMAN_TEST_POSTGRES_URL"], recipe: postgresRecipe() });
}

/** How to start a server of this machine's binaries. A string says why that cannot be. */
export function postgresRecipe(): ServiceRecipe | string {
  const binaries = findBinaries();
  if (binaries === null) return "no initdb on this machine";
  const user = serverUser();
  return typeof user === "string" ? user : recipe(binaries, user);
}

function recipe(binaries: string, user: ServiceRecipe["user"]): ServiceRecipe {
  return {
    name: "postgres",
    user,
    prepare: (data) => {
      const words = ["-D", data, "-U", "gw", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"];
      execFileSync(join(binaries, "initdb"), words, { stdio: "ignore", cwd: "/", ...user });
    },
    // What was committed survives the death of the server, not of the machine: enough for tests, and fast.
    command: (data, port) => {
      const words = ["-D", data, "-h", "127.0.0.1", "-p", String(port), "-k", data];
      const settings = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200"];
      return [join(binaries, "postgres"), ...words, ...settings];
    },
    probe: (port) => [join(binaries, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", String(port)],
    url: (port) => `postgres://gw@127.0.0.1:${port}/postgres`,
  };
}

/** The newest version's folder of binaries. */
function findBinaries(): string | null {
  const folders = ROOTS.filter((root) => existsSync(root)).flatMap((root) =>
    readdirSync(root).map((version) => join(root, version, "bin")),
  );
  const found = folders.filter((folder) => existsSync(join(folder, "initdb")));
  const version = (folder: string): number => Number(/(\d+)/.exec(folder)?.[1] ?? 0);
  return found.toSorted((one, other) => version(other) - version(one))[0] ?? null;
}

/** PostgreSQL refuses to run as root. */
function serverUser(): ServiceRecipe["user"] | string {
  if (process.getuid?.() !== 0) return null;
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  return line === null ? "root has no user postgres to run it as" : { uid: Number(line[1]), gid: Number(line[2]) };
}
