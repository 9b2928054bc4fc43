// The laws are worth what they catch: each of these dialects does one thing wrong, and at least one law says so in words that help.
import { describe, expect, test } from "vitest";

import { concat } from "@dragoman/core";
import type {
  ClientDialect,
  EncodeResult,
  NeutralRequest,
  Part,
  ProviderDialect,
  StreamEvent,
  Usage,
} from "@dragoman/core";

import { laws, LawViolation, pairLaws } from "../src/testing/index.ts";
import type { DialectSubject, Law } from "../src/testing/index.ts";
import { anthropicSubject } from "../src/subjects/anthropic-subject.ts";
import { openaiChatSubject } from "../src/subjects/openai-chat-subject.ts";

/** Enough for every mutation below; the seed is fixed. */
const OPTIONS = { runs: 60 };

const withClient = (
  subject: DialectSubject,
  change: (client: ClientDialect) => Partial<ClientDialect>,
): DialectSubject => ({
  ...subject,
  client: { ...subject.client, ...change(subject.client) },
});

const withProvider = (
  subject: DialectSubject,
  change: (provider: ProviderDialect) => Partial<ProviderDialect>,
): DialectSubject => ({ ...subject, provider: { ...subject.provider, ...change(subject.provider) } });

/** A client whose stream encoder sees changed events. */
const encodingEvents = (
  subject: DialectSubject,
  change: (event: StreamEvent) => readonly StreamEvent[],
): DialectSubject =>
  withClient(subject, (client) => ({
    createStreamEncoder: (context, write) => {
      const encoder = client.createStreamEncoder(context, write);
      return {
        encode: (event) => {
          for (const changed of change(event)) {
            const error = encoder.encode(changed);
            if (error !== null) return error;
          }
          return null;
        },
        fail: (error) => {
          encoder.fail(error);
        },
      };
    },
  }));

/** A provider whose stream decoder emits changed events. */
const decodingEvents = (
  subject: DialectSubject,
  change: (event: StreamEvent) => readonly StreamEvent[],
): DialectSubject =>
  withProvider(subject, (provider) => ({
    createStreamDecoder: (context, emit) =>
      provider.createStreamDecoder(context, (event) => {
        for (const changed of change(event)) emit(changed);
      }),
  }));

/** A client that changes what it decoded. */
const decodingRequests = (
  subject: DialectSubject,
  change: (request: NeutralRequest) => NeutralRequest,
): DialectSubject =>
  withClient(subject, (client) => ({
    decodeRequest: (...input) => {
      const decoded = client.decodeRequest(...input);
      return decoded.ok ? { ok: true, request: change(decoded.request) } : decoded;
    },
  }));

/** A provider that changes the result of an encoding. */
const encodingRequests = (subject: DialectSubject, change: (result: EncodeResult) => EncodeResult): DialectSubject =>
  withProvider(subject, (provider) => ({
    encodeRequest: (request, target) => change(provider.encodeRequest(request, target)),
  }));

const changeParts = (request: NeutralRequest, change: (part: Part) => Part): NeutralRequest => ({
  ...request,
  messages: request.messages.map((message) => ({ ...message, parts: message.parts.map((part) => change(part)) })),
});

const rewriteBody = (result: EncodeResult, change: (text: string) => string): EncodeResult => {
  if (!result.ok) return result;
  const body = Buffer.from(change(Buffer.from(concat(result.encoded.body)).toString("utf8")), "utf8");
  return { ...result, encoded: { ...result.encoded, body: { parts: [body], byteLength: body.length } } };
};

interface Mutation {
  readonly name: string;
  readonly laws: () => readonly Law[];
  /** A law that must notice. */
  readonly violates: string;
  /** Words of its message that lead to the mistake. */
  readonly says: RegExp;
}

const own = (subject: DialectSubject) => (): readonly Law[] => laws(subject, OPTIONS);

const isDelta = (event: StreamEvent): boolean => event.type === "text-delta";

/** Lies at every second call: a dry run that depends on what was encoded before it. */
function forgetful(subject: DialectSubject): DialectSubject {
  let calls = 0;
  return encodingRequests(subject, (result) => {
    calls += 1;
    return rewriteBody(result, (text) => (calls % 2 === 0 ? text.replace("{", '{"again":true,') : text));
  });
}

/** Keeps the last record's text and emits it with the next one, when its bytes are no longer lent. */
function hoarding(subject: DialectSubject): DialectSubject {
  let kept: StreamEvent | null = null;
  return decodingEvents(subject, (event) => {
    const earlier = kept;
    kept = isDelta(event) ? event : null;
    const passed = isDelta(event) ? [] : [event];
    return earlier === null ? passed : [earlier, ...passed];
  });
}

const MUTATIONS: readonly Mutation[] = [
  {
    name: "a decoder that drops a member",
    laws: own(decodingRequests(openaiChatSubject, ({ stop: _stop, ...request }) => request)),
    violates: "no member is dropped without a code",
    says: /\/stop.*dropped without a code/,
  },
  {
    name: "a decoder that drops unknown members",
    laws: () =>
      pairLaws(
        decodingRequests(anthropicSubject, (request) => ({ ...request, extensions: [] })),
        openaiChatSubject,
        OPTIONS,
      ),
    violates: "an unknown member is kept or has a code",
    says: /\/zz_unknown: .*dropped without a code/,
  },
  {
    name: "an encoder that doubles a delta",
    laws: own(encodingEvents(openaiChatSubject, (event) => (isDelta(event) ? [event, event] : [event]))),
    violates: "an assembled stream is the complete answer",
    says: /the assembled stream differs/,
  },
  {
    name: "a decoder with a wrong part number",
    laws: own(
      decodingEvents(anthropicSubject, (event) => ["part" in event ? { ...event, part: event.part + 1 } : event]),
    ),
    violates: "a legal stream follows the grammar",
    says: /part 1 starts, but the next number is 0/,
  },
  {
    name: "an encoder that loses signatures",
    laws: own(encodingEvents(anthropicSubject, (event) => (event.type === "signature-delta" ? [] : [event]))),
    violates: "an assembled stream is the complete answer",
    says: /c2ln/,
  },
  {
    name: "a dry run that encodes what it refuses",
    laws: own(
      withProvider(anthropicSubject, (provider) => ({
        encodeRequest: (request, target) => {
          const result = provider.encodeRequest(request, {
            ...target,
            lossyAllow: new Set([...target.lossyAllow, "unknown_field"]),
          });
          return result.ok
            ? {
                ...result,
                issues: [...result.issues, { code: "unknown_field", path: "/x", severity: "drop", detail: "Lost." }],
              }
            : result;
        },
      })),
    ),
    violates: "a dry run is the real encoding",
    says: /it is encoded, although these stand against it: unknown_field \(\/x\)/,
  },
  {
    name: "an encoder with a memory",
    laws: own(forgetful(openaiChatSubject)),
    violates: "a dry run is the real encoding",
    says: /a second encoding differs/,
  },
  {
    name: "a decoder that ends a stream that was cut off",
    laws: own(decodingEvents(anthropicSubject, (event) => [event.type === "error" ? { type: "end" } : event])),
    violates: "a stream that was cut off is never a clean end",
    says: /cut off ends cleanly|has not stopped/,
  },
  {
    name: "a decoder that keeps bytes that were lent",
    laws: own(hoarding(openaiChatSubject)),
    violates: "any cut of the bytes gives the same events",
    says: /the stream in pieces differs/,
  },
  {
    name: "usage whose parts exceed the whole",
    laws: own(
      withProvider(openaiChatSubject, (provider) => ({
        readUsage: (document, context): Usage | null => {
          const usage = provider.readUsage(document, context);
          return usage === null ? null : { ...usage, cacheRead: usage.input + 1 };
        },
      })),
    ),
    violates: "a component of usage never exceeds its total",
    says: /input is \d+, its components add up to \d+/,
  },
  {
    name: "an error that tells the upstream's affairs",
    laws: own(
      withClient(anthropicSubject, (client) => ({
        encodeError: (error, context) =>
          client.encodeError(error.class === "overloaded" ? { ...error, origin: "gateway" } : error, context),
      })),
    ),
    violates: "every class of errors has its status and type",
    says: /the upstream's words about its own affairs reach the client/,
  },
  {
    name: "an error with another class's status",
    laws: own(
      withClient(openaiChatSubject, (client) => ({
        encodeError: (error, context) =>
          client.encodeError(error.class === "quota" ? { ...error, class: "rate-limit" } : error, context),
      })),
    ),
    violates: "every class of errors has its status and type",
    says: /the type differs[^]*"class":"quota"/,
  },
  {
    name: "a translation that changes a call's id",
    laws: () =>
      pairLaws(
        openaiChatSubject,
        encodingRequests(anthropicSubject, (result) =>
          rewriteBody(result, (text) => text.replaceAll('"call_1"', '"call_x"')),
        ),
        OPTIONS,
      ),
    violates: "a translated request means the same",
    says: /no adaptation is declared, but the turns differs/,
  },
  {
    name: "a translation that loses the arguments' spelling",
    laws: own(
      decodingRequests(openaiChatSubject, (request) =>
        changeParts(request, (part) =>
          part.type === "tool-call" && part.kind === "function"
            ? { ...part, arguments: { text: "{}", encoded: true } }
            : part,
        ),
      ),
    ),
    violates: "a request that goes through the neutral form loses nothing",
    says: /the request differs/,
  },
  {
    name: "forwarding that parses and writes again",
    laws: own(
      withProvider(anthropicSubject, (provider) => ({
        forwardRequest: (...input) =>
          rewriteBody(provider.forwardRequest(...input), (text) => JSON.stringify(JSON.parse(text))),
      })),
    ),
    violates: "forwarding changes only what it must",
    says: /a long text is forwarded as a copy|the forwarded request differs/,
  },
  {
    name: "a decoder that throws",
    laws: own(
      withClient(anthropicSubject, (client) => ({
        decodeRequest: (document, ...rest) => {
          const messages = document.member(document.root, "messages");
          if (!document.isArray(messages)) throw new TypeError("messages.map is not a function");
          return client.decodeRequest(document, ...rest);
        },
      })),
    ),
    violates: "a body of the wrong shape is refused with a place, not thrown",
    says: /the dialect threw TypeError: messages\.map/,
  },
  {
    name: "an observer that misses usage",
    laws: own(
      withProvider(openaiChatSubject, (provider) => ({
        createStreamObserver: (...input) => {
          const observer = provider.createStreamObserver(...input);
          return {
            observe: (record) => observer.observe(record),
            finish: () => observer.finish(),
            usage: null,
            stopWord: null,
            get error() {
              return observer.error;
            },
            get isStopped() {
              return observer.isStopped;
            },
          };
        },
      })),
    ),
    violates: "the observer of a forwarded stream sees what the decoder sees",
    says: /what the observer sees differs/,
  },
];

async function violationOf(law: Law): Promise<string | null> {
  try {
    await law.check();
    return null;
  } catch (error) {
    if (!(error instanceof LawViolation)) throw error;
    return error.message;
  }
}

describe("a dialect with a mistake", () => {
  test.each(MUTATIONS)("$name breaks a law that says so", async ({ laws: mutated, violates, says }) => {
    const law = mutated().find(({ name }) => name.includes(violates));
    if (law === undefined) throw new Error(`there is no law "${violates}"`);
    const message = await violationOf(law);
    expect(message).toMatch(says);
    expect(message).toMatch(/input: /i);
  });
});
