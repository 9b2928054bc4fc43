// The chat-completions dialect: both halves and the provider kinds that speak it.
export { openaiChatClient } from "./client.ts";
export { openaiChatProvider } from "./provider.ts";
export { AZURE_OPENAI_KIND, OPENAI_COMPATIBLE_KIND, OPENAI_KIND, OPENAI_KINDS } from "./kind.ts";
