/** Text keys for equality of plain data: the order of members does not matter, the order of lists does. */

/** Equal texts for equal data. For keys only; it is no canonical form of JSON text. */
export function canonicalKey(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalKey).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalKey(member)}`).join(",")}}`;
}
