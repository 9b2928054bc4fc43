// The demo: a gateway in front of a scripted upstream, both on the loopback interface. It stays for visitors, or walks its own
// tour once. Whatever happens, both servers are closed before it returns.
import { createKey, hashKey } from "../keys/index.ts";
import { createNodeRandom } from "../ports/index.ts";
import { createScriptedUpstream } from "../scripted-upstream/index.ts";
import { serve } from "../serve.ts";
import { buildDemoConfig } from "./demo-config.ts";
import type { TextOutput } from "./text-layout.ts";
import { TOUR } from "./tour-steps.ts";
import { walkTour } from "./walk-tour.ts";
import { writeAddresses, writeCommands } from "./welcome.ts";
import type { DemoAddresses } from "./welcome.ts";

/** Options of `runDemo`. */
export interface DemoOptions {
  /** Port of the gateway; null takes 8080 to stay, and a free port for the tour. */
  readonly port: number | null;
  /** Walk the tour and return, instead of staying. */
  readonly once: boolean;
  readonly stdout: TextOutput;
  /** Ends a demo that stays; without it SIGINT and SIGTERM do. */
  readonly signal?: AbortSignal;
}

/** How long running exchanges may go on when the demo ends. */
const CLOSE_DEADLINE_MS = 1000;

/**
 * Runs the demo. Resolves with the exit code: 0 when every expectation of the tour held or when the visitor stopped the demo,
 * 1 when an expectation failed. Rejects when a port cannot be had.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const upstream = await createScriptedUpstream();
  try {
    const key = createKey(createNodeRandom());
    const gateway = await serve({
      config: buildDemoConfig({ upstreamUrl: upstream.url, keyHash: hashKey(key) }),
      host: "127.0.0.1",
      port: options.port ?? (options.once ? 0 : 8080),
    });
    try {
      const addresses: DemoAddresses = { gatewayUrl: gateway.url, upstreamUrl: upstream.url, key };
      writeAddresses(options.stdout, addresses);
      if (options.once) {
        const visit = { output: options.stdout, gatewayUrl: gateway.url, key, upstream };
        return (await walkTour(visit, TOUR)) ? 0 : 1;
      }
      writeCommands(options.stdout, addresses);
      await (options.signal === undefined ? waitForInterrupt() : waitForAbort(options.signal));
      return 0;
    } finally {
      await gateway.close(CLOSE_DEADLINE_MS);
    }
  } finally {
    await upstream.close();
  }
}

function waitForInterrupt(): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      process.off("SIGINT", finish);
      process.off("SIGTERM", finish);
      resolve();
    };
    process.on("SIGINT", finish);
    process.on("SIGTERM", finish);
  });
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
