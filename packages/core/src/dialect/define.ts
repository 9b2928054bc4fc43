/**
 * Defines dialects: an author writes the doors that only he can write, the rest is completed with safe defaults. What comes out
 * satisfies the whole contract, is frozen, and calls the author's doors on his own object.
 */
import { GatewayError } from "../errors/index.ts";
import type { Operation } from "../ir/index.ts";
import type { ClientDialect, ClientRoute } from "./client-dialect.ts";
import {
  claimsOwnRoutes,
  encodeUsualRateLimits,
  estimateFromBytes,
  KEEP_ALIVE_COMMENT,
  readUsualCredential,
} from "./client-defaults.ts";
import { checkRoutes, checkShape, checkWords, DefinitionProblems, type DefinitionShape } from "./definition-checks.ts";
import { DerivedObserver } from "./derived-observer.ts";
import { compileFromTable, NO_PROFILES, type ProfileTable } from "./profile-table.ts";
import type { ProviderDialect } from "./provider-dialect.ts";

/** Doors that every provider dialect needs. */
export type ProviderDoors = "encodeRequest" | "decodeResponse" | "createStreamDecoder" | "classifyError";
/** What may be left out. */
export type ProviderOptions =
  | "framing"
  | "signatureOrigins"
  | "normalizesAnswers"
  | "forwardRequest"
  | "observeResponse"
  | "readUsage"
  | "createStreamObserver";

/** Profiles are a table or a function that compiles them, not both. */
export type ProfileDoor =
  | { readonly profiles?: ProfileTable; readonly compileProfile?: never }
  | { readonly profiles?: never; readonly compileProfile: ProviderDialect["compileProfile"] };

/** Counting tokens: who has the operation writes the door, nobody else does. */
export type CountDoor<Operations extends readonly Operation[]> = "count-tokens" extends Operations[number]
  ? Pick<ProviderDialect, "decodeTokenCount">
  : { readonly decodeTokenCount?: never };

/**
 * What the author of a provider dialect writes. Left out are: `operations` (`["generate"]`), `framing` (`"sse"`), `signatureOrigins`
 * (none), profiles (one, `default`, without members), `normalizesAnswers` (true), `forwardRequest` (refuses), `observeResponse` and
 * `readUsage` (by `decodeResponse`), `createStreamObserver` (by `createStreamDecoder`). Who counts tokens writes `decodeTokenCount`.
 */
export type ProviderDialectDefinition<Operations extends readonly Operation[] = readonly ["generate"]> = Pick<
  ProviderDialect,
  "id" | ProviderDoors
> &
  Partial<Pick<ProviderDialect, ProviderOptions>> & { readonly operations?: Operations } & ProfileDoor &
  CountDoor<Operations>;

/** All that a definition can say, for reading it. */
type ProviderParts = Pick<ProviderDialect, "id" | ProviderDoors> &
  Partial<ProviderDialect> & { readonly profiles?: ProfileTable };

const PROVIDER_SHAPE: DefinitionShape = {
  required: ["encodeRequest", "decodeResponse", "createStreamDecoder", "classifyError"],
  optional: [
    "compileProfile",
    "normalizesAnswers",
    "forwardRequest",
    "observeResponse",
    "readUsage",
    "createStreamObserver",
    "decodeTokenCount",
  ],
  values: ["id", "operations", "framing", "signatureOrigins", "profiles"],
};

/**
 * Completes a provider dialect. Give it to `createGateway` in `dialects`, and name it in a provider kind.
 *
 * @throws {@link GatewayError} `state_violation` with everything that is wrong with the definition.
 */
export function defineProviderDialect<const Operations extends readonly Operation[] = readonly ["generate"]>(
  definition: ProviderDialectDefinition<Operations>,
): ProviderDialect {
  checkProvider(definition);
  // The type of the parameter is narrower only in which members exclude or require each other.
  const parts = definition as ProviderParts;
  const { id } = parts;
  return Object.freeze<ProviderDialect>({
    id,
    operations: Object.freeze([...(parts.operations ?? ["generate"])]),
    framing: parts.framing ?? "sse",
    signatureOrigins: Object.freeze([...(parts.signatureOrigins ?? [])]),
    compileProfile: parts.compileProfile?.bind(parts) ?? compileFromTable(parts.profiles ?? NO_PROFILES),
    normalizesAnswers: (profile) => parts.normalizesAnswers?.(profile) ?? true,
    forwardRequest: (...request) =>
      parts.forwardRequest?.(...request) ?? {
        ok: false,
        issues: [
          {
            code: "capability_missing",
            path: "",
            severity: "reject",
            detail: `The dialect ${id} forwards no requests.`,
          },
        ],
      },
    encodeRequest: (request, target) => parts.encodeRequest(request, target),
    decodeResponse: (document, context) => parts.decodeResponse(document, context),
    observeResponse: (document, context) => {
      if (parts.observeResponse !== undefined) return parts.observeResponse(document, context);
      const decoded = parts.decodeResponse(document, context);
      if (!decoded.ok) return decoded;
      const { usage, candidates } = decoded.response;
      return { ok: true, usage: usage ?? null, stopWord: candidates[0]?.stop.raw ?? null };
    },
    readUsage: (document, context) => {
      if (parts.readUsage !== undefined) return parts.readUsage(document, context);
      const decoded = parts.decodeResponse(document, context);
      return decoded.ok ? (decoded.response.usage ?? null) : null;
    },
    decodeTokenCount: (document) =>
      parts.decodeTokenCount?.(document) ?? {
        ok: false,
        error: {
          class: "protocol",
          origin: "upstream",
          message: `The dialect ${id} counts no tokens.`,
          retrySame: false,
          fallback: true,
        },
      },
    createStreamDecoder: (context, emit) => parts.createStreamDecoder(context, emit),
    createStreamObserver: (context, head) =>
      parts.createStreamObserver?.(context, head) ??
      new DerivedObserver((emit) => parts.createStreamDecoder(context, emit)),
    classifyError: (answer, context) => parts.classifyError(answer, context),
  });
}

function checkProvider(definition: object): void {
  const problems = new DefinitionProblems("provider dialect");
  if (checkShape(definition, PROVIDER_SHAPE, problems)) {
    const { operations, framing, signatureOrigins, profiles, compileProfile, decodeTokenCount } = definition;
    checkWords("operations", operations, ["generate", "count-tokens", "embed"], problems);
    if (framing !== undefined && framing !== "sse" && framing !== "ndjson")
      problems.add('framing must be "sse" or "ndjson"');
    const areOrigins =
      Array.isArray(signatureOrigins) && signatureOrigins.every((origin) => typeof origin === "string");
    if (signatureOrigins !== undefined && !areOrigins) problems.add("signatureOrigins must be a list of texts");
    if (profiles !== undefined && compileProfile !== undefined)
      problems.add("profiles and compileProfile exclude each other");
    const hasProfiles = typeof profiles === "object" && profiles !== null && Object.keys(profiles).length > 0;
    if (profiles !== undefined && !hasProfiles) problems.add("profiles must be an object with at least one profile");
    const counts = Array.isArray(operations) && operations.includes("count-tokens");
    if (counts !== (decodeTokenCount !== undefined))
      problems.add('decodeTokenCount and the operation "count-tokens" belong together');
  }
  problems.check("id" in definition ? definition.id : undefined);
}

/** Doors that every client dialect needs. */
export type ClientDoors =
  | "id"
  | "readHead"
  | "decodeRequest"
  | "encodeResponse"
  | "createStreamEncoder"
  | "encodeError"
  | "encodeStreamError";
/** What may be left out. */
export type ClientOptions =
  | "claims"
  | "readCredential"
  | "checkHeaders"
  | "estimateInputTokens"
  | "encodeRateLimits"
  | "identify"
  | "streamTerminator";

/** Streams are event streams unless the author says how they are called and kept alive. */
export type StreamDoor =
  | { readonly streamContentType?: never; readonly keepAlive?: Uint8Array }
  | { readonly streamContentType: string; readonly keepAlive: Uint8Array };

/** Doors that a route of this operation or kind makes necessary. */
export type Serves<
  Routes extends readonly ClientRoute[],
  Wanted,
  Doors extends keyof ClientDialect,
> = Wanted extends Routes[number]["operation"] ? Pick<ClientDialect, Doors> : { readonly [Door in Doors]?: never };

/**
 * What the author of a client dialect writes. Left out are: `claims` (its own routes' paths), `readCredential` (`authorization: Bearer`
 * or `x-api-key`), `checkHeaders` (accepts all), `estimateInputTokens` (by bytes), `encodeRateLimits` (`x-ratelimit-…` in seconds),
 * `identify` (`x-request-id`), `streamContentType` and `keepAlive` (those of event streams). A route for token counts, the model list or one model asks for the door that answers it.
 */
export type ClientDialectDefinition<
  Facts = unknown,
  Routes extends readonly ClientRoute[] = readonly ClientRoute[],
> = Pick<ClientDialect<Facts>, ClientDoors> &
  Partial<Pick<ClientDialect<Facts>, ClientOptions>> & { readonly routes: Routes } & StreamDoor &
  Serves<Routes, "count-tokens", "encodeTokenCount"> &
  Serves<Routes, "list-models", "encodeModelList"> &
  Serves<Routes, "get-model", "encodeModel">;

type ClientParts<Facts> = Pick<ClientDialect<Facts>, ClientDoors | "routes"> & Partial<ClientDialect<Facts>>;

const CLIENT_SHAPE: DefinitionShape = {
  required: ["readHead", "decodeRequest", "encodeResponse", "createStreamEncoder", "encodeError", "encodeStreamError"],
  optional: [
    "claims",
    "readCredential",
    "checkHeaders",
    "estimateInputTokens",
    "encodeRateLimits",
    "identify",
    "encodeTokenCount",
    "encodeModelList",
    "encodeModel",
  ],
  values: ["id", "routes", "streamContentType", "keepAlive", "streamTerminator"],
};

/**
 * Completes a client dialect. `Facts` is what `readHead` keeps of a request for writing its answer; it is inferred where `readHead`
 * stands before the doors that read it.
 *
 * @throws {@link GatewayError} `state_violation` with everything that is wrong with the definition.
 */
export function defineClientDialect<Facts, const Routes extends readonly ClientRoute[]>(
  definition: ClientDialectDefinition<Facts, Routes>,
): ClientDialect<Facts> {
  checkClient(definition);
  // The type of the parameter is narrower only in which members exclude or require each other.
  const parts = definition as unknown as ClientParts<Facts>;
  const routes: readonly ClientRoute[] = Object.freeze(parts.routes.map((route) => Object.freeze({ ...route })));
  const claimsOwn = claimsOwnRoutes(routes);
  const unreachable = (door: string): never => {
    throw new GatewayError("state_violation", `The client dialect "${parts.id}" has no route that needs ${door}.`);
  };
  return Object.freeze<ClientDialect<Facts>>({
    id: parts.id,
    routes,
    claims: (path, headers) => parts.claims?.(path, headers) ?? claimsOwn(path),
    readCredential: (headers, query) => parts.readCredential?.(headers, query) ?? readUsualCredential(headers),
    checkHeaders: (headers) => parts.checkHeaders?.(headers) ?? null,
    readHead: (document, route) => parts.readHead(document, route),
    decodeRequest: (document, head, route, headers) => parts.decodeRequest(document, head, route, headers),
    estimateInputTokens: (document) => parts.estimateInputTokens?.(document) ?? estimateFromBytes(document),
    encodeResponse: (response, context) => parts.encodeResponse(response, context),
    createStreamEncoder: (context, write) => parts.createStreamEncoder(context, write),
    encodeError: (error, context) => parts.encodeError(error, context),
    encodeStreamError: (error, context) => parts.encodeStreamError(error, context),
    encodeTokenCount: (count) => parts.encodeTokenCount?.(count) ?? unreachable("encodeTokenCount"),
    encodeModelList: (models, query) => parts.encodeModelList?.(models, query) ?? unreachable("encodeModelList"),
    encodeModel: (model) => parts.encodeModel?.(model) ?? unreachable("encodeModel"),
    encodeRateLimits: (standings, nowMs) =>
      parts.encodeRateLimits?.(standings, nowMs) ?? encodeUsualRateLimits(standings, nowMs),
    identify: (requestId) => parts.identify?.(requestId) ?? ["x-request-id", requestId],
    streamContentType: parts.streamContentType ?? "text/event-stream",
    keepAlive: parts.keepAlive ?? KEEP_ALIVE_COMMENT,
    ...(parts.streamTerminator === undefined ? {} : { streamTerminator: parts.streamTerminator }),
  });
}

const ROUTE_DOORS = [
  ["count-tokens", "encodeTokenCount"],
  ["list-models", "encodeModelList"],
  ["get-model", "encodeModel"],
] as const;

function checkClient(definition: object): void {
  const problems = new DefinitionProblems("client dialect");
  if (checkShape(definition, CLIENT_SHAPE, problems)) {
    const { routes, streamContentType, keepAlive, streamTerminator } = definition;
    checkRoutes(routes, problems);
    const served = Array.isArray(routes)
      ? routes.map((route) => (route as Partial<ClientRoute> | null)?.operation)
      : [];
    for (const [operation, door] of ROUTE_DOORS)
      if (served.includes(operation) !== (definition[door] !== undefined))
        problems.add(`${door} and a route for "${operation}" belong together`);
    if (streamContentType !== undefined && typeof streamContentType !== "string")
      problems.add("streamContentType must be a text");
    if (streamContentType !== undefined && keepAlive === undefined)
      problems.add("keepAlive is missing: a comment of event streams is none in another content type");
    for (const [name, bytes] of [["keepAlive", keepAlive] as const, ["streamTerminator", streamTerminator] as const])
      if (bytes !== undefined && !(bytes instanceof Uint8Array)) problems.add(`${name} must be bytes`);
  }
  problems.check("id" in definition ? definition.id : undefined);
}
