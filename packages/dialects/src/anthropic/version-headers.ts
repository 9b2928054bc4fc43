/** The two protocol headers of this dialect: `anthropic-version`, and `anthropic-beta` as a comma list that may repeat. */
import { findHeader, findHeaders, type HeaderList } from "@dragoman/core";

import { SAMPLING_API_VERSION } from "./members.ts";

/** The version a client speaks; absent counts as the long-lived first one. */
export function readApiVersion(headers: HeaderList): string {
  return findHeader(headers, "anthropic-version")?.trim() || SAMPLING_API_VERSION;
}

/** The betas a client asks for, in order, without repetition. */
export function readBetas(headers: HeaderList): readonly string[] {
  const betas = new Set<string>();
  for (const value of findHeaders(headers, "anthropic-beta")) {
    for (const beta of value.split(",")) if (beta.trim() !== "") betas.add(beta.trim());
  }
  return [...betas];
}

const matches = (beta: string, pattern: unknown): boolean =>
  typeof pattern === "string" && (pattern.endsWith("*") ? beta.startsWith(pattern.slice(0, -1)) : beta === pattern);

/** The betas that a deployment accepts: all, unless the option `betasAllow` lists names or prefixes with `*`. */
export function allowedBetas(betas: readonly string[], options: Readonly<Record<string, unknown>>): readonly string[] {
  const allow = options["betasAllow"];
  if (!Array.isArray(allow)) return betas;
  return betas.filter((beta) => allow.some((pattern) => matches(beta, pattern)));
}

/** Writes both headers for an upstream. */
export function versionHeaders(version: string, betas: readonly string[]): HeaderList {
  return betas.length === 0
    ? ["anthropic-version", version]
    : ["anthropic-version", version, "anthropic-beta", betas.join(",")];
}
