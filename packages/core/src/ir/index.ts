/** The neutral representation: what a request, an answer or a stream means, whatever its dialect. */
export {
  isEmptyText,
  isSlice,
  numToNumber,
  rawToValue,
  retainRaw,
  retainText,
  textEquals,
  textLength,
  textToString,
} from "./text.ts";
export type { Num, Raw, Text } from "./text.ts";
export type {
  ArgumentText,
  AudioPart,
  CacheBreakpoint,
  DialectId,
  Extension,
  FilePart,
  ImagePart,
  Media,
  Message,
  OpaquePart,
  Part,
  PartBase,
  ReasoningPart,
  RefusalPart,
  SearchResultPart,
  ServerToolPart,
  Signature,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  VideoPart,
} from "./part.ts";
export type {
  CustomTool,
  Effort,
  FunctionTool,
  NeutralRequest,
  Operation,
  OutputFormat,
  Reasoning,
  Sampling,
  ServerTool,
  ServiceTier,
  Tool,
  ToolChoice,
} from "./request.ts";
export type { Candidate, NeutralResponse, PartHead, Stop, StopReason, StreamEvent } from "./response.ts";
export { isContentBearing } from "./content-bearing.ts";
export { eventsOfResponse, ResponseAssembler } from "./response-events.ts";
export type { Usage } from "./usage.ts";
export type { ErrorClass, NeutralError } from "./error.ts";
