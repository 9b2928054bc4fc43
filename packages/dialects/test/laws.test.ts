// Every dialect of this package, and every ordered pair of them, obeys the public laws.
import { describe, expect, test } from "vitest";

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
