// Where a gateway's routes begin in the host's paths.

import { GatewayError } from "@dragoman/core";

/** Checks a base path once, at mounting; a slash at its end means nothing. Throws `state_violation` for what is no path. */
export function readBasePath(basePath: string): string {
  const trimmed = basePath.endsWith("/") ? basePath.slice(0, -1) : basePath;
  if (trimmed !== "" && !/^(?:\/[^/?#*:]+)+$/.test(trimmed))
    throw new GatewayError(
      "state_violation",
      `The base path must be like "/llm", without a pattern, parameter or query.`,
    );
  return trimmed;
}

/** The target below the base path, `/` where it is the base path itself; null when it is not below it. */
export function stripBasePath(target: string, basePath: string): string | null {
  if (basePath === "") return target;
  if (!target.startsWith(basePath)) return null;
  const rest = target.slice(basePath.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : null;
}
