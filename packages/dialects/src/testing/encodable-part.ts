// The part of a request that a deployment can encode: what it refuses is taken out, so that the fate of everything else shows. Places
// are always those of the whole body.
import { placesOf, removePlaces } from "./json-places.ts";
import type { JsonObject } from "./spelled-json.ts";

/** A body without what is refused. */
export interface EncodablePart {
  readonly body: JsonObject;
  /** Places that were taken out. */
  readonly removed: ReadonlySet<string>;
}

/** A refusal can uncover another one; no body has as many layers. */
const MAX_ROUNDS = 30;

/**
 * Takes out what is refused until nothing is, or until what is refused has no place of its own. `findRefusals` gives the places that
 * stand against a body, or null for a body that is no request any more.
 */
export function encodablePart(
  whole: JsonObject,
  findRefusals: (body: JsonObject) => readonly string[] | null,
): EncodablePart {
  const places = new Set(placesOf(whole));
  let part: EncodablePart = { body: whole, removed: new Set() };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const refused = findRefusals(part.body) ?? [];
    const found = refused.map((place) => restorePlace(place, part.removed)).filter((place) => places.has(place));
    if (found.length === 0) return part;
    const removed = new Set([...part.removed, ...found]);
    const body = removePlaces(whole, [...removed]);
    // Without it the rest is no request: then the whole is all there is to look at.
    if (findRefusals(body) === null) return part;
    part = { body, removed };
  }
  return part;
}

/** A place in what is left of a body, as a place of the whole body: elements before it may be gone. */
export function restorePlace(place: string, removed: ReadonlySet<string>): string {
  let at = "";
  for (const step of place.split("/").slice(1)) {
    if (!/^\d+$/.test(step)) at += `/${step}`;
    else {
      let index = 0;
      for (let left = Number(step); left > 0 || removed.has(`${at}/${index}`); index++)
        if (!removed.has(`${at}/${index}`)) left -= 1;
      at += `/${index}`;
    }
  }
  return at;
}

/** Whether a place lies in what was taken out. */
export function isRemoved(place: string, removed: ReadonlySet<string>): boolean {
  return [...removed].some((gone) => place === gone || place.startsWith(`${gone}/`));
}
