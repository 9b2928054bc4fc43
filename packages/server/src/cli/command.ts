/** The commands and their options as data: parsing, help and "did you mean" all read this table. */

/** An option of a command. */
export interface OptionSpec {
  /** Null for a switch, else what stands for its value in the help. */
  readonly value: string | null;
  /** The variable that gives its value where the command line does not. */
  readonly environment?: string;
  readonly summary: string;
}

/** A command. */
export interface CommandSpec {
  /** Words that call it, e.g. `keys create`. */
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Names of its positional arguments; all are required. */
  readonly positionals: readonly string[];
  readonly summary: string;
}

const CONFIG: OptionSpec = {
  value: "FILE",
  environment: "DRAGOMAN_CONFIG",
  summary: "configuration file (YAML or JSON)",
};

/** Name of a command. */
export type CommandName = "serve" | "demo" | "check" | "schema" | "explain" | "keys create";

/** All commands; `serve` is meant when none is named. */
export const COMMANDS: Readonly<Record<CommandName, CommandSpec>> = {
  serve: {
    words: ["serve"],
    options: {
      config: CONFIG,
      host: { value: "HOST", environment: "DRAGOMAN_HOST", summary: "address to listen on, over the configuration's" },
      port: { value: "N", environment: "DRAGOMAN_PORT", summary: "port to listen on, over the configuration's" },
      data: {
        value: "DIR",
        environment: "DRAGOMAN_DATA",
        summary: "data folder; else the configuration's, else .dragoman",
      },
    },
    positionals: [],
    summary: "start the gateway; without a configuration from the API keys in the environment",
  },
  demo: {
    words: ["demo"],
    options: {
      port: { value: "N", environment: "DRAGOMAN_PORT", summary: "port to listen on" },
      once: { value: null, summary: "run a tour of requests, print it, and end" },
    },
    positionals: [],
    summary: "start a gateway with a scripted upstream; needs no API key",
  },
  check: {
    words: ["check"],
    options: { offline: { value: null, summary: "do not resolve secrets" } },
    positionals: ["FILE"],
    summary: "check a configuration file",
  },
  schema: {
    words: ["schema"],
    options: {},
    positionals: [],
    summary: "print the JSON Schema of the configuration",
  },
  explain: {
    words: ["explain"],
    options: { config: CONFIG, dialect: { value: "ID", summary: "client dialect of the request" } },
    positionals: ["REQUEST.json"],
    summary: "print what each deployment would make of a request; sends nothing",
  },
  "keys create": {
    words: ["keys", "create"],
    options: {
      name: { value: "NAME", summary: "name of the key (app)" },
      models: { value: "A,B", summary: "models and globs that it may use (*)" },
      owner: { value: "OWNER", summary: "who answers for it" },
    },
    positionals: [],
    summary: "make a client key; prints it once, with the lines for the configuration",
  },
};

/** The usage of one command in one line. */
export function usageOf({ words, options, positionals }: CommandSpec): string {
  const shown = Object.entries(options).map(([name, { value }]) => `[--${name}${value === null ? "" : ` ${value}`}]`);
  return ["dragoman", ...words, ...shown, ...positionals].join(" ");
}

/** What `--help` prints. */
export function helpText(): string {
  const blocks = Object.values(COMMANDS).map((command) => {
    const rows = Object.entries(command.options).map(([name, { value, environment, summary }]) => {
      const option = `--${name}${value === null ? "" : ` ${value}`}`;
      return `      ${option.padEnd(16)} ${summary}${environment === undefined ? "" : ` [${environment}]`}`;
    });
    return [`  ${usageOf(command)}`, `      ${command.summary}`, ...rows].join("\n");
  });
  return `dragoman: an LLM gateway that speaks the dialects your applications already use

Usage

${blocks.join("\n\n")}

  dragoman --help | --version

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration
`;
}
