/** Opens what counts limits for several processes, where a configuration asks for it. The client is loaded only then. */
import type { Redis } from "ioredis";

import { GatewayError, type Clock, type CounterSettings, type Logger, type Random } from "@dragoman/core";
import { LeaseHolder } from "@dragoman/ledger";

/** Counters that were opened. */
export interface OpenCounters {
  readonly leases: LeaseHolder;
  /** Tells what was spent, gives the rest back, and lets the server go. After the last exchange. */
  close(): Promise<void>;
}

/** What a client may need to be told. */
export interface CounterPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const HOLDER_LENGTH = 16;
const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_RECONNECT_MS = 2_000;
const RECONNECT_STEP_MS = 100;

/** Null = limits are counted in this process. A server that is out of reach is no reason to fail: `onDown` says what that means. */
export async function openCounters(settings: CounterSettings, ports: CounterPorts): Promise<OpenCounters | null> {
  if (settings.kind === "local") return null;
  const { text } = settings.url;
  if (text === null) throw new GatewayError("config_invalid", "The URL of the counters was not resolved.");
  const { createValkeyCounters } = await import("@dragoman/ledger/valkey");
  const { Redis: Client } = await loadClient();
  const client = new Client(text, {
    // A command fails at once while there is no connection: the holder of leases knows what to do then.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    lazyConnect: true,
    retryStrategy: (times) => Math.min(times * RECONNECT_STEP_MS, LONGEST_RECONNECT_MS),
  });
  // Without a listener an error would end the process. The holder of leases says, once, that the server is out of reach.
  client.on("error", () => undefined);
  // The first calls are counted together with the others' if the server is there at all; trying again is the client's business.
  await client.connect().catch(() => undefined);
  const leases = new LeaseHolder({
    source: createValkeyCounters({ client, holder: ports.random.id(HOLDER_LENGTH), prefix: settings.prefix }),
    clock: ports.clock,
    onDown: settings.onDown,
    waitMs: settings.timeoutMs,
    logger: ports.logger,
  });
  return {
    leases,
    close: async () => {
      await leases.close();
      client.disconnect();
    },
  };
}

async function loadClient(): Promise<{ readonly Redis: typeof Redis }> {
  try {
    return await import("ioredis");
  } catch (error) {
    throw new GatewayError(
      "config_invalid",
      "Counters in Valkey or Redis need the package `ioredis`: npm install ioredis",
      {
        cause: error,
      },
    );
  }
}
