/** `dragoman schema`. */
import { CONFIG_SCHEMA } from "@dragoman/core";

import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";

/** Prints the JSON Schema of the configuration, for editors and other tools. */
export function runSchema(io: CliIo): ExitCode {
  io.stdout.write(`${JSON.stringify(CONFIG_SCHEMA, null, 2)}\n`);
  return ExitCode.done;
}
