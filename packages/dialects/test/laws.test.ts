// Every dialect of this package, and every ordered pair of them, obeys the public laws.
import { describe, expect, test } from "vitest";

import { defineProviderDialect } from "@dragoman/core";

import { laws, pairLaws } from "../src/testing/index.ts";
import type { Law } from "../src/testing/index.ts";
import { anthropicSubject } from "../src/subjects/anthropic-subject.ts";
import { openaiChatSubject } from "../src/subjects/openai-chat-subject.ts";

/** A law may be checked at once or in time. */
const outcomeOf = async (law: Law): Promise<void> => law.check();

const SUBJECTS = [openaiChatSubject, anthropicSubject];

describe.each(SUBJECTS)("$client.id", (subject) => {
  test.each(laws(subject))("$name", async (law) => {
    await expect(outcomeOf(law)).resolves.toBeUndefined();
  });
});

const PAIRS = SUBJECTS.flatMap((from) => SUBJECTS.filter((to) => to !== from).map((to) => ({ from, to })));

describe.each(PAIRS)("$from.client.id served by $to.provider.id", ({ from, to }) => {
  test.each(pairLaws(from, to))("$name", async (law) => {
    await expect(outcomeOf(law)).resolves.toBeUndefined();
  });
});

// What `defineProviderDialect` derives is held against the same laws: an observer and readers made of the decoders alone.
describe.each(SUBJECTS)("$provider.id, of which only the needed doors were written", (subject) => {
  const own = subject.provider;
  const provider = defineProviderDialect({
    id: own.id,
    framing: own.framing,
    operations: ["generate", "count-tokens"],
    compileProfile: (...input) => own.compileProfile(...input),
    forwardRequest: (...input) => own.forwardRequest(...input),
    encodeRequest: (...input) => own.encodeRequest(...input),
    decodeResponse: (...input) => own.decodeResponse(...input),
    decodeTokenCount: (...input) => own.decodeTokenCount(...input),
    createStreamDecoder: (...input) => own.createStreamDecoder(...input),
    classifyError: (...input) => own.classifyError(...input),
  });
  // `readUsage` alone cannot be derived here: the counts stand in a member that may come without its answer.
  const held = laws({ ...subject, provider }).filter(({ name }) => /observer|counts of clients/.test(name));
  test.each(held)("$name", async (law) => {
    await expect(outcomeOf(law)).resolves.toBeUndefined();
  });
});
