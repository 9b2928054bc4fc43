/** The dialects and provider kinds of one gateway, and the route table made of them. Immutable after construction. */
import { GatewayError } from "../errors/index.ts";
import type { DialectId } from "../ir/index.ts";
import type { ClientDialect, ClientRoute, RouteMatch } from "./client-dialect.ts";
import type { HeaderList } from "./header-list.ts";
import type { ProviderDialect } from "./provider-dialect.ts";
import type { ProviderKind } from "./provider-kind.ts";

/** What a dialect package registers. */
export interface DialectRegistration {
  readonly client?: ClientDialect;
  readonly provider?: ProviderDialect;
}

/** Outcome of matching a request line. */
export type RouteResult =
  | { readonly found: true; readonly client: ClientDialect; readonly match: RouteMatch }
  | { readonly found: false; readonly client: ClientDialect; readonly allow: string | null };

interface CompiledRoute {
  readonly client: ClientDialect;
  readonly route: ClientRoute;
  readonly pattern: RegExp | null;
}

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** The pattern of a path with captures, or null for one without. */
export const compilePattern = (path: string): RegExp | null => {
  if (!path.includes("{")) return null;
  const source = path
    .split(/(\{[a-zA-Z]+\})/)
    .map((piece) => (piece.startsWith("{") ? `(?<${piece.slice(1, -1)}>[^?]+)` : escapePattern(piece)))
    .join("");
  return new RegExp(`^${source}$`);
};

/** Holds every registered dialect and kind. Ids are unique; a duplicate is a `state_violation`. */
export class DialectRegistry {
  readonly clients: readonly ClientDialect[];
  readonly #providers: ReadonlyMap<DialectId, ProviderDialect>;
  readonly #kinds: ReadonlyMap<string, ProviderKind>;
  readonly #exact = new Map<string, CompiledRoute[]>();
  readonly #patterns: CompiledRoute[] = [];

  constructor(dialects: readonly DialectRegistration[], kinds: readonly ProviderKind[]) {
    const clients: ClientDialect[] = [];
    const providers = new Map<DialectId, ProviderDialect>();
    for (const { client, provider } of dialects) {
      if (client !== undefined) {
        if (clients.some((known) => known.id === client.id)) throw duplicate("client dialect", client.id);
        clients.push(client);
        for (const route of client.routes) this.#addRoute(client, route);
      }
      if (provider !== undefined) {
        if (providers.has(provider.id)) throw duplicate("provider dialect", provider.id);
        providers.set(provider.id, provider);
      }
    }
    if (clients.length === 0) throw new GatewayError("state_violation", "A gateway needs at least one client dialect.");
    const kindMap = new Map<string, ProviderKind>();
    for (const kind of kinds) {
      if (kindMap.has(kind.id)) throw duplicate("provider kind", kind.id);
      kindMap.set(kind.id, kind);
    }
    this.clients = clients;
    this.#providers = providers;
    this.#kinds = kindMap;
  }

  provider(id: DialectId): ProviderDialect | undefined {
    return this.#providers.get(id);
  }

  kind(id: string): ProviderKind | undefined {
    return this.#kinds.get(id);
  }

  get kinds(): readonly ProviderKind[] {
    return [...this.#kinds.values()];
  }

  get providers(): readonly ProviderDialect[] {
    return [...this.#providers.values()];
  }

  client(id: DialectId): ClientDialect | undefined {
    return this.clients.find((client) => client.id === id);
  }

  /**
   * Matches a raw request target. The path is compared as it came: nothing is decoded or normalised. A route that several
   * dialects share goes to the one that claims the request by its headers, else to the first registered.
   */
  route(method: string, path: string, query: string, headers: HeaderList): RouteResult {
    const candidates = this.#exact.get(path) ?? this.#patternMatches(path);
    const sameMethod = candidates.filter((candidate) => candidate.route.method === method);
    const chosen =
      sameMethod.length < 2
        ? sameMethod[0]
        : (sameMethod.find((candidate) => candidate.client.claims(path, headers)) ?? sameMethod[0]);
    if (chosen !== undefined) {
      const captures = chosen.pattern?.exec(path)?.groups ?? {};
      return {
        found: true,
        client: chosen.client,
        match: { operation: chosen.route.operation, path, query, captures },
      };
    }
    const owner = candidates[0]?.client ?? this.claimant(path, headers);
    const allow =
      candidates.length === 0 ? null : [...new Set(candidates.map((candidate) => candidate.route.method))].join(", ");
    return { found: false, client: owner, allow };
  }

  /** The dialect in whose envelope a request to no route is answered. */
  claimant(path: string, headers: HeaderList): ClientDialect {
    return this.clients.find((client) => client.claims(path, headers)) ?? (this.clients[0] as ClientDialect);
  }

  #addRoute(client: ClientDialect, route: ClientRoute): void {
    const pattern = compilePattern(route.path);
    const compiled: CompiledRoute = { client, route, pattern };
    if (pattern !== null) this.#patterns.push(compiled);
    else {
      const same = this.#exact.get(route.path);
      if (same === undefined) this.#exact.set(route.path, [compiled]);
      else same.push(compiled);
    }
  }

  #patternMatches(path: string): readonly CompiledRoute[] {
    return this.#patterns.filter((compiled) => compiled.pattern?.test(path) === true);
  }
}

const duplicate = (what: string, id: string): GatewayError =>
  new GatewayError("state_violation", `The ${what} "${id}" is registered twice; ids are unique within a gateway.`);
