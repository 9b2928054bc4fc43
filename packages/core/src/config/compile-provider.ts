/** Compiles `providers`: addresses, credentials and profiles, each checked against the provider's kind. */
import type { Profile, ProviderKind } from "../dialect/index.ts";
import type { DialectId } from "../ir/index.ts";
import { canonicalKey } from "./canonical-key.ts";
import { compileSecret } from "./compile-context.ts";
import type { CompileContext } from "./compile-context.ts";
import { Credential } from "./credential.ts";
import { freezeMap } from "./freeze.ts";
import type { ProviderConfig } from "./gateway-config.ts";
import { pointer } from "./problem.ts";
import type { CredentialHeader, Provider } from "./snapshot.ts";
import { suggest } from "./suggest.ts";
import { readBaseUrl } from "./upstream-origin.ts";

/** A provider and what its deployments take over from it. */
export interface CompiledProvider {
  readonly provider: Provider;
  /** Dialects of its kind that this gateway knows, best first, each with its compiled profile. */
  readonly profiles: ReadonlyMap<DialectId, Profile>;
  /** Equal for equal profiles: made of their source, since a compiled one may hold anything. */
  readonly profilesKey: string;
}

/** Fields that frame, route or negotiate a call; whoever sends the call writes them (RFC 9110 §7.6.1, RFC 9112 §6). */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** Compiles one provider; null when it has a problem, which the context's list then holds. */
export function compileProvider(context: CompileContext, id: string, config: ProviderConfig): CompiledProvider | null {
  const path = pointer("/providers", id);
  const kind = findKind(context, path, config.kind);
  if (kind === null) return null;
  const baseUrl = config.baseUrl ?? kind.baseUrl;
  const reading =
    baseUrl === undefined
      ? { ok: false as const, message: `the kind "${kind.id}" has no base URL of its own: baseUrl is required` }
      : readBaseUrl(baseUrl, kind.basePathSuffix);
  if (!reading.ok) context.list.add(baseUrl === undefined ? path : pointer(path, "baseUrl"), reading.message);
  const credentialHeader = compileCredentialHeader(context, path, config, kind);
  const credentials = compileCredentials(context, { path, id, config, kind, credentialHeader });
  const headers = compileHeaders(context, path, config, credentialHeader);
  const profiles = compileProfiles(context, path, config, kind);
  if (!reading.ok) return null;
  const provider: Provider = Object.freeze({
    id,
    kind,
    origin: Object.freeze(reading.origin),
    basePath: reading.basePath,
    credentialHeader,
    credentials,
    profileName: profiles.name,
    headers,
    options: config.options ?? Object.freeze({}),
  });
  return { provider, profiles: profiles.byDialect, profilesKey: profiles.key };
}

function findKind(context: CompileContext, path: string, id: string): ProviderKind | null {
  const kind = context.registry.kind(id);
  if (kind !== undefined) return kind;
  const known = context.registry.kinds.map((each) => each.id);
  const message = `unknown provider kind ${JSON.stringify(id)}; known: ${known.join(", ") || "none"}`;
  context.list.add(pointer(path, "kind"), message, suggest(id, known));
  return null;
}

function compileCredentialHeader(
  context: CompileContext,
  path: string,
  config: ProviderConfig,
  kind: ProviderKind,
): CredentialHeader {
  const { name, prefix = "" } = config.credentialHeader ?? kind.credentialHeader;
  const lowerName = name.toLowerCase();
  if (OWN_HEADERS.has(lowerName))
    context.list.add(pointer(path, "credentialHeader", "name"), `the gateway itself writes the header "${lowerName}"`);
  return Object.freeze({ name: lowerName, prefix });
}

interface CredentialSource {
  readonly path: string;
  readonly id: string;
  readonly config: ProviderConfig;
  readonly kind: ProviderKind;
  readonly credentialHeader: CredentialHeader;
}

function compileCredentials(context: CompileContext, source: CredentialSource): readonly Credential[] {
  const { path, id, config, kind, credentialHeader } = source;
  if (config.credentials === undefined) {
    if (!kind.isCredentialOptional) context.list.add(path, `the kind "${kind.id}" needs credentials`);
    return Object.freeze([new Credential(`${id}#0`, null, "")]);
  }
  const credentials = config.credentials.map((text, index) => {
    const at = pointer(path, "credentials", index);
    const secret = compileSecret(context, at, text);
    if (secret !== null && !/^[\x21-\x7e]+$/.test(secret))
      context.list.add(at, "the credential must be printable ASCII without white space, and not empty");
    return new Credential(`${id}#${index}`, secret, credentialHeader.prefix);
  });
  return Object.freeze(credentials);
}

function compileHeaders(
  context: CompileContext,
  path: string,
  config: ProviderConfig,
  credentialHeader: CredentialHeader,
): readonly string[] {
  const headers: string[] = [];
  const seen = new Set<string>();
  for (const [name, text] of Object.entries(config.headers ?? {})) {
    const at = pointer(path, "headers", name);
    const lowerName = name.toLowerCase();
    if (OWN_HEADERS.has(lowerName)) context.list.add(at, `the gateway itself writes the header "${lowerName}"`);
    else if (lowerName === credentialHeader.name)
      context.list.add(at, `the header "${lowerName}" carries the credential; use credentials`);
    else if (seen.has(lowerName)) context.list.add(at, `the header "${lowerName}" is there twice`);
    seen.add(lowerName);
    const value = compileSecret(context, at, text);
    if (value === null) continue;
    if (HEADER_VALUE.test(value)) headers.push(lowerName, value.trim());
    else context.list.add(at, "a header value must be printable ASCII");
  }
  return Object.freeze(headers);
}

interface CompiledProfiles {
  readonly name: string;
  readonly byDialect: ReadonlyMap<DialectId, Profile>;
  readonly key: string;
}

interface ProfileSource {
  /** Undefined = the kind's own profile. */
  readonly base: string | undefined;
  readonly overrides: Readonly<Record<string, unknown>>;
}

function readProfile(profile: ProviderConfig["profile"]): ProfileSource {
  if (typeof profile !== "object") return { base: profile, overrides: {} };
  const { extends: base, ...overrides } = profile;
  return { base, overrides };
}

/** The configured profile is that of the kind's first known dialect; the others keep the kind's own. */
function compileProfiles(
  context: CompileContext,
  path: string,
  config: ProviderConfig,
  kind: ProviderKind,
): CompiledProfiles {
  const byDialect = new Map<DialectId, Profile>();
  const sources: unknown[] = [];
  let firstName: string | null = null;
  for (const dialect of kind.dialects) {
    const provider = context.registry.provider(dialect);
    if (provider === undefined) continue;
    const { base, overrides } = readProfile(firstName === null ? config.profile : undefined);
    const name: string | undefined =
      base ?? (Object.hasOwn(kind.profiles, dialect) ? kind.profiles[dialect] : undefined);
    if (name === undefined) {
      context.list.add(path, `the kind "${kind.id}" has no profile for the dialect "${dialect}"`);
      continue;
    }
    firstName ??= name;
    sources.push([dialect, name, overrides]);
    const compiled = provider.compileProfile(name, overrides);
    if (compiled.ok) byDialect.set(dialect, Object.freeze(compiled.profile));
    else
      for (const problem of compiled.problems)
        context.list.add(pointer(path, "profile") + problem.path, problem.message);
  }
  if (firstName === null)
    context.list.add(pointer(path, "kind"), `this gateway knows none of the dialects of the kind "${kind.id}"`);
  return { name: firstName ?? "", byDialect: freezeMap(byDialect), key: canonicalKey(sources) };
}
