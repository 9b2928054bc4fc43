/** Which reader an upstream's answer gets, by status, content type and what the client asked for. */
import { findHeader, type HeaderList } from "../dialect/index.ts";
import type { NeutralError, Operation } from "../ir/index.ts";
import { ForwardStreamReader } from "./answer-forward-stream.ts";
import type { AnswerReader, ReaderOptions } from "./answer-reader.ts";
import { TranslateStreamReader } from "./answer-translate-stream.ts";
import { CountReader, ForwardWholeReader, StreamedWholeReader, TranslateWholeReader } from "./answer-whole.ts";
import { brokenAnswer } from "./failures.ts";

/** What the choice depends on beside the answer's head. */
export interface ReaderChoice {
  readonly operation: Operation;
  /** The client asked for a stream. */
  readonly isStream: boolean;
  /** The client speaks the deployment's dialect. */
  readonly isForward: boolean;
}

/** A reader, or why the answer is of no use. Error statuses (400 and above) are not this function's business. */
export type ChosenReader =
  | { readonly ok: true; readonly reader: AnswerReader }
  | { readonly ok: false; readonly error: NeutralError };

/** Chooses the reader of an answer without an error status. */
export function chooseReader(
  status: number,
  headers: HeaderList,
  choice: ReaderChoice,
  options: ReaderOptions,
): ChosenReader {
  // A redirect is never followed: the destination would be the upstream's choice.
  if (status !== 200)
    return {
      ok: false,
      error: { ...brokenAnswer(`The provider answered with the unexpected status ${status}.`), retrySame: false },
    };
  const kind = contentKind(findHeader(headers, "content-type"));
  const { isStream, isForward, operation } = choice;
  const isRewritten =
    !isForward || options.taps?.writes === true || options.provider.normalizesAnswers(options.decodeContext.profile);
  if (kind === "stream" && isStream)
    return { ok: true, reader: isRewritten ? new TranslateStreamReader(options) : new ForwardStreamReader(options) };
  if (kind !== "json")
    return { ok: false, error: brokenAnswer("The provider's answer has an unexpected content type.") };
  if (operation === "count-tokens") return { ok: true, reader: new CountReader(options) };
  if (isStream) return { ok: true, reader: new StreamedWholeReader(options) };
  return { ok: true, reader: isRewritten ? new TranslateWholeReader(options) : new ForwardWholeReader(options) };
}

/** What a `content-type` announces; a missing one may be JSON, which its bytes then show. */
function contentKind(contentType: string | undefined): "stream" | "json" | "other" {
  if (contentType === undefined) return "json";
  const semicolon = contentType.indexOf(";");
  const mediaType = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  if (mediaType === "text/event-stream" || mediaType === "application/x-ndjson") return "stream";
  return mediaType === "application/json" || mediaType.endsWith("+json") ? "json" : "other";
}
