// Which laws hold for whom: those of one dialect, and those of two that meet in a translation.
import { answerLaws } from "./answer-laws.ts";
import { answerPairLaws } from "./answer-pair-laws.ts";
import { errorLaws } from "./error-laws.ts";
import type { Law, LawOptions } from "./law.ts";
import { requestPairLaws } from "./pair-laws.ts";
import { requestLaws } from "./request-laws.ts";
import { streamLaws } from "./stream-laws.ts";
import type { DialectSubject } from "./subject.ts";
import { usageLaws } from "./usage-laws.ts";

/** Everything that must hold for one dialect by itself. */
export function laws(subject: DialectSubject, options: LawOptions = {}): readonly Law[] {
  return [
    ...requestLaws(subject, options),
    ...requestPairLaws(subject, subject, options),
    ...answerLaws(subject, options),
    ...streamLaws(subject, options),
    ...usageLaws(subject, options),
    ...errorLaws(subject, options),
  ];
}

/** What must hold where clients of one dialect are served by deployments of another. Both orders of a pair have laws of their own. */
export function pairLaws(from: DialectSubject, to: DialectSubject, options: LawOptions = {}): readonly Law[] {
  return [...requestPairLaws(from, to, options), ...answerPairLaws(to, from, options)];
}
