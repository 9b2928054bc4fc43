// Which laws hold for whom: those of one dialect, those of a provider half alone, and those of two dialects that meet in a translation.
import { answerLaws } from "./answer-laws.ts";
import { answerPairLaws } from "./answer-pair-laws.ts";
import { errorLaws, upstreamErrorLaws } from "./error-laws.ts";
import type { Law, LawOptions } from "./law.ts";
import { limitLaws } from "./limit-laws.ts";
import { requestPairLaws } from "./pair-laws.ts";
import { requestLaws } from "./request-laws.ts";
import { streamLaws } from "./stream-laws.ts";
import type { DialectSubject, ProviderSubject } from "./subject.ts";
import { reportedUsageLaws, toldUsageLaws } from "./usage-laws.ts";

/** Everything that must hold for one dialect by itself. */
export function laws(subject: DialectSubject, options: LawOptions = {}): readonly Law[] {
  return [
    ...requestLaws(subject, options),
    ...requestPairLaws(subject, subject, options),
    ...answerLaws(subject, options),
    ...streamLaws(subject, options),
    ...reportedUsageLaws(subject, options),
    ...toldUsageLaws(subject, options),
    ...errorLaws(subject, options),
    ...limitLaws(subject.client, options),
  ];
}

/** Everything that must hold for a provider half by itself. How it is spoken to is a matter of pairs: see {@link pairLaws}. */
export function providerLaws(subject: ProviderSubject, options: LawOptions = {}): readonly Law[] {
  return [
    ...streamLaws(subject, options),
    ...reportedUsageLaws(subject, options),
    ...upstreamErrorLaws(subject, options),
  ];
}

/**
 * What must hold where clients of one dialect are served by deployments of another, which may be a provider half alone. Both orders
 * of a pair of whole dialects have laws of their own.
 */
export function pairLaws(
  from: DialectSubject,
  to: DialectSubject | ProviderSubject,
  options: LawOptions = {},
): readonly Law[] {
  return [...requestPairLaws(from, to, options), ...answerPairLaws(to, from, options)];
}
