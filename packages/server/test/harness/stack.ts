// A whole stack for tests: a scripted upstream and a gateway in front of it, in this process or as the built server.
import type { CreateGatewayOptions, Gateway } from "../../src/create-gateway.ts";
import { createScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import { serve } from "../../src/serve.ts";
import { startBuiltServer } from "./built-server.ts";
import { buildStackConfig, STACK_KEY } from "./stack-config.ts";
import type { StackConfigOptions } from "./stack-config.ts";

/** A running stack. */
export interface Stack {
  /** Base URL of the gateway. */
  readonly url: string;
  /** A client key for every model. */
  readonly key: string;
  readonly upstream: ScriptedUpstream;
  /** Ends everything. Rejects when a script threw or the gateway did not end cleanly. */
  close(): Promise<void>;
}

/** A stack whose gateway runs in this process. */
export interface InProcessStack extends Stack {
  readonly gateway: Gateway;
  /** Ends the gateway alone, while the upstream goes on; its exchanges may go on for `deadlineMs`. May be called again. */
  closeGateway(deadlineMs?: number): Promise<void>;
}

/** How long an in-process gateway's exchanges may go on when the stack ends. */
const CLOSE_DEADLINE_MS = 1_000;

/** Starts a stack whose gateway runs in this process. */
export async function startStack(
  options: StackConfigOptions = {},
  gatewayOptions: CreateGatewayOptions = {},
): Promise<InProcessStack> {
  const upstream = await createScriptedUpstream();
  try {
    const running = await serve({ config: buildStackConfig(upstream.url, options), gatewayOptions });
    return {
      url: running.url,
      key: STACK_KEY,
      upstream,
      gateway: running.gateway,
      closeGateway: (deadlineMs = CLOSE_DEADLINE_MS) => running.close(deadlineMs),
      close: () => endBoth(upstream, () => running.close(CLOSE_DEADLINE_MS)),
    };
  } catch (error) {
    await upstream.close();
    throw error;
  }
}

/** Starts a stack whose gateway is the built server; the packages have to be built before. */
export async function startBuiltStack(options: StackConfigOptions = {}): Promise<Stack> {
  const upstream = await createScriptedUpstream();
  try {
    const server = await startBuiltServer(buildStackConfig(upstream.url, options));
    return { url: server.url, key: STACK_KEY, upstream, close: () => endBoth(upstream, () => server.close()) };
  } catch (error) {
    await upstream.close();
    throw error;
  }
}

/** The upstream goes first: its stalled answers would keep exchanges of the gateway alive. */
async function endBoth(upstream: ScriptedUpstream, closeGateway: () => Promise<void>): Promise<void> {
  try {
    await upstream.close();
  } finally {
    await closeGateway();
  }
}
