/// <reference types="node" preserve="true" />
/** @dragoman/dialects: the wire dialects of the gateway, the provider kinds that speak them, and all of them as one registration. */
import type { DialectRegistration, ProviderKind } from "@dragoman/core";

import { ANTHROPIC_KINDS, anthropicClient, anthropicProvider } from "./anthropic/index.ts";
import { OPENAI_KINDS, openaiChatClient, openaiChatProvider } from "./openai-chat/index.ts";

/** The OpenAI Chat Completions dialect. */
export const openaiChat: DialectRegistration = { client: openaiChatClient, provider: openaiChatProvider };

/** The Anthropic Messages dialect. */
export const anthropic: DialectRegistration = { client: anthropicClient, provider: anthropicProvider };

/** Every dialect of this package; the first one answers requests that no dialect claims. */
export const BUILT_IN_DIALECTS: readonly DialectRegistration[] = [openaiChat, anthropic];

/** Every provider kind of this package. */
export const BUILT_IN_KINDS: readonly ProviderKind[] = [...OPENAI_KINDS, ...ANTHROPIC_KINDS];
