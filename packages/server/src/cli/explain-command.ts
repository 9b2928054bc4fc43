/** `dragoman explain --config FILE --dialect D REQUEST.json`. Sends nothing and needs no secret. */
import { createGateway } from "../create-gateway.ts";
import { reasonOf } from "../config-file/index.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { loadOrReport } from "./load-or-report.ts";

/** What to explain. */
export interface ExplainArguments {
  readonly configPath: string | undefined;
  readonly dialect: string | undefined;
  readonly requestPath: string;
}

/** Prints the plan of a request as JSON: each deployment with its verdict. Fails when the request could not be planned at all. */
export async function runExplain(io: CliIo, { configPath, dialect, requestPath }: ExplainArguments): Promise<ExitCode> {
  if (configPath === undefined || dialect === undefined) {
    io.stderr.write(`dragoman explain needs ${configPath === undefined ? "--config FILE" : "--dialect ID"}\n`);
    return ExitCode.usage;
  }
  const loaded = loadOrReport(io, configPath, "none");
  if (loaded === null) return ExitCode.usage;
  let body: Uint8Array;
  try {
    body = io.readBytes(requestPath);
  } catch (error) {
    io.stderr.write(`${requestPath}: the file cannot be read${reasonOf(error)}\n`);
    return ExitCode.usage;
  }
  const gateway = await createGateway(loaded.config, {
    resolveSecret: loaded.resolveSecret,
    folder: loaded.folder,
  });
  try {
    const explanation = gateway.explain({ dialect, body });
    io.stdout.write(`${JSON.stringify(explanation, null, 2)}\n`);
    return explanation.ok ? ExitCode.done : ExitCode.failed;
  } finally {
    await gateway.close();
  }
}
