// Everything that the scripted upstream can do wrong, as one union. A behaviour carries a list of faults; they combine where
// that makes sense (a slow, gzip-coded stream that is cut), and each says which part of the answer it changes.

/** Bytes in a script: text is written as Latin-1, so that every byte can be spelled. */
export type ScriptedBytes = string | Uint8Array;

/** How a connection ends: `reset` sends RST, `end` sends FIN. */
export type Hangup = "reset" | "end";

/** One thing that goes wrong. */
export type Fault =
  /** Another status line and body instead of the answer. `huge` is an error message of 1 MB. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly reason?: string;
      readonly body: "json" | "html" | "text" | "huge" | "empty";
    }
  /** Extra or doubled response headers, as given. */
  | { readonly kind: "headers"; readonly add: readonly (readonly [string, string])[] }
  /** An error record inside a stream that began with 200; 0 is the very first record. The stream ends behind it. */
  | { readonly kind: "error-record"; readonly afterRecords: number; readonly status: number; readonly message?: string }
  /** The connection goes when `bytes` bytes of the response, head included, are written. */
  | { readonly kind: "cut"; readonly bytes: number; readonly by: Hangup }
  /** The connection goes after `records` pieces of the body: events of a stream, or the one piece of a whole answer. */
  | { readonly kind: "cut-after"; readonly records: number; readonly by: Hangup }
  /** Silence until `release()` or until the socket closes: before the head, behind it, or behind some pieces. */
  | { readonly kind: "stall"; readonly after: "request" | "head" | number }
  /** A pause before every piece of the body, measured by the upstream's `delay` port. */
  | { readonly kind: "slow"; readonly delayMs: number }
  /** Every write holds at most this many bytes; 1 is byte by byte. */
  | { readonly kind: "split"; readonly bytes: number }
  /** A body far over any limit, generated lazily: one text of a whole answer, one record, many records, a line without end. */
  | {
      readonly kind: "oversize";
      readonly what: "text" | "record" | "records" | "line" | "comments";
      readonly bytes: number;
    }
  /** A body that is not what it should be, with status 200; `record` puts it into one record behind the first of a stream. */
  | { readonly kind: "garbage"; readonly what: GarbageKind; readonly as?: "body" | "record" }
  /** A body given byte for byte, under the usual head. */
  | { readonly kind: "body"; readonly bytes: ScriptedBytes }
  /** Another content type, or none. */
  | { readonly kind: "content-type"; readonly value: string | null }
  /** The body is gzip-coded and says so; `bomb` replaces it with that many zero bytes. */
  | { readonly kind: "gzip"; readonly bombBytes?: number }
  /** The answer is given before the request body was read: behind its head, or behind some bytes of the body. */
  | {
      readonly kind: "early";
      readonly afterBodyBytes: number;
      readonly afterwards: "read-on" | "stop-reading" | "hang-up";
    }
  /** A response head given byte for byte; the usual body follows, without any framing of our own. */
  | { readonly kind: "raw-head"; readonly bytes: ScriptedBytes }
  /** A whole response given byte for byte. */
  | { readonly kind: "raw"; readonly bytes: ScriptedBytes; readonly afterwards: Hangup | "keep" }
  /** Interim responses before the answer; they go on until the client leaves when the count is Infinity. */
  | { readonly kind: "interim"; readonly status: number; readonly count: number }
  /** Trailer fields behind the chunked body. */
  | { readonly kind: "trailers"; readonly fields: readonly (readonly [string, string])[] }
  /** Bytes behind the complete answer on the kept connection: in the same write, or when `release()` is called. */
  | { readonly kind: "extra-bytes"; readonly bytes: ScriptedBytes; readonly when: "at-once" | "on-release" }
  /** The ending is left out: the stop reason, the last record (`[DONE]`, `message_stop`), or both. */
  | { readonly kind: "omit"; readonly what: "finish" | "end" | "both" }
  /** Usage is missing, doubled, or put into the content chunks (chat streams). */
  | { readonly kind: "usage"; readonly mode: "none" | "twice" | "in-content" }
  /** Another legal spelling of the event stream. */
  | {
      readonly kind: "spelling";
      readonly lineEnd?: "\n" | "\r\n" | "\r";
      readonly comments?: boolean;
      readonly bom?: boolean;
      readonly space?: boolean;
    }
  /** The body's end is the end of the connection: neither length nor chunks. */
  | { readonly kind: "until-close" };

/** Kinds of garbage. */
export type GarbageKind =
  | "text"
  | "html"
  | "invalid-utf8"
  | "null"
  | "array"
  | "number"
  | "empty"
  | "deep"
  | "truncated-json"
  | "duplicate-names";

/** Finds the fault of a kind, or undefined. The first of a kind wins. */
export function findFault<K extends Fault["kind"]>(
  faults: readonly Fault[],
  kind: K,
): Extract<Fault, { kind: K }> | undefined {
  for (const fault of faults) if (isKind(fault, kind)) return fault;
  return undefined;
}

function isKind<K extends Fault["kind"]>(fault: Fault, kind: K): fault is Extract<Fault, { kind: K }> {
  return fault.kind === kind;
}

/** Gives the bytes of a script. */
export function bytesOf(bytes: ScriptedBytes): Buffer {
  return typeof bytes === "string" ? Buffer.from(bytes, "latin1") : Buffer.from(bytes);
}
