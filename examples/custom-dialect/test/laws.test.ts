// The public laws hold for Ollama by itself, and for clients of every built-in dialect that it serves.
import { describe, expect, test } from "vitest";

import { anthropicSubject, openaiChatSubject } from "@dragoman/dialects/subjects";
import { pairLaws, providerLaws } from "@dragoman/dialects/testing";
import type { Law } from "@dragoman/dialects/testing";

import { ollamaSubject } from "./ollama-subject.ts";

/** A law may be checked at once or in time. */
const outcomeOf = async (law: Law): Promise<void> => law.check();

test.each(providerLaws(ollamaSubject("plain")))("$name", async (law) => {
  await expect(outcomeOf(law)).resolves.toBeUndefined();
});

describe.each(["plain", "levels"] as const)("a model with the profile %s", (profile) => {
  const to = ollamaSubject(profile);
  test.each([openaiChatSubject, anthropicSubject].flatMap((from) => pairLaws(from, to)))("$name", async (law) => {
    await expect(outcomeOf(law)).resolves.toBeUndefined();
  });
});
