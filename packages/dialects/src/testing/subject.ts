// What the laws must be told about a dialect: its halves, where its requests and streams come from, and what only its author can know.
import type {
  Capabilities,
  ClientDialect,
  ErrorClass,
  NeutralRequest,
  Profile,
  ProviderDialect,
  RouteMatch,
} from "@dragoman/core";
import type { Arbitrary } from "fast-check";

import type { JsonObject, JsonValue } from "./spelled-json.ts";

/** An upstream stream in the form a vendor sends it. */
export interface SampleStream {
  /** The whole stream, framed. */
  readonly text: string;
  /** The JSON text of a complete answer that says the same, or null where the vendor has none. */
  readonly whole: string | null;
}

/** A member that may vanish without a trace, and why: e.g. a value that its dialect defines as the default. */
export interface NeutralMember {
  /** Matches JSON Pointers. */
  readonly pointer: RegExp;
  readonly reason: string;
  /** Whether it is neutral toward its own dialect, too. */
  readonly isNeutralAtHome: boolean;
  /** Only where this adaptation was declared for the request. */
  readonly underCode?: string;
}

/** The status and type that clients must see for a class of errors. */
export interface ExpectedError {
  readonly status: number;
  readonly type: string;
  readonly code?: string;
}

/** What every subject tells about the provider half: a deployment, and the answers that upstreams send. */
export interface AnswerSubject {
  readonly provider: ProviderDialect;
  /** A provider kind of this dialect. */
  readonly kind: string;
  /** A profile that `compileProfile` returned. */
  readonly profile: Profile;
  /** A deployment that can do everything that this dialect can say. */
  readonly capabilities: Capabilities;

  /** Upstream streams, standard and odd but legal. Every candidate must show itself before another one stops. */
  readonly streams: Arbitrary<SampleStream>;
  /** Objects that `readUsage` reads, with contradictory counts too, but not all zero: those count nothing. */
  readonly usages: Arbitrary<JsonObject>;
  /** Whether an answer keeps the order of its parts; otherwise each kind is compared by itself. */
  readonly ordersParts: boolean;
  /** How many candidates one answer can hold. */
  readonly maxCandidates: number;
  /** Whether a refusal has a place of its own; otherwise it is text. */
  readonly hasRefusals: boolean;
  /** Whether the stop word tells a stop sequence from an ordinary end. */
  readonly namesStopSequences: boolean;
  /** Which components of usage the dialect has. */
  readonly usageMembers: readonly ("cacheRead" | "cacheWrite" | "reasoning")[];
}

/** An error answer of an upstream, and what it means. */
export interface SampleErrorAnswer {
  readonly status: number;
  readonly body: string;
  readonly class: ErrorClass;
}

/** A provider half that has no client half: other dialects' clients are served by it. */
export interface ProviderSubject extends AnswerSubject {
  /**
   * What an upstream understands when it reads an encoded body. Write it from the vendor's reference, not from your encoder: it is
   * what the encoder is held against. Places (`at`) and references do not matter, so JSON.parse will do.
   */
  readRequest(body: Uint8Array): NeutralRequest;
  /** Members of other dialects that mean nothing to an upstream of this one, by their place in the client's body. */
  readonly neutralMembers?: readonly NeutralMember[];
  /** Streams that say that the answer failed. At least one. */
  readonly errorStreams: readonly string[];
  /** Answers with an error status. At least one. */
  readonly errorAnswers: readonly SampleErrorAnswer[];
}

/** Both halves of one dialect. Generators should make everything that the dialect knows, and nothing that it refuses. */
export interface DialectSubject extends AnswerSubject {
  readonly client: ClientDialect;
  /** The route of a generate request. */
  readonly route: RouteMatch;
  /** Client options under which answers are compared; reasoning must be shown. */
  readonly answerOptions: Readonly<Record<string, unknown>>;
  /** What a request must ask for so that its answers show everything: reasoning, usage. */
  readonly answerRequest: JsonObject;

  /** Request bodies that this dialect accepts. */
  readonly requests: Arbitrary<JsonObject>;
  /** Bodies that together hold every member that the dialect knows. What a deployment refuses is taken out before the rest is looked at. */
  readonly fullRequests: readonly JsonObject[];
  /** Members that other dialects may ignore without saying so. */
  readonly neutralMembers: readonly NeutralMember[];
  /** Brings two spellings of one request into one form, for the lossless round trip; numbers come spelled. */
  canonicalRequest(body: JsonValue): JsonValue;
  /** What forwarding may change in a body, for a target with another model id; numbers come spelled. */
  forwardedRequest(body: JsonValue, model: string): JsonValue;
  /** An origin whose signatures come back from a client as they went to it within one answer, or null. */
  readonly streamedSignature: string | null;

  /** What clients see for errors of the client or the gateway. */
  readonly errors: Readonly<Record<ErrorClass, ExpectedError>>;
  /** What they see where an upstream's error is the operator's fault, not the client's. */
  readonly upstreamErrors: Partial<Readonly<Record<ErrorClass, ExpectedError>>>;
  /** Classes that stay themselves when an envelope of this dialect is classified again. */
  readonly distinguishes: readonly ErrorClass[];
}
