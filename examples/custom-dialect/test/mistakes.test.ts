// The laws are worth what they catch: dialects with one mistake each, made of the one that passes.
import { expect, test } from "vitest";

import { concat } from "@dragoman/core";
import type { ProviderDialect } from "@dragoman/core";
import { openaiChatSubject } from "@dragoman/dialects/subjects";
import { LawViolation, pairLaws, providerLaws } from "@dragoman/dialects/testing";

import { ollama } from "../ollama/ollama.ts";
import { ollamaSubject } from "./ollama-subject.ts";

interface Mistake {
  readonly name: string;
  readonly change: Partial<ProviderDialect>;
  /** A law that must notice, and words that lead to the mistake. */
  readonly violates: string;
  readonly says: RegExp;
}

const MISTAKES: readonly Mistake[] = [
  {
    name: "a member that is silently lost",
    change: {
      encodeRequest: (request, target) => {
        const { seed: _seed, ...sampling } = request.sampling;
        return ollama.encodeRequest({ ...request, sampling }, target);
      },
    },
    violates: "no member is dropped without a code",
    says: /\/seed: .*dropped without a code/,
  },
  {
    name: "a result that answers the wrong call",
    change: {
      encodeRequest: (request, target) => {
        const result = ollama.encodeRequest(request, target);
        if (!result.ok) return result;
        const text = Buffer.from(concat(result.encoded.body)).toString("utf8");
        const body = Buffer.from(text.replaceAll('"tool_call_id":"call_', '"tool_call_id":"call_9'), "utf8");
        return { ...result, encoded: { ...result.encoded, body: { parts: [body], byteLength: body.length } } };
      },
    },
    violates: "a translated request means the same",
    says: /no adaptation is declared, but the turns differs/,
  },
  {
    name: "a stream that was cut off and ends cleanly",
    change: {
      createStreamDecoder: (context, emit) => {
        const decoder = ollama.createStreamDecoder(context, (event) =>
          emit(event.type === "error" ? { type: "end" } : event),
        );
        return decoder;
      },
    },
    violates: "a stream that was cut off is never a clean end",
    says: /has not stopped|cut off ends cleanly/,
  },
  {
    name: "a decoder that keeps the bytes of a line",
    change: {
      createStreamDecoder: (context, emit) => {
        const held: Parameters<typeof emit>[0][] = [];
        const decoder = ollama.createStreamDecoder(context, (event) => {
          held.push(event);
          if (event.type === "end" || event.type === "error") for (const late of held) emit(late);
        });
        return decoder;
      },
    },
    violates: "any cut of the bytes gives the same events",
    says: /the stream in pieces differs/,
  },
  {
    name: "an error of the wrong class",
    change: { classifyError: (answer, context) => ({ ...ollama.classifyError(answer, context), class: "quota" }) },
    violates: "an upstream's error has its class",
    says: /the class differs/,
  },
];

test.each(MISTAKES)("$name breaks a law that says so", async ({ change, violates, says }) => {
  const subject = { ...ollamaSubject("plain"), provider: { ...ollama, ...change } };
  const law = [...providerLaws(subject), ...pairLaws(openaiChatSubject, subject)].find(({ name }) =>
    name.includes(violates),
  );
  const violation: unknown = await Promise.resolve()
    .then(() => law?.check())
    .catch((error: unknown) => error);
  expect(violation).toBeInstanceOf(LawViolation);
  expect((violation as LawViolation).message).toMatch(says);
});
