/** @dragoman/dialects/testing: the laws that every dialect obeys, for any test runner. Needs the optional peer `fast-check`. */
export {
  argumentsText,
  counts,
  fragmentSizes,
  fragmentsOf,
  frame,
  framing,
  objectSchema,
  someOf,
  toolName,
  visibleText,
} from "./json-samples.ts";
export type { Counts, Framing } from "./json-samples.ts";
export { LawViolation } from "./law.ts";
export type { Law, LawOptions } from "./law.ts";
export { laws, pairLaws, providerLaws } from "./laws.ts";
export { documentOf, spelledJson } from "./spelled-json.ts";
export type { JsonObject, JsonValue } from "./spelled-json.ts";
export type {
  AnswerSubject,
  DialectSubject,
  ExpectedError,
  NeutralMember,
  ProviderSubject,
  SampleErrorAnswer,
  SampleStream,
} from "./subject.ts";
