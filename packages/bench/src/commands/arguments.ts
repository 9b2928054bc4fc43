// Reads the arguments of the sub-commands; a wrong one is a `UsageError` with the words to print.
import type { TargetOptions } from "../contract/target.ts";
import type { AgentAddress } from "../host/agent-host.ts";

/** The command line asks for something that does not exist. Exit code 2. */
export class UsageError extends Error {}

/** What reading the arguments threw, as a wrong use of the command line. */
export function usageErrorOf(error: unknown): UsageError {
  return new UsageError(error instanceof Error ? error.message : "wrong usage");
}

/** `HOST:PORT`, or undefined when it is not one. */
export function readAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  return host === undefined || port === undefined ? undefined : { host, port: Number(port) };
}

/** `A,B,C` as a list; absent is empty. */
export function readList(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** `target.option=value`, any number of times. */
export function readTargetOptions(settings: readonly string[]): TargetOptions {
  return Object.fromEntries(
    settings.map((setting) => {
      const at = setting.indexOf("=");
      if (at < 1) throw new UsageError(`--set wants target.option=value, not ${setting}`);
      return [setting.slice(0, at), setting.slice(at + 1)];
    }),
  );
}

/** `HOST:PORT` of an agent, with the token from the environment. */
export function readAgent(text: string | undefined, token: string | undefined): AgentAddress | undefined {
  if (text === undefined) return undefined;
  const address = readAddress(text);
  if (address === undefined) throw new UsageError(`an agent's address is HOST:PORT, not ${text}`);
  if (token === undefined || token === "") throw new UsageError("set DRAGOMAN_BENCH_TOKEN to the agents' token");
  return { ...address, token };
}

/** A whole number of at least 1. */
export function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError(`--${name} wants a number of at least 1, not ${text}`);
  return count;
}
