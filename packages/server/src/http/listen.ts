// How a server begins to listen; the same for every front end.

import type { AddressInfo, Server } from "node:net";

/**
 * Listens; port 0 picks a free one. Rejects with Node's error when the address cannot be bound. Later errors are connections that
 * could not be accepted (accept(2): too many files, a firewall's rule): unheard they would end the process.
 */
export function listen(
  server: Server,
  address: { readonly host: string; readonly port: number },
  onAcceptError: (error: Error) => void,
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      server.on("error", onAcceptError);
      // Not a string or null: the server listens on a port.
      resolve(server.address() as AddressInfo);
    });
  });
}
