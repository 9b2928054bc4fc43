/** The standalone server's logger: pino, one JSON line per entry on standard error or a given stream. */
import { pino, type DestinationStream } from "pino";

import type { Logger } from "@dragoman/core";

/** Members that never hold a secret by construction; these are masked all the same should one get in. */
const REDACTED = ["*.authorization", "*.secret", "*.apiKey", "*.key", "headers.authorization"];

/** Makes a logger. `destination` is standard error by default, so that output meant for pipes stays clean. */
export function createPinoLogger(
  level: "debug" | "info" | "warn" | "error" | "silent",
  destination?: DestinationStream,
): Logger {
  return pino({ level, redact: REDACTED, base: null }, destination ?? pino.destination(2));
}
