/** Contracts of a dialect's two halves, provider kinds, capabilities, reason codes and the registry. */
export { ADAPTATION_CODES, DEFAULT_LOSSY_ALLOW, expandLossy, LOSSY_PRESETS, REASON_CODES } from "./reason-codes.ts";
export type { AdaptationCode, ReasonCode } from "./reason-codes.ts";
export { IssueList } from "./issue.ts";
export type { Issue } from "./issue.ts";
export { DEFAULT_CAPABILITIES, mergeCapabilities } from "./capabilities.ts";
export type { Capabilities, CapabilityOverrides } from "./capabilities.ts";
export { findHeader, findHeaders } from "./header-list.ts";
export type { HeaderList } from "./header-list.ts";
export type {
  AnswerContext,
  ByteSink,
  ClientDialect,
  ClientRoute,
  CredentialReading,
  DecodedRequest,
  EncodedAnswer,
  EncodedError,
  ListedModel,
  RequestBounds,
  RequestHead,
  RouteMatch,
  StreamEncoder,
  ToolMap,
} from "./client-dialect.ts";
export { defineClientDialect, defineProviderDialect } from "./define.ts";
export type {
  ClientDialectDefinition,
  ClientDoors,
  ClientOptions,
  CountDoor,
  ProfileDoor,
  ProviderDialectDefinition,
  ProviderDoors,
  ProviderOptions,
  Serves,
  StreamDoor,
} from "./define.ts";
export type { ProfileTable } from "./profile-table.ts";
export { RecordFlag } from "./provider-dialect.ts";
export type {
  DecodeContext,
  DecodedResponse,
  EncodedRequest,
  EncodeResult,
  EncodeTarget,
  ObservedResponse,
  Profile,
  ProviderDialect,
  StreamDecoder,
  StreamObserver,
  StreamRecord,
  UpstreamErrorAnswer,
} from "./provider-dialect.ts";
export type { ProviderKind } from "./provider-kind.ts";
export { DialectRegistry } from "./registry.ts";
export type { DialectRegistration, RouteResult } from "./registry.ts";
export type { LimitDimension, LimitStanding } from "./limit-standing.ts";
