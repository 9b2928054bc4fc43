// A Valkey or Redis server for tests: the one that DRAGOMAN_TEST_VALKEY_URL names, else one of this machine's own binaries, else none.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import type { ServiceRecipe } from "./service-process.ts";
import { useService, type Available } from "./use-service.ts";

/** A server shared by all tests of a file, or null and one line that says why. Tests keep to key names of their own. */
export async function useValkey(): Promise<Available | null> {
  return useService({ name: "valkey", url: process.env["DRAGOMAN_TEST_VALKEY_URL"], recipe: valkeyRecipe() });
}

/** How to start a server of this machine's binaries; it forgets everything when it ends. A string says why that cannot be. */
export function valkeyRecipe(): ServiceRecipe | string {
  const server = findOnPath("valkey-server") ?? findOnPath("redis-server");
  const client = findOnPath("valkey-cli") ?? findOnPath("redis-cli");
  if (server === null || client === null) return "neither valkey-server nor redis-server on this machine";
  return {
    name: "valkey",
    user: null,
    prepare: () => {},
    command: (data, port) => {
      const words = ["--bind", "127.0.0.1", "--port", String(port), "--dir", data, "--save", "", "--appendonly", "no"];
      return [server, ...words];
    },
    // Without -e, an error that the server answers would count as an answer.
    probe: (port) => [client, "-e", "-h", "127.0.0.1", "-p", String(port), "ping"],
    url: (port) => `redis://127.0.0.1:${port}`,
  };
}

function findOnPath(name: string): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null;
}
