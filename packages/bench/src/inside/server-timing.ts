// Reads `server-timing` (W3C Server Timing): entries by comma, parameters by semicolon, values may be quoted.

/** One entry with a duration. */
export interface ServerTiming {
  readonly metric: string;
  readonly durationMs: number;
}

const ENTRY = /\s*([^\s,;="]+)((?:\s*;\s*[^\s,;="]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s,;"]*))?)*)\s*(?:,|$)/y;
const DURATION = /;\s*dur\s*=\s*"?(\d+(?:\.\d+)?)/i;
/** A duration inside of a quoted description is no duration. */
const DESCRIPTION = /;\s*desc\s*=\s*"(?:[^"\\]|\\.)*"/gi;

/** The entries of a header value that have a duration; what is malformed, and all that follows it, is left out. */
export function parseServerTiming(value: string): ServerTiming[] {
  const timings: ServerTiming[] = [];
  const entries = new RegExp(ENTRY);
  for (let match = entries.exec(value); match !== null && match[0] !== ""; match = entries.exec(value)) {
    const [, metric = "", parameters = ""] = match;
    const duration = DURATION.exec(parameters.replaceAll(DESCRIPTION, ""))?.[1];
    if (duration !== undefined) timings.push({ metric, durationMs: Number(duration) });
  }
  return timings;
}
