/** Tells which incarnations in a journal's folder are dead. Whoever still writes is left alone. */
import type { JournalFiles } from "./journal-files.ts";
import { parseStamp, STALE_MS, type Processes } from "./process-stamp.ts";
import { groupSegments, type SegmentName } from "./segment-names.ts";

/** What incarnations are judged by. */
export interface JudgeParts {
  readonly files: JournalFiles;
  readonly processes: Processes;
  /** The live incarnation that asks, and a file of it that was touched just now: its time is the time of the file system. */
  readonly own: string;
  readonly ownFile: () => string;
}

/** Files of other incarnations. */
export interface FoundIncarnations {
  readonly dead: readonly (readonly SegmentName[])[];
  /** Incarnations whose process lives, or may. */
  readonly alive: readonly string[];
}

/** An incarnation's name: the stamp of its process, and what tells it from others of the same process. */
export function incarnationName(stamp: string, suffix: string): string {
  return `${stamp}.${suffix}`;
}

export async function findIncarnations(parts: JudgeParts): Promise<FoundIncarnations> {
  const dead: (readonly SegmentName[])[] = [];
  const alive: string[] = [];
  for (const [incarnation, segments] of groupSegments(await parts.files.list())) {
    if (incarnation === parts.own) continue;
    if (await isAlive(parts, incarnation, segments)) alive.push(incarnation);
    else dead.push(segments);
  }
  return { dead, alive };
}

async function isAlive(parts: JudgeParts, incarnation: string, segments: readonly SegmentName[]): Promise<boolean> {
  const stamp = parseStamp(incarnation.slice(0, Math.max(incarnation.lastIndexOf("."), 0)));
  if (stamp === null) return false;
  const known = parts.processes.isAlive(stamp);
  if (known !== null) return known;
  const last = segments.at(-1);
  if (last === undefined) return false;
  const nowMs = await modifiedMs(parts.files, parts.ownFile());
  return nowMs - (await modifiedMs(parts.files, last.name)) < STALE_MS;
}

async function modifiedMs(files: JournalFiles, name: string): Promise<number> {
  const file = await files.open(name);
  try {
    return await file.modifiedMs();
  } finally {
    await file.close();
  }
}
