// Laws of translating requests from one dialect to another, or through the neutral form of one: a dry run is the real encoding, nothing
// is dropped without a code, and what was translated means the same when it is read again.
import { REASON_CODES } from "@dragoman/core";
import type { EncodeResult, EncodeTarget } from "@dragoman/core";
import fc from "fast-check";

import { encodablePart, isRemoved, restorePlace } from "./encodable-part.ts";
import { bodyOf, mustRead, readBack, readRequest, targetOf } from "./exchange.ts";
import { addMember, membersOf, objectsOf, removePlaces, valueAt } from "./json-places.ts";
import { ensure, forAll, forEach, requireSame } from "./law.ts";
import type { Law, LawOptions } from "./law.ts";
import { ASPECTS_OF_ADAPTATIONS, meaningOf } from "./meaning.ts";
import { documentOf } from "./spelled-json.ts";
import type { JsonObject, JsonValue } from "./spelled-json.ts";
import type { DialectSubject, ProviderSubject } from "./subject.ts";

const NOTHING: ReadonlySet<string> = new Set();
const EVERYTHING: ReadonlySet<string> = new Set(REASON_CODES);

/** Laws of requests that clients of `from` send and deployments of `to` serve; both may be one dialect. */
export function requestPairLaws(
  from: DialectSubject,
  to: DialectSubject | ProviderSubject,
  options: LawOptions,
): readonly Law[] {
  const pair = `${from.client.id} → ${to.provider.id}`;
  const encode = (body: JsonValue, target: EncodeTarget): EncodeResult =>
    to.provider.encodeRequest(mustRead(from, JSON.stringify(body)).request, target);
  const strict = targetOf(to, NOTHING);
  const lenient = targetOf(to, EVERYTHING);
  const allowances = fc.oneof(
    fc.constant(strict),
    fc.constant(lenient),
    fc.subarray([...REASON_CODES]).map((codes) => targetOf(to, new Set(codes))),
  );

  const isHome = from.client.id === to.provider.id;
  const neutralHere = "client" in to ? [] : (to.neutralMembers ?? []);
  const isNeutral = (pointer: string, { issues }: EncodeResult): boolean =>
    [...from.neutralMembers, ...neutralHere].some(
      (neutral) =>
        neutral.pointer.test(pointer) &&
        (neutral.isNeutralAtHome || !isHome) &&
        (neutral.underCode === undefined || issues.some(({ code }) => code === neutral.underCode)),
    );
  const findRefusals = (body: JsonObject): readonly string[] | null => {
    const read = readRequest(from, JSON.stringify(body));
    if (!read.ok) return null;
    const { issues } = to.provider.encodeRequest(read.read.request, lenient);
    return issues.filter(({ severity }) => severity === "reject").map(({ path }) => path);
  };
  const isUnknownLost = (body: JsonObject, holder: string): boolean => {
    const read = readRequest(from, JSON.stringify(addMember(body, holder, UNKNOWN, { a: [1.5] })));
    if (!read.ok) return false;
    const result = to.provider.encodeRequest(read.read.request, lenient);
    const pointer = `${holder}/${UNKNOWN}`;
    if (isNeutral(pointer, result) || isAccounted(result, pointer)) return false;
    const plain = encode(body, lenient);
    // A refused request has no bytes in which the member could be seen.
    return plain.ok && JSON.stringify(outcomeOf(result)) === JSON.stringify(outcomeOf(plain));
  };

  return [
    forAll(
      `${pair}: a dry run is the real encoding`,
      fc.tuple(from.requests, from.requests, allowances),
      options,
      ([body, other, target]) => {
        const first = encode(body, target);
        checkVerdict(first, target);
        encode(other, target);
        const { request } = mustRead(from, JSON.stringify(body));
        for (const again of [to.provider.encodeRequest(request, target), to.provider.encodeRequest(request, target)]) {
          requireSame(outcomeOf(again), outcomeOf(first), "a second encoding");
        }
        const bytes = bodyOf(first);
        if (bytes !== null) documentOf(bytes);
      },
    ),
    forEach(`${pair}: no member is dropped without a code`, from.fullRequests, (body) => {
      const { body: part, removed } = encodablePart(body, findRefusals);
      const full = encode(part, lenient);
      const fullText = JSON.stringify(outcomeOf(full));
      const lost = membersOf(body).filter((pointer) => {
        if (isRemoved(pointer, removed)) return false;
        // Null is absent in every dialect.
        if (valueAt(body, pointer) === null || isNeutral(pointer, full) || isAccounted(full, pointer, removed))
          return false;
        const without = readRequest(from, JSON.stringify(removePlaces(body, [...removed, pointer])));
        if (!without.ok) return false;
        return JSON.stringify(outcomeOf(to.provider.encodeRequest(without.read.request, lenient))) === fullText;
      });
      const hint = full.ok
        ? ""
        : ". The body is refused as a whole, so only issues show: take the refused member into a body of its own";
      ensure(lost.length === 0, () => `${lost.join(", ")}: ${SILENT}${hint}`);
    }),
    forEach(`${pair}: an unknown member of any object is kept or has a code`, from.fullRequests, (body) => {
      const { body: part } = encodablePart(body, findRefusals);
      const lost = objectsOf(part).filter((holder) => isUnknownLost(part, holder));
      ensure(lost.length === 0, () => `${lost.map((holder) => `${holder}/${UNKNOWN}`).join(", ")}: ${SILENT}`);
    }),
    forAll(
      `${pair}: an unknown member is kept or has a code`,
      fc.tuple(from.requests, fc.nat(100)),
      options,
      ([body, place]) => {
        const objects = objectsOf(body);
        const holder = objects[place % objects.length] ?? "";
        ensure(!isUnknownLost(body, holder), () => `${holder}/${UNKNOWN}: ${SILENT}`);
      },
    ),
    forAll(`${pair}: a translated request means the same`, from.requests, options, (body) => {
      const { request } = mustRead(from, JSON.stringify(body));
      const result = to.provider.encodeRequest(request, strict);
      if (!result.ok) return;
      const again = readBack(to, bodyOf(result) ?? Buffer.from("null"));
      const declared = new Set(result.issues.flatMap(({ code }) => ASPECTS_OF_ADAPTATIONS[code] ?? []));
      const before = meaningOf(request) as JsonObject;
      const after = meaningOf(again) as JsonObject;
      for (const aspect of Object.keys(before)) {
        if (!declared.has(aspect))
          requireSame(after[aspect], before[aspect], `no adaptation is declared, but the ${aspect}`);
      }
    }),
  ];
}

/** A member that no dialect knows. */
const UNKNOWN = "zz_unknown";
const SILENT =
  "it makes no difference and has no issue: it is dropped without a code (or it is neutral and the subject does not say so)";

/** Whether an issue speaks of this member, or of the value that holds it; the whole body or message is too large to count. */
const isAccounted = ({ issues }: EncodeResult, pointer: string, removed: ReadonlySet<string> = new Set()): boolean =>
  issues.some(({ path }) => {
    if (path === "" || /^\/messages(?:\/\d+)?$/.test(path)) return false;
    const place = restorePlace(path, removed);
    return pointer === place || pointer.startsWith(`${place}/`);
  });

/** A result as one comparable value: bytes, path, headers, issues. */
function outcomeOf(result: EncodeResult): JsonValue {
  const issues = result.issues.map(({ code, path, severity }) => [code, path, severity]);
  if (!result.ok) return { issues };
  return {
    body: bodyOf(result)?.toString("utf8") ?? "",
    path: result.encoded.path,
    headers: result.encoded.headers,
    issues,
  };
}

/** An encoding is refused exactly when an issue stands against it. */
function checkVerdict(result: EncodeResult, { lossyAllow }: EncodeTarget): void {
  const against = result.issues.filter(
    ({ code, severity }) => severity === "reject" || (severity === "drop" && !lossyAllow.has(code)),
  );
  const list = against.map(({ code, path }) => `${code} (${path})`).join(", ");
  if (result.ok) ensure(against.length === 0, () => `it is encoded, although these stand against it: ${list}`);
  else ensure(against.length > 0, () => "it is refused, but no issue says why");
  for (const { path, detail } of result.issues) {
    ensure(
      path === "" || path.startsWith("/") || path.startsWith("header:"),
      () => `"${path}" is no place in the client's request`,
    );
    ensure(detail.length > 0, () => "an issue has no detail");
  }
}
