// Chooses the record reader for the framing that a provider dialect declares.

import type { ProviderDialect } from "../dialect/index.ts";
import { LineReader } from "./ndjson-reader.ts";
import type { RecordReader, RecordReaderOptions } from "./record.ts";
import { SseReader } from "./sse-reader.ts";

/** A reader for one stream of the given framing. */
export function createRecordReader(framing: ProviderDialect["framing"], options: RecordReaderOptions): RecordReader {
  switch (framing) {
    case "sse":
      return new SseReader(options);
    case "ndjson":
      return new LineReader(options);
  }
}
