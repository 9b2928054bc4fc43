// Laws of reading streams: every cut of the bytes gives the same events, the grammar holds, what was cut off is never a clean end, and
// the observer of a forwarded stream sees what the decoder sees.
import { RecordFlag } from "@dragoman/core";
import type { StreamEvent } from "@dragoman/core";
import fc from "fast-check";

import { describe } from "./answer-laws.ts";
import { assemble, canonicalEvents, canonicalUsage } from "./canonical-answer.ts";
import { cutAt, decodeChunks, decodeContextOf, readChunks, watchedHead } from "./exchange.ts";
import { ensure, forAll, requireSame } from "./law.ts";
import type { Law, LawOptions } from "./law.ts";
import { documentOf } from "./spelled-json.ts";
import type { JsonObject, JsonValue } from "./spelled-json.ts";
import { checkGrammar } from "./stream-grammar.ts";
import type { DialectSubject, ProviderSubject, SampleStream } from "./subject.ts";

/** A place in a stream as a fraction of its length; doubles would crowd at zero. */
export const place: fc.Arbitrary<number> = fc.integer({ min: 0, max: 10_000 }).map((value) => value / 10_000);
const fractions = fc.array(place, { minLength: 1, maxLength: 12 });

/** Laws of one dialect's upstream streams. */
export function streamLaws(subject: DialectSubject | ProviderSubject, options: LawOptions): readonly Law[] {
  const { provider } = subject;
  const context = decodeContextOf(subject);
  const decode = (chunks: readonly Uint8Array[]): readonly StreamEvent[] => decodeChunks(provider, context, chunks);
  const named = (name: string): string => `${provider.id}: ${name}`;

  return [
    forAll(
      named("any cut of the bytes gives the same events"),
      fc.tuple(subject.streams, fractions),
      options,
      ([{ text }, places]) => {
        const bytes = Buffer.from(text, "utf8");
        requireSame(
          canonicalEvents(decode(cutAt(bytes, places))),
          canonicalEvents(decode([bytes])),
          "the stream in pieces",
        );
      },
    ),
    forAll(named("a legal stream follows the grammar and ends"), subject.streams, options, ({ text }) => {
      const grammar = checkGrammar(decode([Buffer.from(text, "utf8")]));
      ensure(grammar.outcome === "end", () => "a legal stream fails");
    }),
    forAll(named("a vendor's stream is the vendor's complete answer"), subject.streams, options, (sample) => {
      if (sample.whole === null) return;
      const { response, isEnded } = assemble(decode([Buffer.from(sample.text, "utf8")]));
      ensure(isEnded, () => "a legal stream does not end");
      const whole = provider.decodeResponse(documentOf(sample.whole), context);
      ensure(whole.ok, () => `a complete answer cannot be read: ${whole.ok ? "" : whole.error.message}`);
      requireSame(describe(response, subject), describe(whole.response, subject), "the stream's answer");
    }),
    forAll(
      named("a stream that was cut off is never a clean end"),
      fc.tuple(subject.streams, place),
      options,
      ([sample, fraction]) => {
        const bytes = Buffer.from(sample.text, "utf8");
        const events = decode([bytes.subarray(0, Math.floor(fraction * bytes.length))]);
        const grammar = checkGrammar(events);
        if (grammar.outcome === "error") return;
        // Where a dialect lets an answer end without its last record, nothing but counts may be missing.
        const { usage: _left, ...left } = describe(assemble(events).response, subject) as JsonObject;
        const { usage: _right, ...right } = describe(assemble(decode([bytes])).response, subject) as JsonObject;
        requireSame(left, right, "a stream that was cut off ends cleanly, and its answer");
      },
    ),
    forAll(
      named("a stream whose records are lost, doubled or swapped fails or follows the grammar"),
      fc.tuple(
        subject.streams,
        fc.array(fc.tuple(fc.constantFrom("lose", "double", "swap"), fc.nat(40)), { minLength: 1, maxLength: 3 }),
      ),
      options,
      ([sample, faults]) => {
        const terminator = TERMINATORS[provider.framing];
        const records = recordsOf(sample, terminator);
        for (const [fault, at] of faults) disturb(records, fault, at);
        checkGrammar(decode([Buffer.from(records.map((record) => record + terminator).join(""), "utf8")]));
      },
    ),
    observerLaw(subject, options),
  ];
}

/** What ends a record. */
const TERMINATORS = { sse: "\n\n", ndjson: "\n" } as const;

const recordsOf = ({ text }: SampleStream, terminator: string): string[] =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll("\r", "\n")
    .split(terminator)
    .filter((record) => record !== "");

function disturb(records: string[], fault: string, number: number): void {
  const at = number % Math.max(1, records.length);
  const record = records[at];
  if (record === undefined) return;
  if (fault === "lose") records.splice(at, 1);
  else if (fault === "double") records.splice(at, 0, record);
  else records.splice(at, 2, ...records.slice(at, at + 2).toReversed());
}

/** Compares observer and decoder on whole and on cut streams. */
function observerLaw(subject: DialectSubject | ProviderSubject, options: LawOptions): Law {
  const { provider } = subject;
  const head = watchedHead(subject);
  const name = `${provider.id}: the observer of a forwarded stream sees what the decoder sees`;
  const places = fc.oneof(fc.constant(1), place);
  return forAll(name, fc.tuple(subject.streams, places), options, ([{ text }, fraction]) => {
    const bytes = Buffer.from(text, "utf8");
    const part = bytes.subarray(0, Math.floor(fraction * bytes.length));
    const observer = provider.createStreamObserver(decodeContextOf(subject), head);
    let flags = 0;
    readChunks(provider.framing, [part], (record) => {
      const seen = observer.observe(record);
      ensure(
        (flags & (RecordFlag.end | RecordFlag.error)) === 0 || seen === 0,
        () => "a record after the end is not ignored",
      );
      flags |= seen;
    });
    const observed: JsonValue = {
      isClean: observer.finish() === null,
      usage: canonicalUsage(observer.usage ?? undefined, subject.usageMembers),
    };
    const events = decodeChunks(provider, decodeContextOf(subject), [part]);
    const { response, isEnded } = assemble(events);
    const usage = events.reduce<JsonValue>(
      (last, event) =>
        event.type === "usage" || event.type === "start"
          ? (canonicalUsage(event.usage ?? undefined, subject.usageMembers) ?? last)
          : last,
      null,
    );
    requireSame(
      observed,
      { isClean: isEnded, usage: isEnded ? canonicalUsage(response.usage, subject.usageMembers) : usage },
      "what the observer sees",
    );
    if (fraction === 1)
      ensure((flags & RecordFlag.content) !== 0, () => "no record of a complete stream counts as content");
  });
}
