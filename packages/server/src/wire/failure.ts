// Names what ended an upstream connection, without host names, addresses or secrets: only Node's error code and what was going on.

import type { UpstreamFailure } from "@dragoman/core";

/** Why a connection failed. */
export type FailureKind = UpstreamFailure["kind"];

/** What a connection was doing when it failed. */
export type ConnectionStage = "connecting" | "handshake" | "before the answer" | "inside the answer";

const STAGE_TEXT: Readonly<Record<ConnectionStage, string>> = {
  connecting: "while connecting",
  handshake: "during the TLS handshake",
  "before the answer": "before the answer",
  "inside the answer": "inside the answer",
};

/** The kind of a socket error. Errors of TLS itself keep their kind also after the handshake. */
export function classifyError(error: Error, stage: ConnectionStage): FailureKind {
  const code = codeOf(error);
  if (stage === "handshake" || code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) return "tls";
  if (stage !== "connecting") return "reset";
  const isLookup = "syscall" in error && error.syscall === "getaddrinfo";
  return isLookup || code === "ENOTFOUND" || code.startsWith("EAI_") ? "dns" : "connect";
}

/** One clause for the log, like `ECONNREFUSED while connecting`. */
export function describeError(error: Error, stage: ConnectionStage): string {
  return `${codeOf(error)} ${STAGE_TEXT[stage]}`;
}

/** One clause for an end of input that came too early. */
export function describeEarlyEnd(stage: ConnectionStage): string {
  return `the connection ended ${STAGE_TEXT[stage]}`;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
