// Bodies far over any limit, generated lazily: memory stays at one block, whatever the size.
import type { RenderOptions, ScriptedAnswer, ScriptedRecord } from "./answer.ts";
import { renderChatStream, renderChatWhole } from "./answers-chat.ts";
import { renderMessageStream, renderMessageWhole } from "./answers-messages.ts";
import type { ScriptedDialect } from "./error-envelopes.ts";
import type { Fault } from "./faults.ts";
import { fillText } from "./garbage.ts";
import { PLAIN_SPELLING, spellRecord } from "./sse-text.ts";

/** Stands in a rendered answer where the filling goes. */
const PLACE = "SCRIPTED-FILLING";
const RECORD_BYTES = 16 * 1024;

const ANSWER: ScriptedAnswer = { text: PLACE, stop: "end", usage: { input: 1, output: 1 }, deltas: 1 };

function* fill(rendered: string, bytes: number): Generator<Buffer> {
  const place = rendered.indexOf(PLACE);
  yield Buffer.from(rendered.slice(0, place));
  for (const block of fillText(bytes)) yield Buffer.from(block);
  yield Buffer.from(rendered.slice(place + PLACE.length));
}

/** A whole answer whose text has `bytes` bytes. */
export function oversizeText(dialect: ScriptedDialect, options: RenderOptions, bytes: number): Iterable<Buffer> {
  const rendered = dialect === "chat" ? renderChatWhole(ANSWER, options) : renderMessageWhole(ANSWER, options);
  return fill(rendered, bytes);
}

/** A stream that is oversized in the way the fault says; around it stand the usual first and last records. */
export function* oversizeRecords(
  dialect: ScriptedDialect,
  options: RenderOptions,
  fault: Extract<Fault, { kind: "oversize" }>,
): Generator<Buffer> {
  const records = dialect === "chat" ? renderChatStream(ANSWER, options) : renderMessageStream(ANSWER, options);
  for (const record of records) {
    if (record.data.includes(PLACE)) yield* oversizePart(record, fault);
    else yield spellRecord(record, PLAIN_SPELLING);
  }
}

function* oversizePart(record: ScriptedRecord, fault: Extract<Fault, { kind: "oversize" }>): Generator<Buffer> {
  switch (fault.what) {
    case "text":
    case "record":
      yield* fill(spellRecord(record, PLAIN_SPELLING).toString("utf8"), fault.bytes);
      return;
    case "records":
      yield* manyRecords(record, fault.bytes);
      return;
    case "line":
      yield Buffer.from("data: ");
      for (const block of fillText(fault.bytes)) yield Buffer.from(block);
      return;
    case "comments":
      yield* manyComments(fault.bytes);
  }
}

function* manyRecords(record: ScriptedRecord, bytes: number): Generator<Buffer> {
  const data = record.data.replace(PLACE, "x".repeat(RECORD_BYTES));
  const spelled = spellRecord({ ...record, data }, PLAIN_SPELLING);
  for (let left = bytes; left > 0; left -= RECORD_BYTES) yield spelled;
}

function* manyComments(bytes: number): Generator<Buffer> {
  const block = Buffer.from(": scripted\n".repeat(1000));
  for (let left = bytes; left > 0; left -= block.length) yield block;
}
