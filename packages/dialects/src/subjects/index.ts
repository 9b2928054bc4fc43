/** @dragoman/dialects/subjects: the built-in dialects as subjects of the laws, so that authors of others can test them in pairs. */
export { anthropicSubject } from "./anthropic-subject.ts";
export { openaiChatSubject } from "./openai-chat-subject.ts";
export type { JsonObject, JsonValue } from "../testing/spelled-json.ts";
export type { AnswerSubject, DialectSubject, ExpectedError, NeutralMember, SampleStream } from "../testing/subject.ts";
