// Laws of answers: a stream says what the whole answer says, and an answer that goes out and comes back is the same answer.
import type { AnswerContext, NeutralResponse } from "@dragoman/core";
import fc from "fast-check";

import { deliveries, eventsOf, neutralAnswers } from "./answer-samples.ts";
import { assemble, canonicalCandidates, canonicalUsage } from "./canonical-answer.ts";
import { answerContextOf, decodeChunks, decodeContextOf, encodeEvents, mustRead } from "./exchange.ts";
import { ensure, forAll, requireSame } from "./law.ts";
import type { Law, LawOptions } from "./law.ts";
import { documentOf } from "./spelled-json.ts";
import type { JsonValue } from "./spelled-json.ts";
import { checkGrammar } from "./stream-grammar.ts";
import type { AnswerSubject, DialectSubject } from "./subject.ts";

/** Laws of one dialect's answers. */
export function answerLaws(subject: DialectSubject, options: LawOptions): readonly Law[] {
  const { client, provider } = subject;
  const decodeContext = decodeContextOf(subject);
  const { facts } = mustRead(subject, JSON.stringify(subject.answerRequest)).head;
  const context = (): AnswerContext => answerContextOf(facts, subject.answerOptions);
  const answers = neutralAnswers({ maxCandidates: subject.maxCandidates, signatureOrigin: subject.streamedSignature });

  const whole = (response: NeutralResponse): JsonValue => {
    const encoded = client.encodeResponse(response, context());
    ensure(encoded.ok, () => `a complete answer is refused: ${encoded.ok ? "" : encoded.error.message}`);
    return describe(decodeWhole(encoded.body), subject);
  };
  const decodeWhole = (body: Uint8Array | string): NeutralResponse => {
    const decoded = provider.decodeResponse(documentOf(body), decodeContext);
    ensure(decoded.ok, () => `a complete answer cannot be read: ${decoded.ok ? "" : decoded.error.message}`);
    return decoded.response;
  };

  return [
    forAll(`${client.id}: a complete answer keeps its meaning`, answers, options, (response) => {
      requireSame(whole(response), describe(response, subject), "the answer after encoding and decoding");
    }),
    forAll(
      `${client.id}: an assembled stream is the complete answer, however its deltas were cut`,
      fc.tuple(answers, deliveries),
      options,
      ([response, delivery]) => {
        const { chunks, error } = encodeEvents(client, context(), eventsOf(response, delivery));
        ensure(error === null, () => `the stream fails: ${error?.message ?? ""}`);
        const events = decodeChunks(provider, decodeContext, chunks);
        checkGrammar(events);
        const { response: assembled, isEnded } = assemble(events);
        ensure(isEnded, () => "the stream that was written has no end when it is read");
        requireSame(describe(assembled, subject), whole(response), "the assembled stream");
      },
    ),
  ];
}

/** What is compared of an answer. Ids of answers are the gateway's own. */
export function describe(response: NeutralResponse, subject: AnswerSubject): JsonValue {
  const { model, usage } = response;
  return {
    model: model ?? null,
    candidates: canonicalCandidates(response, subject) as unknown as JsonValue,
    usage: canonicalUsage(usage, subject.usageMembers),
  };
}
