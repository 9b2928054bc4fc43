// The client of the tour: one request over a real socket, read to its end, and what can be told about the answer.
import { request as httpRequest } from "node:http";
import type { IncomingHttpHeaders } from "node:http";

/** The two dialects that the tour's clients speak. */
export type TourDialect = "chat" | "messages";

/** One request of the tour. */
export interface TourRequest {
  readonly dialect: TourDialect;
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string };
}

/** One server-sent event of an answer. */
export interface TourRecord {
  readonly event: string | null;
  readonly data: string;
}

/** What came back. */
export interface TourAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Events of a streamed answer; empty for whole ones. */
  readonly records: readonly TourRecord[];
  /** The connection broke before the HTTP message ended. */
  readonly isCutShort: boolean;
}

/** Path of a dialect's generating route. */
export function pathOf(dialect: TourDialect): string {
  return dialect === "chat" ? "/v1/chat/completions" : "/v1/messages";
}

/** Header lines that carry the key in the way of a dialect's clients. */
export function credentialHeaders(dialect: TourDialect, key: string): Readonly<Record<string, string>> {
  return dialect === "chat"
    ? { authorization: `Bearer ${key}` }
    : { "x-api-key": key, "anthropic-version": "2023-06-01" };
}

/** Sends a request and reads the answer to its end, whatever the end is. Rejects only when there is no answer at all. */
export function sendTourRequest(gatewayUrl: string, key: string, request: TourRequest): Promise<TourAnswer> {
  const body = JSON.stringify(request.body);
  const headers = {
    ...credentialHeaders(request.dialect, key),
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
  return new Promise((resolve, reject) => {
    const url = new URL(pathOf(request.dialect), gatewayUrl);
    const outgoing = httpRequest(url, { method: "POST", headers, agent: false }, (incoming) => {
      const pieces: Buffer[] = [];
      const finish = (): void => {
        const text = Buffer.concat(pieces).toString("utf8");
        const isStream = incoming.headers["content-type"]?.startsWith("text/event-stream") === true;
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text,
          records: isStream ? parseRecords(text) : [],
          isCutShort: !incoming.complete,
        });
      };
      incoming.on("data", (piece: Buffer) => pieces.push(piece));
      incoming.on("close", finish);
      incoming.on("error", () => {
        // `close` follows, and `complete` tells that the answer was cut short.
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Reads the records of a stream as the gateway writes them: one `data` line each, LF line ends. */
function parseRecords(text: string): TourRecord[] {
  const records: TourRecord[] = [];
  for (const block of text.split("\n\n")) {
    let event: string | null = null;
    let data: string | null = null;
    for (const line of block.split("\n")) {
      if (line.startsWith("event: ")) event = line.slice("event: ".length);
      if (line.startsWith("data: ")) data = line.slice("data: ".length);
    }
    if (data !== null) records.push({ event, data });
  }
  return records;
}

/** A value inside parsed JSON, or undefined where the path leads nowhere. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = (current as Readonly<Record<string | number, unknown>>)[step];
  }
  return current;
}

/** Parses JSON; undefined when the text is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // The caller treats what is no JSON as an answer without members.
  }
}

/** The text that an answer says: of a whole answer, or assembled from a stream. */
export function spokenText(answer: TourAnswer): string {
  if (answer.records.length > 0) {
    return answer.records.map((record) => deltaText(parseJson(record.data))).join("");
  }
  const json = parseJson(answer.text);
  const chat = at(json, "choices", 0, "message", "content");
  if (typeof chat === "string") return chat;
  const content = at(json, "content");
  return Array.isArray(content) ? content.map((block: unknown) => stringOr(at(block, "text"))).join("") : "";
}

function deltaText(json: unknown): string {
  return stringOr(at(json, "choices", 0, "delta", "content")) + stringOr(at(json, "delta", "text"));
}

function stringOr(value: unknown): string {
  return typeof value === "string" ? value : "";
}
