// Who is calling, as an embedding host says it: a fixed caller, or a function of the host's own request.

import type { Principal } from "@dragoman/core";
import { GatewayError } from "@dragoman/core";

/** A caller. Everything but the id has a default. */
export interface HostPrincipal {
  /** Names the caller in outcomes and limits; not empty. */
  readonly id: string;
  /** Whose account it is; default null, nobody's. */
  readonly owner?: string | null;
  readonly tags?: readonly string[];
  /** Globs over public model names; default `["*"]`, all. */
  readonly models?: readonly string[];
  /** Diagnostic headers, and deployment names in refusals; default false. */
  readonly debug?: boolean;
}

/** A caller, or null for nobody: the gateway then answers 401. */
export type HostPrincipalAnswer = HostPrincipal | null | undefined;

/**
 * A fixed caller, or a function that finds it in the host's request. With a source the keys of the configuration are not
 * consulted; a function that throws or rejects is a 500, never another caller.
 */
export type PrincipalSource<Request> =
  | HostPrincipal
  | ((request: Request) => HostPrincipalAnswer | Promise<HostPrincipalAnswer>);

/** Fills in the defaults. Throws `state_violation` when there is no usable id, so that no caller is ever nameless. */
export function completePrincipal(principal: HostPrincipal): Principal {
  const { id, owner = null, tags = [], models = ["*"], debug = false } = principal;
  if (typeof id !== "string" || id === "")
    throw new GatewayError("state_violation", "A principal needs an id that is a string and not empty.");
  return { id, owner, tags, models, debug };
}

/** Turns a source into a function of the request that answers at once where the source does; a fixed caller is checked here. */
export function identifyBy<Request>(
  source: PrincipalSource<Request>,
): (request: Request) => Principal | null | Promise<Principal | null> {
  if (typeof source !== "function") {
    const principal = completePrincipal(source);
    return () => principal;
  }
  return (request) => {
    const answer = source(request);
    return isPromise(answer) ? Promise.resolve(answer).then(orNobody) : orNobody(answer);
  };
}

function orNobody(answer: HostPrincipalAnswer): Principal | null {
  return answer === null || answer === undefined ? null : completePrincipal(answer);
}

function isPromise(answer: HostPrincipalAnswer | Promise<HostPrincipalAnswer>): answer is Promise<HostPrincipalAnswer> {
  return typeof answer === "object" && answer !== null && "then" in answer;
}
