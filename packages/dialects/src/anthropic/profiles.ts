/** Profiles of this dialect's upstreams as data: the vendor's own API, and what proxies of it do differently. */
import type { Profile } from "@dragoman/core";

/** Members of a profile. */
export interface AnthropicProfile {
  readonly name: string;
  /** A version that every request to this upstream is sent with, or null: the client's, or what the request needs. */
  readonly apiVersion: string | null;
  /** Takes a stream that ends after its stop reason, but without `message_stop`, as complete. */
  readonly lenientTerminal: boolean;
  /** Rewrites answers to the standard shape also for this dialect's clients. */
  readonly normalize: boolean;
}

const STANDARD: AnthropicProfile = { name: "anthropic", apiVersion: null, lenientTerminal: false, normalize: false };

/** The built-in profiles by name. */
const ANTHROPIC_PROFILES: Readonly<Record<string, AnthropicProfile>> = {
  anthropic: STANDARD,
  proxy: { ...STANDARD, name: "proxy", lenientTerminal: true },
};

type Compiled =
  | { readonly ok: true; readonly profile: Profile }
  | { readonly ok: false; readonly problems: readonly { readonly path: string; readonly message: string }[] };

const checkOverride = (member: string, value: unknown): string | null => {
  switch (member) {
    case "apiVersion":
      return value === null || (typeof value === "string" && value !== "") ? null : "expected a version or null";
    case "lenientTerminal":
    case "normalize":
      return typeof value === "boolean" ? null : "expected true or false";
    default:
      return "unknown member; apiVersion, lenientTerminal and normalize are known";
  }
};

/** Lays overrides over a built-in profile and checks them. */
export function compileProfile(name: string, overrides: Readonly<Record<string, unknown>>): Compiled {
  const base = Object.hasOwn(ANTHROPIC_PROFILES, name) ? ANTHROPIC_PROFILES[name] : undefined;
  if (base === undefined) {
    const known = Object.keys(ANTHROPIC_PROFILES).join(", ");
    return { ok: false, problems: [{ path: "", message: `unknown profile "${name}"; known are ${known}` }] };
  }
  const problems: { path: string; message: string }[] = [];
  for (const [member, value] of Object.entries(overrides)) {
    const problem = checkOverride(member, value);
    if (problem !== null) problems.push({ path: `/${member}`, message: problem });
  }
  return problems.length === 0 ? { ok: true, profile: { ...base, ...overrides } } : { ok: false, problems };
}

/** Reads a profile that `compileProfile` returned. */
export function profileOf(profile: Profile): AnthropicProfile {
  // Only compileProfile makes profiles for this dialect's encoders and decoders.
  return profile as unknown as AnthropicProfile;
}
