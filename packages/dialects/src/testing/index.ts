/** @dragoman/dialects/testing: the laws that every dialect obeys, for any test runner. Needs the optional peer `fast-check`. */
export { LawViolation } from "./law.ts";
export type { Law, LawOptions } from "./law.ts";
export { laws, pairLaws } from "./laws.ts";
export { documentOf, spelledJson } from "./spelled-json.ts";
export type { JsonObject, JsonValue } from "./spelled-json.ts";
export type { DialectSubject, ExpectedError, NeutralMember, SampleStream } from "./subject.ts";
