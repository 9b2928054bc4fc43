/** `dragoman demo`. */
import { runDemo } from "../demo/index.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";
import { readPort } from "./read-port.ts";

/** Starts the demo; with `once` it ends by itself and says whether the tour went well. */
export async function runDemoCommand(io: CliIo, portText: string | undefined, once: boolean): Promise<ExitCode> {
  const port = readPort(portText);
  if (port === null) {
    io.stderr.write("--port must be a number from 0 to 65535\n");
    return ExitCode.usage;
  }
  const code = await runDemo({ port: port ?? null, once, stdout: io.stdout });
  return code === 0 ? ExitCode.done : ExitCode.failed;
}
