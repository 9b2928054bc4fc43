// Every dialect of this package, and every ordered pair of them, obeys the public laws.
import { describe, test } from "vitest";

import { laws, pairLaws } from "../src/testing/index.ts";
import { anthropicSubject } from "./anthropic-subject.ts";
import { openaiChatSubject } from "./openai-chat-subject.ts";

const SUBJECTS = [openaiChatSubject, anthropicSubject];

describe.each(SUBJECTS)("$client.id", (subject) => {
  test.each(laws(subject))("$name", async (law) => {
    await law.check();
  });
});

const PAIRS = SUBJECTS.flatMap((from) => SUBJECTS.filter((to) => to !== from).map((to) => ({ from, to })));

describe.each(PAIRS)("$from.client.id served by $to.provider.id", ({ from, to }) => {
  test.each(pairLaws(from, to))("$name", async (law) => {
    await law.check();
  });
});
