/** From arguments to a command, or to one sentence of what is wrong with them. Pure: the environment comes as a value. */
import { parseArgs } from "node:util";

import { suggest } from "@dragoman/core";

import { COMMANDS, usageOf } from "./command.ts";
import type { CommandName, CommandSpec } from "./command.ts";

/** What the arguments ask for. */
export type Parsed =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | {
      readonly kind: "command";
      readonly name: CommandName;
      /** Values of options that were given, on the command line or by their variables. */
      readonly values: ReadonlyMap<string, string>;
      readonly switches: ReadonlySet<string>;
      readonly positionals: readonly string[];
    }
  | { readonly kind: "mistake"; readonly message: string };

const mistake = (message: string, suggestion?: string): Parsed => ({
  kind: "mistake",
  message: suggestion === undefined ? message : `${message}; did you mean "${suggestion}"?`,
});

/** Parses the arguments after the program's name. */
export function parseArguments(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Parsed {
  const named = findCommand(args);
  if (named.kind !== "named") return named;
  const command = COMMANDS[named.name];
  const { tokens } = parseArgs({
    args: [...named.rest],
    options: Object.fromEntries(
      Object.entries(command.options).map(([name, { value }]) => [
        name,
        { type: value === null ? "boolean" : "string" },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string>();
  const switches = new Set<string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    if (token.rawName === "--help" || token.rawName === "-h") return { kind: "help" };
    const option = Object.hasOwn(command.options, token.name) ? command.options[token.name] : undefined;
    if (option === undefined || !token.rawName.startsWith("--"))
      return mistake(`unknown option ${token.rawName}`, suggestOption(token.name, command));
    if (values.has(token.name) || switches.has(token.name)) return mistake(`${token.rawName} is given twice`);
    if (option.value === null) {
      if (token.value !== undefined) return mistake(`${token.rawName} takes no value`);
      switches.add(token.name);
    } else if (token.value === undefined || token.value === "" || (!token.inlineValue && token.value.startsWith("-")))
      return mistake(`${token.rawName} needs a value: ${token.rawName} ${option.value}`);
    else values.set(token.name, token.value);
  }
  if (positionals.length !== command.positionals.length) return mistake(`usage: ${usageOf(command)}`);
  for (const [name, { environment }] of Object.entries(command.options)) {
    const value = environment === undefined ? undefined : env[environment];
    if (value !== undefined && value !== "" && !values.has(name)) values.set(name, value);
  }
  return { kind: "command", name: named.name, values, switches, positionals };
}

type Named = { readonly kind: "named"; readonly name: CommandName; readonly rest: readonly string[] };

/** The words before the first option name the command; without any it is `serve`. */
function findCommand(args: readonly string[]): Named | Parsed {
  const [first, second] = args;
  if (first === "--help" || first === "-h" || first === "help") return { kind: "help" };
  if (first === "--version" || first === "-v") return { kind: "version" };
  if (first === undefined || first.startsWith("-")) return { kind: "named", name: "serve", rest: args };
  const names = Object.keys(COMMANDS) as CommandName[];
  const same = names.filter((name) => COMMANDS[name].words[0] === first);
  const [only] = same;
  if (only === undefined) return mistake(`unknown command "${first}"`, suggest(first, names.map(firstWord)));
  if (COMMANDS[only].words.length === 1) return { kind: "named", name: only, rest: args.slice(1) };
  const found = same.find((name) => COMMANDS[name].words.at(1) === second);
  if (found !== undefined) return { kind: "named", name: found, rest: args.slice(2) };
  const wordsAfter = same.map((name) => COMMANDS[name].words.at(1) ?? "");
  if (second === undefined || second.startsWith("-"))
    return mistake(`"${first}" needs one of: ${wordsAfter.join(", ")}`);
  return mistake(`unknown command "${first} ${second}"`, suggest(second, wordsAfter));
}

const firstWord = (name: CommandName): string => COMMANDS[name].words[0] ?? name;

function suggestOption(name: string, command: CommandSpec): string | undefined {
  const nearest = suggest(name, [...Object.keys(command.options), "help"]);
  return nearest === undefined ? undefined : `--${nearest}`;
}
