/** Ollama's errors, `{"error":"…"}` with a status or as a line of a stream, in the one classification. There are no codes, only texts. */
import { Scanner } from "@dragoman/core";
import type { ErrorClass, NeutralError, UpstreamErrorAnswer } from "@dragoman/core";

/** Longest text that is taken over. */
const MAX_TEXT_LENGTH = 1_000;

/** Texts of the server (ollama/ollama, server/routes.go and server/sched.go, read 2026-11-30); statuses alone say less. */
const TEXTS: readonly (readonly [pattern: RegExp, errorClass: ErrorClass])[] = [
  [/^model .{0,200} not found|pull(?:ing)? it first/i, "not-found"],
  [/context (?:length|window)|exceeds? .{0,40}context/i, "context-length"],
  [/server busy|maximum pending requests/i, "overloaded"],
  [/requires more system memory|out of memory/i, "overloaded"],
  [/unauthorized/i, "auth"],
];

/** The model of this deployment lacks something; another one may have it. */
const LACKS_ABILITY = /does not support (?:tools|thinking|chat|images|vision|generate|insert)/i;

const CLASS_OF_STATUS: Readonly<Record<number, ErrorClass>> = {
  400: "invalid-request",
  401: "auth",
  402: "quota",
  403: "permission",
  404: "not-found",
  405: "method-not-allowed",
  408: "timeout",
  413: "too-large",
  429: "rate-limit",
  503: "overloaded",
  504: "timeout",
};

/** A wait may cure these. */
const PASSING: ReadonlySet<ErrorClass> = new Set<ErrorClass>(["rate-limit", "overloaded", "timeout", "upstream-5xx"]);

/** Classifies an answer with an error status. */
export function classifyError({ status, body }: UpstreamErrorAnswer): NeutralError {
  const text = textOfBody(body);
  return { ...makeError(classOfText(text) ?? classOfStatus(status), text), status };
}

/** Classifies an error that came with status 200, in a stream or in place of an answer. */
export function classifyMessage(text: string): NeutralError {
  return makeError(classOfText(text) ?? "upstream-5xx", text);
}

function makeError(errorClass: ErrorClass, text: string): NeutralError {
  return {
    class: errorClass,
    origin: "upstream",
    message: text.slice(0, MAX_TEXT_LENGTH),
    retrySame: PASSING.has(errorClass),
    fallback: fallbackOf(errorClass, text),
  };
}

function fallbackOf(errorClass: ErrorClass, text: string): NeutralError["fallback"] {
  if (errorClass === "context-length") return "larger-window";
  return errorClass !== "invalid-request" || LACKS_ABILITY.test(text.slice(0, MAX_TEXT_LENGTH));
}

function classOfText(text: string): ErrorClass | undefined {
  return TEXTS.find(([pattern]) => pattern.test(text.slice(0, MAX_TEXT_LENGTH)))?.[1];
}

function classOfStatus(status: number): ErrorClass {
  if (status < 400) return "protocol";
  return CLASS_OF_STATUS[status] ?? (status < 500 ? "invalid-request" : "upstream-5xx");
}

function textOfBody(body: Uint8Array): string {
  const document = new Scanner({ duplicates: "last-wins" }).scan(body, 0, body.length);
  const error = document?.member(document.root, "error");
  // A page of a proxy says nothing to a client.
  return document !== null && error !== undefined && document.isString(error) ? document.string(error) : "";
}
