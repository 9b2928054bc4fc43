/** Runs one command line: finds the command, calls it, and turns what it throws into a message and an exit code. */
import { isGatewayError } from "@dragoman/core";

import { VERSION } from "../version.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { helpText } from "./command.ts";
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
    case "keys create": {
      const { runKeysCreate } = await import("./keys-command.ts");
      return runKeysCreate(io, values, switches);
    }
    case "keys list": {
      const { runKeysList } = await import("./stored-keys-commands.ts");
      return runKeysList(io, values, switches.has("json"));
    }
    case "keys revoke": {
      const { runKeysRevoke } = await import("./stored-keys-commands.ts");
      return runKeysRevoke(io, values, positionals[0] as string);
    }
    case "keys rotate": {
      const { runKeysRotate } = await import("./stored-keys-commands.ts");
      return runKeysRotate(io, values, positionals[0] as string);
    }
    case "keys import": {
      const { runKeysImport } = await import("./stored-keys-commands.ts");
      return runKeysImport(io, values, positionals[0] as string);
    }
    case "ledger export": {
      const { runLedgerExport } = await import("./ledger-commands.ts");
      return runLedgerExport(io, values);
    }
    case "ledger reprice": {
      const { runLedgerReprice } = await import("./reprice-command.ts");
      return runLedgerReprice(io, values, switches.has("dry-run"));
    }
    case "ledger spend": {
      const { runLedgerSpend } = await import("./ledger-commands.ts");
      return runLedgerSpend(io, values, switches.has("json"));
    }
  }
}

function reportFailure(error: unknown, io: CliIo): ExitCode {
  io.stderr.write(`dragoman: ${error instanceof Error ? error.message : String(error)}\n`);
  return isGatewayError(error) && error.code === "config_invalid" ? ExitCode.usage : ExitCode.failed;
}
