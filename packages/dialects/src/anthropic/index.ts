/** The anthropic room: both halves of the dialect and its provider kinds. */
export { anthropicClient } from "./client.ts";
export { anthropicProvider } from "./provider.ts";
export { ANTHROPIC_KINDS } from "./kind.ts";
