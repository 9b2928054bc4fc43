// The chat-completions dialect: both halves and the provider kinds that speak it.
export { openaiChatClient } from "./client.ts";
export { openaiChatProvider } from "./provider.ts";
export { OPENAI_KINDS } from "./kind.ts";
