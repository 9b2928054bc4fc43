// What the shared table asks of a front end: a gateway mounted in a host of its kind, and a `fetch` that reaches it.
import { createGateway } from "../../src/create-gateway.ts";
import type { Gateway } from "../../src/create-gateway.ts";
import type { HostPrincipalAnswer } from "../../src/embedding/index.ts";
import { createScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import type { ScriptedUpstream } from "../../src/scripted-upstream/index.ts";
import { buildStackConfig } from "../harness/stack-config.ts";

/** The header in which the hosts of the tests find their sessions. */
export const SESSION_HEADER = "x-session";

/** Who a session of the tests belongs to; `broken` makes the host's function fail. */
export function findSession(session: string | null | undefined): HostPrincipalAnswer {
  if (session === "broken") throw new Error("the session store is down");
  if (session === "of-ada") return { id: "ada", owner: "team" };
  return session === "of-guest" ? { id: "guest", models: ["messages/*"] } : null;
}

/** How the host says who is calling: not at all, at once, or later. */
export type Identification = "keys" | "at-once" | "later";

/** A gateway in a host. */
export interface Mounted {
  /** Where the gateway's routes begin, as a URL without a slash at its end. */
  readonly baseUrl: string;
  /** Where the host's own routes begin; null for hosts without any. */
  readonly hostUrl: string | null;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  close(): Promise<void>;
}

/** One row of front ends. */
export interface FrontEnd {
  readonly name: string;
  /** Whether the host has routes of its own, at `/other` and `/echo`. */
  readonly hasOtherRoutes: boolean;
  /** Whether callers are told apart by the request; in process the caller is fixed. */
  readonly identifies: boolean;
  mount(gateway: Gateway, identification: Identification): Promise<Mounted>;
}

/** A mounted gateway over a scripted upstream. */
export interface MountedStack extends Mounted {
  readonly gateway: Gateway;
  readonly upstream: ScriptedUpstream;
  /** Principals of the exchanges that ended. */
  readonly principals: readonly (string | null)[];
}

/** Starts upstream, gateway and host. */
export async function startMounted(frontEnd: FrontEnd, identification: Identification): Promise<MountedStack> {
  const upstream = await createScriptedUpstream();
  const gateway = await createGateway(buildStackConfig(upstream.url));
  const principals: (string | null)[] = [];
  gateway.events.on("outcome", ({ principalId }) => principals.push(principalId));
  const mounted = await frontEnd.mount(gateway, identification);
  return {
    ...mounted,
    gateway,
    upstream,
    principals,
    close: async () => {
      await upstream.close();
      await mounted.close();
      await gateway.close();
      if (gateway.hasFailedTask) throw new Error("A task of the gateway failed.");
    },
  };
}
