/** Names of a journal's files: `<incarnation>-<number>.journal`. Numbers grow and are never used again. */

const SEGMENT_NAME = /^([A-Za-z0-9.]+)-(\d{1,9})\.journal$/;
const NUMBER_LENGTH = 6;

/** A file of a journal. */
export interface SegmentName {
  readonly name: string;
  readonly incarnation: string;
  readonly number: number;
}

export function segmentName(incarnation: string, number: number): string {
  return `${incarnation}-${String(number).padStart(NUMBER_LENGTH, "0")}.journal`;
}

/** The files of every incarnation, in the order in which they were written. Other files are left out. */
export function groupSegments(names: readonly string[]): ReadonlyMap<string, readonly SegmentName[]> {
  const groups = new Map<string, SegmentName[]>();
  for (const name of names) {
    const [, incarnation, digits] = SEGMENT_NAME.exec(name) ?? [];
    if (incarnation === undefined || digits === undefined) continue;
    const group = groups.get(incarnation) ?? [];
    group.push({ name, incarnation, number: Number(digits) });
    groups.set(incarnation, group);
  }
  for (const group of groups.values()) group.sort((one, other) => one.number - other.number);
  return groups;
}
