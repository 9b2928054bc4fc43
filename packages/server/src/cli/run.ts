/** Runs one command line: finds the command, calls it, and turns what it throws into a message and an exit code. */
import { isGatewayError } from "@dragoman/core";

import { VERSION } from "../version.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { helpText } from "./command.ts";
import { runKeysCreate } from "./keys-command.ts";
import { parseArguments } from "./parse-arguments.ts";
import type { Parsed } from "./parse-arguments.ts";
import { runSchema } from "./schema-command.ts";

/** Runs the command line and gives its exit code. `args` come after the program's name. Never rejects. */
export async function run(args: readonly string[], io: CliIo): Promise<ExitCode> {
  const parsed = parseArguments(args, io.env);
  switch (parsed.kind) {
    case "help":
      io.stdout.write(helpText());
      return ExitCode.done;
    case "version":
      io.stdout.write(`${VERSION}\n`);
      return ExitCode.done;
    case "mistake":
      io.stderr.write(`dragoman: ${parsed.message}\nSee: dragoman --help\n`);
      return ExitCode.usage;
    case "command":
      return dispatch(parsed, io).catch((error: unknown) => reportFailure(error, io));
  }
}

/** Commands that need the engine load it only when they run. */
async function dispatch(
  { name, values, switches, positionals }: Extract<Parsed, { readonly kind: "command" }>,
  io: CliIo,
): Promise<ExitCode> {
  switch (name) {
    case "serve": {
      const { runServe } = await import("./serve-command.ts");
      return runServe(io, values);
    }
    case "demo": {
      const { runDemoCommand } = await import("./demo-command.ts");
      return runDemoCommand(io, values.get("port"), switches.has("once"));
    }
    case "check": {
      const { runCheck } = await import("./check-command.ts");
      return runCheck(io, positionals[0] as string, switches.has("offline"));
    }
    case "schema":
      return runSchema(io);
    case "explain": {
      const { runExplain } = await import("./explain-command.ts");
      return runExplain(io, {
        configPath: values.get("config"),
        dialect: values.get("dialect"),
        requestPath: positionals[0] as string,
      });
    }
    case "keys create":
      return runKeysCreate(io, values);
  }
}

function reportFailure(error: unknown, io: CliIo): ExitCode {
  io.stderr.write(`dragoman: ${error instanceof Error ? error.message : String(error)}\n`);
  return isGatewayError(error) && error.code === "config_invalid" ? ExitCode.usage : ExitCode.failed;
}
