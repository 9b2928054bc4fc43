// Turns records into the bytes of an event stream (WHATWG HTML, event stream interpretation), in every legal spelling.
import type { ScriptedRecord } from "./answer.ts";

/** How an event stream is spelled. */
export interface SseSpelling {
  readonly lineEnd: "\n" | "\r\n" | "\r";
  /** A comment line is written before every record. */
  readonly comments: boolean;
  /** The stream begins with a byte order mark. */
  readonly bom: boolean;
  /** Each field's colon is followed by a space. */
  readonly space: boolean;
}

/** The usual spelling: LF, no comments, no mark, a space after the colon. */
export const PLAIN_SPELLING: SseSpelling = { lineEnd: "\n", comments: false, bom: false, space: true };

/** Spells one record, with the empty line that ends it. */
export function spellRecord(record: ScriptedRecord, spelling: SseSpelling): Buffer {
  const { lineEnd } = spelling;
  const colon = spelling.space ? ": " : ":";
  const comment = spelling.comments ? `: scripted comment${lineEnd}${lineEnd}` : "";
  const event = record.event === null ? "" : `event${colon}${record.event}${lineEnd}`;
  return Buffer.from(`${comment}${event}data${colon}${record.data}${lineEnd}${lineEnd}`, "utf8");
}

/** Spells a sequence of records lazily, one buffer a record. */
export function* spellRecords(records: Iterable<ScriptedRecord>, spelling: SseSpelling): Generator<Buffer> {
  let mark = spelling.bom ? Buffer.from([0xef, 0xbb, 0xbf]) : null;
  for (const record of records) {
    const bytes = spellRecord(record, spelling);
    yield mark === null ? bytes : Buffer.concat([mark, bytes]);
    mark = null;
  }
}
