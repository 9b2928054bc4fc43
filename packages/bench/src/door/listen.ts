// Listening that can fail.
import type { ListenOptions, Server } from "node:net";

/** Resolves when the server listens; rejects with the system's error, for example when the port is taken. */
export function listen(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, resolve);
  });
}
