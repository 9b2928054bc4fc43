// Laws of errors: every class is a valid envelope with the table's status and type, what is not the client's business stays inside, and
// any upstream answer is classified.
import { findHeader } from "@dragoman/core";
import type { ErrorClass, NeutralError } from "@dragoman/core";
import fc from "fast-check";

import { decodeChunks, decodeContextOf, readChunks, watchedHead } from "./exchange.ts";
import { ensure, forAll, forEach, requireSame } from "./law.ts";
import type { Law, LawOptions } from "./law.ts";
import { documentOf } from "./spelled-json.ts";
import { checkGrammar } from "./stream-grammar.ts";
import type { AnswerSubject, DialectSubject, ExpectedError, ProviderSubject } from "./subject.ts";

interface ErrorCase {
  readonly class: ErrorClass;
  readonly origin: NeutralError["origin"];
}

/** Classes whose upstream text speaks about the client's own request. */
const PASSING: ReadonlySet<ErrorClass> = new Set<ErrorClass>([
  "invalid-request",
  "context-length",
  "content-policy",
  "rate-limit",
  "protocol",
]);
const UPSTREAM_TEXT = "Account acct-17 of pool blue has no capacity";

const errorOf = ({ class: errorClass, origin }: ErrorCase): NeutralError => ({
  class: errorClass,
  origin,
  message: UPSTREAM_TEXT,
  retrySame: false,
  fallback: false,
});

/** Laws of one dialect's errors. */
export function errorLaws(subject: DialectSubject, options: LawOptions): readonly Law[] {
  const { client, provider } = subject;
  // The subject's table has every class as a member.
  const classes = Object.keys(subject.errors) as ErrorClass[];
  const cases = classes.flatMap((errorClass): ErrorCase[] => [
    { class: errorClass, origin: "gateway" },
    { class: errorClass, origin: "upstream" },
  ]);
  const expectedOf = ({ class: errorClass, origin }: ErrorCase): ExpectedError =>
    (origin === "upstream" ? subject.upstreamErrors[errorClass] : undefined) ?? subject.errors[errorClass];
  const context = { requestId: "req_t1", hasFallenBack: false };

  return [
    forEach(`${client.id}: every class of errors has its status and type`, cases, (row) => {
      const expected = expectedOf(row);
      const { status, headers, body } = client.encodeError(errorOf(row), context);
      const text = Buffer.from(body).toString("utf8");
      requireSame(status, expected.status, "the status");
      requireSame(typeOf(body, "type"), expected.type, "the type");
      if (expected.code !== undefined) requireSame(typeOf(body, "code"), expected.code, "the code");
      ensure(headers.length % 2 === 0, () => "a header has no value");
      ensure(/^(?:true|false)$/.test(findHeader(headers, "x-should-retry") ?? ""), () => "x-should-retry is missing");
      for (const [index, name] of client.identify("req_t1").entries())
        ensure(headers.includes(name), () => `the exchange is not named: ${index}`);
      const isTold = row.origin === "gateway" || PASSING.has(row.class);
      ensure(text.includes("acct-17") === isTold, () =>
        isTold ? "the message is lost" : "the upstream's words about its own affairs reach the client",
      );
    }),
    forEach(
      `${client.id}: a class that the dialect can say is read again as that class`,
      subject.distinguishes,
      (errorClass) => {
        const { status, headers, body } = client.encodeError(
          errorOf({ class: errorClass, origin: "gateway" }),
          context,
        );
        const again = provider.classifyError({ status, headers, body, nowMs: 0 }, decodeContextOf(subject));
        requireSame(again.class, errorClass, "the class");
      },
    ),
    forEach(`${client.id}: an error in a stream is one, to decoder and observer`, cases, (row) => {
      checkErrorStream(subject, client.encodeStreamError(errorOf(row), context));
    }),
    ...classificationLaws(subject, options, (error) => {
      documentOf(client.encodeError(error, context).body);
    }),
  ];
}

/** Laws of the errors of a provider half by itself. */
export function upstreamErrorLaws(subject: ProviderSubject, options: LawOptions): readonly Law[] {
  const { provider } = subject;
  return [
    forEach(
      `${provider.id}: an upstream's error has its class`,
      subject.errorAnswers,
      ({ status, body, ...sample }) => {
        const answer = { status, headers: [], body: Buffer.from(body, "utf8"), nowMs: 0 };
        requireSame(provider.classifyError(answer, decodeContextOf(subject)).class, sample.class, "the class");
      },
    ),
    forEach(`${provider.id}: an error in a stream is one, to decoder and observer`, subject.errorStreams, (text) => {
      checkErrorStream(subject, Buffer.from(text, "utf8"));
    }),
    ...classificationLaws(subject, options, () => {}),
  ];
}

function checkErrorStream(subject: DialectSubject | ProviderSubject, bytes: Uint8Array): void {
  const { provider } = subject;
  const events = decodeChunks(provider, decodeContextOf(subject), [bytes]);
  requireSame(events.at(-1)?.type, "error", "the last event");
  checkGrammar(events);
  const observer = provider.createStreamObserver(decodeContextOf(subject), watchedHead(subject));
  readChunks(provider.framing, [bytes], (framed) => {
    observer.observe(framed);
  });
  ensure(observer.error !== null, () => "the observer does not see the error");
}

/** Every class, as a table that the compiler keeps complete. */
const CLASSES: Readonly<Record<ErrorClass, true>> = {
  auth: true,
  permission: true,
  "not-found": true,
  "method-not-allowed": true,
  "invalid-request": true,
  "unsupported-media-type": true,
  "too-large": true,
  "context-length": true,
  "content-policy": true,
  "rate-limit": true,
  quota: true,
  overloaded: true,
  timeout: true,
  "upstream-5xx": true,
  network: true,
  protocol: true,
  "no-deployment": true,
  cancelled: true,
  internal: true,
};

/** Longest message that a dialect may take over from an upstream. */
const MAX_MESSAGE_LENGTH = 4_096;

function classificationLaws(
  subject: AnswerSubject,
  options: LawOptions,
  tellClient: (error: NeutralError) => void,
): readonly Law[] {
  const { provider } = subject;
  return [
    forAll(
      `${provider.id}: any answer of an upstream is classified, in bounds`,
      fc.tuple(
        fc.integer({ min: 300, max: 599 }),
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.constantFrom(
            "<html>no</html>",
            '[{"error":{"message":"x"}}]',
            '{"error":"x"}',
            '{"error":{"code":429}}',
            `{"error":"${"x".repeat(2 * MAX_MESSAGE_LENGTH)}"}`,
            "x".repeat(2 * MAX_MESSAGE_LENGTH),
          ),
        ),
      ),
      options,
      ([status, text]) => {
        const error = provider.classifyError(
          { status, headers: [], body: Buffer.from(text, "utf8"), nowMs: 0 },
          decodeContextOf(subject),
        );
        ensure(Object.hasOwn(CLASSES, error.class), () => `${error.class} is no class`);
        requireSame(error.origin, "upstream", "the origin");
        ensure(error.message.length <= MAX_MESSAGE_LENGTH, () => "the message is not bounded");
        tellClient(error);
      },
    ),
  ];
}

function typeOf(body: Uint8Array, member: string): string | null {
  const document = documentOf(body);
  const node = document.member(document.member(document.root, "error"), member);
  return document.isString(node) ? document.string(node) : null;
}
