// Turns a behaviour into a plan: a head, its framing and the pieces of the body, generated lazily. Faults that change what is
// said are applied here; faults that change how it is written (cuts, stalls, pauses) belong to the sender.
import { gzipSync } from "node:zlib";

import type { RenderOptions, ScriptedAnswer, ScriptedRecord } from "./answer.ts";
import { renderChatStream, renderChatWhole } from "./answers-chat.ts";
import { renderMessageStream, renderMessageWhole } from "./answers-messages.ts";
import { scriptAnswer } from "./behaviours.ts";
import type { Behaviour } from "./behaviours.ts";
import { renderCount, renderModels } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { renderError, renderErrorRecord } from "./error-envelopes.ts";
import type { ScriptedDialect, ScriptedError } from "./error-envelopes.ts";
import { bytesOf, findFault } from "./faults.ts";
import type { Fault } from "./faults.ts";
import { errorPage, garbageBody, hugeMessage } from "./garbage.ts";
import { oversizeRecords, oversizeText } from "./oversize.ts";
import { PLAIN_SPELLING, spellRecords } from "./sse-text.ts";
import type { SseSpelling } from "./sse-text.ts";
import type { ReceivedRequest } from "./received-request.ts";

/** A response that is ready to be sent. */
export interface ResponsePlan {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [string, string])[];
  /** The head as given by a script, instead of status and headers. */
  readonly rawHead: Buffer | null;
  readonly framing: "length" | "chunked" | "none";
  /** The body before framing; a piece is what one write carries. */
  readonly pieces: Iterable<Buffer>;
  readonly trailers: readonly (readonly [string, string])[];
}

/** What a plan is made for. */
export interface PlannedCall {
  readonly endpoint: Endpoint;
  readonly request: ReceivedRequest;
  readonly serial: number;
}

/** The body before it is framed: one text, or records. */
interface Content {
  readonly status: number;
  readonly type: string | null;
  readonly headers: readonly (readonly [string, string])[];
  readonly isStream: boolean;
  readonly pieces: Iterable<Buffer>;
}

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  413: "Content Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  529: "Site Overloaded",
};

/** Name of a status, as it stands in the status line. */
function reasonOf(status: number): string {
  return REASONS[status] ?? "Scripted";
}

/** Plans the response of a call. */
export function planResponse(call: PlannedCall, behaviour: Behaviour): ResponsePlan {
  const faults = behaviour.faults ?? [];
  const content = recode(retype(contentOf(call, behaviour), faults), faults);
  const statusFault = findFault(faults, "status");
  const rawHead = findFault(faults, "raw-head");
  const framing = framingOf(content, faults, rawHead !== undefined);
  const whole = framing === "length" ? Buffer.concat([...content.pieces]) : null;
  const extra = findFault(faults, "headers")?.add ?? [];
  return {
    status: content.status,
    reason: statusFault?.reason ?? reasonOf(content.status),
    headers: [
      ...(content.type === null ? [] : [["content-type", content.type] as const]),
      ...(whole === null ? [] : [["content-length", String(whole.length)] as const]),
      ...(framing === "chunked" ? [["transfer-encoding", "chunked"] as const] : []),
      ...(framing === "none" ? [["connection", "close"] as const] : []),
      [call.endpoint.dialect === "messages" ? "request-id" : "x-request-id", `req_scripted_${call.serial}`],
      ...content.headers,
      ...extra,
    ],
    rawHead: rawHead === undefined ? null : bytesOf(rawHead.bytes),
    framing,
    pieces: whole === null ? content.pieces : [whole],
    trailers: findFault(faults, "trailers")?.fields ?? [],
  };
}

function framingOf(content: Content, faults: readonly Fault[], hasRawHead: boolean): ResponsePlan["framing"] {
  if (hasRawHead || findFault(faults, "until-close") !== undefined) return "none";
  const isLazy = findFault(faults, "oversize") !== undefined || findFault(faults, "gzip")?.bombBytes !== undefined;
  return content.isStream || isLazy || findFault(faults, "trailers") !== undefined ? "chunked" : "length";
}

function contentOf(call: PlannedCall, behaviour: Behaviour): Content {
  const faults = behaviour.faults ?? [];
  const { dialect } = call.endpoint;
  const status = findFault(faults, "status");
  if (status !== undefined) return statusContent(dialect, status, call.serial);
  const early = findFault(faults, "early");
  const error = behaviour.error ?? (early === undefined || behaviour.answer !== undefined ? null : { status: 429 });
  if (error !== null) return errorContent(dialect, error, call.serial);
  const { endpoint, request } = call;
  switch (endpoint.kind) {
    case "generate":
      return generated(call, behaviour, endpoint.dialect);
    case "count":
      return replaced(json(200, renderCount(request)), faults);
    case "models":
      return replaced(json(200, renderModels(endpoint.dialect, endpoint.id)), faults);
    case "unknown":
      return errorContent(dialect, { status: 404, message: "There is nothing at this path." }, call.serial);
  }
}

function json(status: number, text: string, headers: Content["headers"] = []): Content {
  return { status, type: "application/json", headers, isStream: false, pieces: [Buffer.from(text, "utf8")] };
}

function errorContent(dialect: ScriptedDialect, error: ScriptedError, serial: number): Content {
  return json(error.status, renderError(dialect, error, serial), error.headers ?? []);
}

function statusContent(dialect: ScriptedDialect, fault: Extract<Fault, { kind: "status" }>, serial: number): Content {
  const { status, body } = fault;
  if (body === "json") return errorContent(dialect, { status }, serial);
  if (body === "huge") return errorContent(dialect, { status, message: hugeMessage() }, serial);
  const page = errorPage(body, status, fault.reason ?? reasonOf(status));
  const type = body === "html" ? "text/html" : body === "text" ? "text/plain" : null;
  return { status, type, headers: [], isStream: false, pieces: [page] };
}

/** Replaces the body of a 200 answer where a fault gives another one. */
function replaced(content: Content, faults: readonly Fault[]): Content {
  const garbage = findFault(faults, "garbage");
  const body = findFault(faults, "body");
  if (body !== undefined) return { ...content, pieces: [bytesOf(body.bytes)] };
  if (garbage !== undefined && garbage.as !== "record") return { ...content, pieces: [garbageBody(garbage.what)] };
  return content;
}

function optionsOf(call: PlannedCall, faults: readonly Fault[]): RenderOptions {
  const omit = findFault(faults, "omit")?.what;
  const { request } = call;
  return {
    serial: call.serial,
    model: request.model === "" ? "scripted-text" : request.model,
    includeUsage: request.includeUsage,
    choices: request.choices,
    usage: findFault(faults, "usage")?.mode ?? "normal",
    omit: omit === undefined ? [] : omit === "both" ? ["finish", "end"] : [omit],
  };
}

function answerOf(request: ReceivedRequest, behaviour: Behaviour): ScriptedAnswer {
  const { answer } = behaviour;
  if (answer === undefined) return scriptAnswer(request, { text: "Hello." });
  return typeof answer === "function" ? answer(request) : answer;
}

function generated(call: PlannedCall, behaviour: Behaviour, dialect: ScriptedDialect): Content {
  const faults = behaviour.faults ?? [];
  const { request } = call;
  const options = optionsOf(call, faults);
  const answer = answerOf(request, behaviour);
  const oversize = findFault(faults, "oversize");
  const content = request.stream
    ? streamContent(dialect, answer, options, faults)
    : wholeContent(dialect, answer, options, faults);
  if (oversize === undefined) return replaced(content, faults);
  const pieces = request.stream
    ? oversizeRecords(dialect, options, oversize)
    : oversizeText(dialect, options, oversize.bytes);
  return { ...content, pieces };
}

function wholeContent(
  dialect: ScriptedDialect,
  answer: ScriptedAnswer,
  options: RenderOptions,
  faults: readonly Fault[],
): Content {
  const error = findFault(faults, "error-record");
  if (error !== undefined) return json(200, renderError(dialect, errorOf(error), options.serial));
  return json(200, dialect === "chat" ? renderChatWhole(answer, options) : renderMessageWhole(answer, options));
}

function streamContent(
  dialect: ScriptedDialect,
  answer: ScriptedAnswer,
  options: RenderOptions,
  faults: readonly Fault[],
): Content {
  const records = dialect === "chat" ? renderChatStream(answer, options) : renderMessageStream(answer, options);
  const spelling = findFault(faults, "spelling");
  const spelled: SseSpelling = { ...PLAIN_SPELLING, ...spelling };
  return {
    status: 200,
    type: "text/event-stream; charset=utf-8",
    headers: [["cache-control", "no-cache"]],
    isStream: true,
    pieces: withGarbageRecord(spellRecords(withErrorRecord(records, dialect, options.serial, faults), spelled), faults),
  };
}

function errorOf(fault: Extract<Fault, { kind: "error-record" }>): ScriptedError {
  return { status: fault.status, ...(fault.message === undefined ? {} : { message: fault.message }) };
}

function* withErrorRecord(
  records: Iterable<ScriptedRecord>,
  dialect: ScriptedDialect,
  serial: number,
  faults: readonly Fault[],
): Generator<ScriptedRecord> {
  const fault = findFault(faults, "error-record");
  let written = 0;
  for (const record of records) {
    if (fault !== undefined && written >= fault.afterRecords) break;
    yield record;
    written += 1;
  }
  if (fault !== undefined) yield renderErrorRecord(dialect, errorOf(fault), serial);
}

function* withGarbageRecord(pieces: Iterable<Buffer>, faults: readonly Fault[]): Generator<Buffer> {
  const fault = findFault(faults, "garbage");
  let isFirst = true;
  for (const piece of pieces) {
    yield piece;
    if (isFirst && fault?.as === "record") {
      yield Buffer.concat([Buffer.from("data: "), garbageBody(fault.what), Buffer.from("\n\n")]);
    }
    isFirst = false;
  }
}

function retype(content: Content, faults: readonly Fault[]): Content {
  const fault = findFault(faults, "content-type");
  return fault === undefined ? content : { ...content, type: fault.value };
}

const BOMB_BLOCK = 1024 * 1024;

/** Codes the body. Every piece is a gzip member of its own (RFC 1952 §2.2), so that a coded stream stays a stream. */
function recode(content: Content, faults: readonly Fault[]): Content {
  const fault = findFault(faults, "gzip");
  if (fault === undefined) return content;
  const headers = [...content.headers, ["content-encoding", "gzip"] as const];
  const pieces = fault.bombBytes === undefined ? gzipPieces(content.pieces) : gzipZeros(fault.bombBytes);
  return { ...content, headers, pieces };
}

function* gzipPieces(pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of pieces) yield gzipSync(piece);
}

function* gzipZeros(bytes: number): Generator<Buffer> {
  const member = gzipSync(Buffer.alloc(BOMB_BLOCK), { level: 9 });
  for (let left = bytes; left > 0; left -= BOMB_BLOCK) {
    yield left >= BOMB_BLOCK ? member : gzipSync(Buffer.alloc(left), { level: 9 });
  }
}
