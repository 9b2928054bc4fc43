// Flat header lists, as the engine gives them, in the form that WHATWG `Headers` take.

import type { HeaderList } from "@dragoman/core";

/** Names and values side by side become pairs; repeated names stay repeated. */
export function pairsOf(headers: HeaderList): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < headers.length; index += 2)
    pairs.push([headers[index] as string, headers[index + 1] as string]);
  return pairs;
}
