// Laws of requests within one dialect: nothing is lost on the way through the neutral form, forwarding keeps the client's bytes, and a
// body of the wrong shape is refused as a value.
import { isSlice } from "@dragoman/core";
import type { EncodeResult } from "@dragoman/core";
import fc from "fast-check";

import { bodyOf, mustRead, readRequest, targetOf } from "./exchange.ts";
import { ensure, forAll, requireSame } from "./law.ts";
import type { Law, LawOptions } from "./law.ts";
import { placesOf, replaceAt } from "./json-places.ts";
import { spelledJson } from "./spelled-json.ts";
import type { JsonObject, JsonValue } from "./spelled-json.ts";
import type { DialectSubject } from "./subject.ts";

const NOTHING: ReadonlySet<string> = new Set();
/** Above the length below which encoders may copy. */
const LONG_TEXT = "long text ".repeat(800);

/** Laws of one dialect's requests. */
export function requestLaws(subject: DialectSubject, options: LawOptions): readonly Law[] {
  const { client, provider } = subject;
  const own = targetOf(subject, NOTHING);
  return [
    forAll(
      `${client.id}: a request that goes through the neutral form loses nothing`,
      subject.requests,
      options,
      (body) => {
        const source = JSON.stringify(body);
        const result = provider.encodeRequest(mustRead(subject, source).request, own);
        ensure(result.ok, () => `its own dialect refuses it: ${listIssues(result)}`);
        const again = spelledJson(bodyOf(result) ?? "null");
        requireSame(subject.canonicalRequest(again), subject.canonicalRequest(spelledJson(source)), "the request");
      },
    ),
    forAll(
      `${client.id}: forwarding changes only what it must`,
      fc.tuple(subject.requests, fc.constantFrom(0, 1, 3)),
      options,
      ([body, indent]) => {
        const source = Buffer.from(JSON.stringify(withLongText(body), null, indent), "utf8");
        const { document, head } = mustRead(subject, source);
        const result = provider.forwardRequest(document, head, "generate", [], own);
        ensure(result.ok, () => `a valid request is not forwarded: ${listIssues(result)}`);
        requireSame(
          spelledJson(bodyOf(result) ?? "null"),
          subject.forwardedRequest(spelledJson(source), own.model),
          "the forwarded request",
        );
        const kept = keptRanges(result, source);
        let end = 0;
        for (const range of kept) {
          ensure(range.start >= end, () => "the client's bytes are forwarded out of order");
          end = range.end;
        }
        const total = kept.reduce((sum, range) => sum + range.end - range.start, 0);
        ensure(total >= LONG_TEXT.length, () => "a long text is forwarded as a copy");
      },
    ),
    forAll(
      `${client.id}: texts of the neutral request lie in the client's bytes`,
      subject.requests,
      options,
      (body) => {
        const source = Buffer.from(JSON.stringify(withLongText(body)), "utf8");
        const { request, document } = mustRead(subject, source);
        let longest = 0;
        for (const slice of slicesOf(request)) {
          ensure(
            slice.start >= 0 && slice.start <= slice.end && slice.end <= slice.bytes.length,
            () => "a slice is out of its buffer",
          );
          if (slice.bytes.buffer === document.bytes.buffer) longest = Math.max(longest, slice.end - slice.start);
        }
        ensure(longest >= LONG_TEXT.length, () => "a long text is not a reference into the client's bytes");
        const result = provider.encodeRequest(request, own);
        if (result.ok)
          ensure(
            keptRanges(result, source).some((range) => range.end - range.start >= LONG_TEXT.length),
            () => "a long text is encoded as a copy",
          );
      },
    ),
    forAll(
      `${client.id}: a body of the wrong shape is refused with a place, not thrown`,
      fc.tuple(
        subject.requests,
        fc.nat(200),
        fc.constantFrom<JsonValue>(null, true, 7, "x", [], {}, [null], [[]], { type: 1 }, ""),
      ),
      options,
      ([body, place, value]) => {
        const places = placesOf(body);
        const pointer = places[place % places.length] ?? "";
        const source = JSON.stringify(replaceAt(body, pointer, value));
        const result = readRequest(subject, source);
        if (!result.ok) {
          requireSame([result.error.class, result.error.origin], ["invalid-request", "client"], "the refusal");
          ensure(result.error.message.length > 0, () => "the refusal says nothing");
          return;
        }
        provider.encodeRequest(result.read.request, own);
        const { document, head } = result.read;
        provider.forwardRequest(document, head, "generate", [], own);
      },
    ),
  ];
}

const listIssues = (result: EncodeResult): string =>
  result.issues
    .filter(({ severity }) => severity !== "adapt")
    .map(({ code, path }) => `${code} (${path})`)
    .join(", ");

/** Appends a user's turn with a long text, in the form that both string contents and lists allow. */
function withLongText(body: JsonObject): JsonObject {
  const messages = body["messages"];
  if (!Array.isArray(messages)) return { ...body, input: LONG_TEXT };
  const list = messages as readonly JsonValue[];
  return { ...body, messages: [...list, { role: "assistant", content: "Hm." }, { role: "user", content: LONG_TEXT }] };
}

/** Pieces of an encoding that are the client's own memory, as ranges of its body. */
function keptRanges(result: EncodeResult, source: Buffer): readonly { readonly start: number; readonly end: number }[] {
  if (!result.ok) return [];
  return result.encoded.body.parts
    .filter((part) => part.buffer === source.buffer)
    .map((part) => ({
      start: part.byteOffset - source.byteOffset,
      end: part.byteOffset - source.byteOffset + part.length,
    }))
    .filter(({ start, end }) => start >= 0 && end <= source.length);
}

/** Every slice inside a value. */
function* slicesOf(
  value: unknown,
): Generator<{ readonly bytes: Uint8Array; readonly start: number; readonly end: number }> {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  const candidate = value as Parameters<typeof isSlice>[0];
  if (isSlice(candidate)) {
    yield candidate;
    return;
  }
  for (const inner of Object.values(value)) yield* slicesOf(inner);
}
