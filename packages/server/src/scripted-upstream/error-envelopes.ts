// The error bodies of both dialects for a status or a named error, in the shapes that real servers send.
import type { ScriptedRecord } from "./answer.ts";

/** The two upstream dialects that the scripted upstream speaks. */
export type ScriptedDialect = "chat" | "messages";

/** An error that the upstream answers instead of a completion. Members that are absent get what the status suggests. */
export interface ScriptedError {
  readonly status: number;
  readonly type?: string;
  readonly code?: string | null;
  readonly message?: string;
  readonly param?: string | null;
  readonly headers?: readonly (readonly [string, string])[];
}

interface ErrorRow {
  readonly chatType: string;
  readonly chatCode: string | null;
  readonly messagesType: string;
  readonly message: string;
}

const ROWS: Readonly<Record<number, ErrorRow>> = {
  400: row("invalid_request_error", null, "invalid_request_error", "The request is not valid."),
  401: row("invalid_request_error", "invalid_api_key", "authentication_error", "The API key is not valid."),
  403: row("invalid_request_error", "permission_denied", "permission_error", "This key may not use the model."),
  404: row("invalid_request_error", "model_not_found", "not_found_error", "The model does not exist."),
  413: row("invalid_request_error", "request_too_large", "request_too_large", "The request is too large."),
  429: row("rate_limit_error", "rate_limit_exceeded", "rate_limit_error", "Rate limit reached, try again later."),
  500: row("server_error", null, "api_error", "The server had an error."),
  503: row("service_unavailable_error", "server_is_overloaded", "overloaded_error", "Overloaded."),
  504: row("server_error", "timeout", "timeout_error", "The request timed out."),
  529: row("service_unavailable_error", "server_is_overloaded", "overloaded_error", "Overloaded."),
};

function row(chatType: string, chatCode: string | null, messagesType: string, message: string): ErrorRow {
  return { chatType, chatCode, messagesType, message };
}

function rowOf(status: number): ErrorRow {
  const found = ROWS[status];
  if (found !== undefined) return found;
  const messagesType = status >= 500 ? "api_error" : "invalid_request_error";
  const chatType = status >= 500 ? "server_error" : "invalid_request_error";
  return row(chatType, null, messagesType, `The scripted upstream answers ${status}.`);
}

/** Writes the error body of a dialect. */
export function renderError(dialect: ScriptedDialect, error: ScriptedError, serial: number): string {
  const found = rowOf(error.status);
  const message = error.message ?? found.message;
  if (dialect === "messages") {
    return JSON.stringify({
      type: "error",
      error: { type: error.type ?? found.messagesType, message },
      request_id: `req_scripted_${serial}`,
    });
  }
  return JSON.stringify({
    error: {
      message,
      type: error.type ?? found.chatType,
      param: error.param ?? null,
      code: error.code === undefined ? found.chatCode : error.code,
    },
  });
}

/** Writes the error as a record of a stream that already began with status 200. */
export function renderErrorRecord(dialect: ScriptedDialect, error: ScriptedError, serial: number): ScriptedRecord {
  return {
    event: dialect === "messages" ? "error" : null,
    mark: "error",
    data: renderError(dialect, error, serial),
  };
}
