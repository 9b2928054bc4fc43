#!/usr/bin/env node
// The `dragoman-bench` command: picks the sub-command, prints, sets the exit code.
import { agentCommand } from "./commands/agent-command.ts";
import { UsageError } from "./commands/arguments.ts";
import { runCommand } from "./commands/run-command.ts";
import { selfTestCommand } from "./commands/self-test-command.ts";
import { conformCommand } from "./conform/command.ts";
import type { Command, CommandOutput } from "./contract/command.ts";
import { insideCommand } from "./inside/command.ts";
import { reportCommand } from "./report/command.ts";

const COMMANDS: readonly Command[] = [
  runCommand,
  selfTestCommand,
  reportCommand,
  insideCommand,
  conformCommand,
  agentCommand,
];

const isTerminal = process.stderr.isTTY;

const output: CommandOutput = {
  isTerminal,
  print: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${isTerminal ? "\r\u001B[K" : ""}${line}\n`),
  progress: (line) => void process.stderr.write(isTerminal ? `\r\u001B[K${line}` : `${line}\n`),
};

function usage(): string {
  return COMMANDS.map((command) => `dragoman-bench ${command.usage}\n    ${command.summary}`).join("\n\n");
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h" || name === "help") {
    output.print(usage());
    return 0;
  }
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) {
    output.note(usage());
    return 2;
  }
  try {
    return await command.run(rest, output);
  } catch (error) {
    output.note(error instanceof Error ? error.message : "failed");
    if (error instanceof UsageError) output.note(`dragoman-bench ${command.usage}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
