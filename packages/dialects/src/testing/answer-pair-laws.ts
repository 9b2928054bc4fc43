// Laws of answers that cross from a provider's dialect to a client's: stream and complete answer say the same there too.
import fc from "fast-check";

import { describe } from "./answer-laws.ts";
import { assemble } from "./canonical-answer.ts";
import { answerContextOf, decodeChunks, decodeContextOf, encodeEvents, mustRead } from "./exchange.ts";
import { ensure, forAll, requireSame } from "./law.ts";
import type { Law, LawOptions } from "./law.ts";
import { documentOf } from "./spelled-json.ts";
import type { JsonObject } from "./spelled-json.ts";
import { checkGrammar } from "./stream-grammar.ts";
import { place } from "./stream-laws.ts";
import type { AnswerSubject, DialectSubject } from "./subject.ts";

/** Laws of answers that deployments of `upstream` give to clients of `to`. */
export function answerPairLaws(upstream: AnswerSubject, to: DialectSubject, options: LawOptions): readonly Law[] {
  const pair = `${upstream.provider.id} ⇒ ${to.client.id}`;
  const { facts } = mustRead(to, JSON.stringify(to.answerRequest)).head;
  return [
    forAll(`${pair}: a translated stream is the translated answer`, upstream.streams, options, (sample) => {
      const events = decodeChunks(upstream.provider, decodeContextOf(upstream), [Buffer.from(sample.text, "utf8")]);
      const { chunks, error } = encodeEvents(to.client, answerContextOf(facts, to.answerOptions), events);
      ensure(error === null, () => `the stream fails: ${error?.message ?? ""}`);
      const again = decodeChunks(to.provider, decodeContextOf(to), chunks);
      const grammar = checkGrammar(again);
      ensure(grammar.outcome === "end", () => "the stream that was written has no end when it is read");
      if (sample.whole === null) return;
      const decoded = upstream.provider.decodeResponse(documentOf(sample.whole), decodeContextOf(upstream));
      ensure(decoded.ok, () => "a complete answer cannot be read");
      const encoded = to.client.encodeResponse(decoded.response, answerContextOf(facts, to.answerOptions));
      // What has no form in one piece may still have been streamed; it is an error there.
      if (!encoded.ok) return;
      const whole = to.provider.decodeResponse(documentOf(encoded.body), decodeContextOf(to));
      ensure(whole.ok, () => "the complete answer that was written cannot be read");
      requireSame(describe(assemble(again).response, to), describe(whole.response, to), "the translated stream");
    }),
    forAll(
      `${pair}: a stream that was cut off upstream is never a clean end for the client`,
      fc.tuple(upstream.streams, place),
      options,
      ([{ text }, fraction]) => {
        const bytes = Buffer.from(text, "utf8");
        const read = (part: Uint8Array): JsonObject | null => {
          const events = decodeChunks(upstream.provider, decodeContextOf(upstream), [part]);
          const { chunks } = encodeEvents(to.client, answerContextOf(facts, to.answerOptions), events);
          const { response, isEnded } = assemble(decodeChunks(to.provider, decodeContextOf(to), chunks));
          return isEnded ? (describe(response, to) as JsonObject) : null;
        };
        const cut = read(bytes.subarray(0, Math.floor(fraction * bytes.length)));
        if (cut === null) return;
        requireSame(
          cut["candidates"],
          read(bytes)?.["candidates"],
          "a stream that was cut off ends cleanly, and its answer",
        );
      },
    ),
  ];
}
