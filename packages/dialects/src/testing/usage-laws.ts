// Laws of token counts: components never exceed their totals, whatever an upstream says, and counts survive the way to a client.
import type { Usage } from "@dragoman/core";
import fc from "fast-check";

import { neutralUsage } from "./answer-samples.ts";
import { canonicalUsage } from "./canonical-answer.ts";
import { answerContextOf, decodeContextOf, mustRead } from "./exchange.ts";
import { ensure, forAll, requireSame } from "./law.ts";
import type { Law, LawOptions } from "./law.ts";
import { documentOf } from "./spelled-json.ts";
import type { AnswerSubject, DialectSubject } from "./subject.ts";

/** Laws of the counts that upstreams report. */
export function reportedUsageLaws(subject: AnswerSubject, options: LawOptions): readonly Law[] {
  const { provider } = subject;
  const context = decodeContextOf(subject);
  return [
    forAll(`${provider.id}: a component of usage never exceeds its total`, subject.usages, options, (usage) => {
      const read = provider.readUsage(documentOf(JSON.stringify(usage)), context);
      ensure(read !== null, () => "usage is not read");
      checkUsage(read);
    }),
  ];
}

/** Laws of the counts that clients of a dialect are told. */
export function toldUsageLaws(subject: DialectSubject, options: LawOptions): readonly Law[] {
  const { client, provider } = subject;
  const context = decodeContextOf(subject);
  const { facts } = mustRead(subject, JSON.stringify(subject.answerRequest)).head;
  return [
    forAll(`${provider.id}: counts of clients are those of the upstream`, neutralUsage, options, (usage) => {
      if (usage.input === 0 && usage.output === 0) return;
      const answer = client.encodeResponse(
        {
          model: "up-model",
          candidates: [{ index: 0, parts: [{ type: "text", text: "x", at: "" }], stop: { reason: "end", raw: "end" } }],
          usage,
          extensions: [],
        },
        answerContextOf(facts, subject.answerOptions),
      );
      ensure(answer.ok, () => "an answer with usage is refused");
      const read = provider.readUsage(documentOf(answer.body), context);
      ensure(read !== null, () => "the usage that was written is not read");
      requireSame(canonicalUsage(read, subject.usageMembers), canonicalUsage(usage, subject.usageMembers), "usage");
    }),
    ...(provider.operations.includes("count-tokens")
      ? [
          forAll(`${provider.id}: a token count is read as it was written`, fc.nat(), options, (count) => {
            const read = provider.decodeTokenCount(documentOf(client.encodeTokenCount(count)));
            ensure(read.ok && read.count === count, () => "the count differs");
          }),
        ]
      : []),
  ];
}

function checkUsage({ input, cacheRead, cacheWrite, inputToolUse, output, reasoning }: Usage): void {
  const components = (cacheRead ?? 0) + (cacheWrite ?? 0) + (inputToolUse ?? 0);
  ensure(input >= components, () => `input is ${input}, its components add up to ${components}`);
  ensure(output >= (reasoning ?? 0), () => `output is ${output}, reasoning ${reasoning ?? 0}`);
}
