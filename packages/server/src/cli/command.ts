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

/** Where the ledger is, for commands that work on it. */
const STORE: CommandSpec["options"] = {
  config: { ...CONFIG, summary: "configuration file that says where the ledger is" },
  data: { value: "DIR", environment: "DRAGOMAN_DATA", summary: "data folder of the ledger" },
};

const SINCE: OptionSpec = { value: "DAY", summary: "from this day or moment on (UTC), e.g. 2026-11-30" };
const UNTIL: OptionSpec = { value: "DAY", summary: "before this day or moment" };

/** Name of a command. */
export type CommandName =
  | "serve"
  | "demo"
  | "check"
  | "schema"
  | "explain"
  | "keys create"
  | "keys list"
  | "keys revoke"
  | "keys rotate"
  | "keys import"
  | "ledger export"
  | "ledger spend"
  | "ledger reprice";

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
      tags: { value: "A,B", summary: "labels for accounts" },
      expires: { value: "DAY", summary: "from this day or moment on (UTC) it is refused" },
      limits: { value: "LIST", summary: 'limits as the configuration has them, e.g. "[{ usd: 20, per: day }]"' },
      debug: { value: null, summary: "shows diagnostic headers to it" },
      trusted: { value: null, summary: "lets it name end users and tags" },
      ...STORE,
    },
    positionals: [],
    summary: "make a client key and print it once: kept in the ledger's store, or as lines for the configuration",
  },
  "keys list": {
    words: ["keys", "list"],
    options: { json: { value: null, summary: "one JSON object a line" }, ...STORE },
    positionals: [],
    summary: "list the keys of the ledger's store",
  },
  "keys revoke": {
    words: ["keys", "revoke"],
    options: STORE,
    positionals: ["KEY"],
    summary: "refuse a key, given by its name or id, from now on and for ever",
  },
  "keys rotate": {
    words: ["keys", "rotate"],
    options: {
      grace: { value: "TIME", summary: "how long the old secret goes on, e.g. 24h, or 0 (24h)" },
      ...STORE,
    },
    positionals: ["KEY"],
    summary: "give a key a new secret and print it once",
  },
  "keys import": {
    words: ["keys", "import"],
    options: {
      models: { value: "A,B", summary: "models and globs that the keys may use (*)" },
      owner: { value: "OWNER", summary: "who answers for keys whose line names nobody" },
      ...STORE,
    },
    positionals: ["FILE"],
    summary: "take keys over by their hashes: lines of sha256:HEX, or of name,sha256:HEX,owner",
  },
  "ledger export": {
    words: ["ledger", "export"],
    options: { format: { value: "csv|ndjson", summary: "how (csv)" }, since: SINCE, until: UNTIL, ...STORE },
    positionals: [],
    summary: "print the ledger's entries, oldest first",
  },
  "ledger spend": {
    words: ["ledger", "spend"],
    options: {
      by: { value: "A,B", summary: "sums by key, owner, endUser, model, deployment, day (owner)" },
      since: SINCE,
      until: UNTIL,
      json: { value: null, summary: "one JSON object a line" },
      ...STORE,
    },
    positionals: [],
    summary: "print what was spent",
  },
  "ledger reprice": {
    words: ["ledger", "reprice"],
    options: {
      since: SINCE,
      "dry-run": { value: null, summary: "say what would change, and change nothing" },
      ...STORE,
    },
    positionals: [],
    summary: "price past calls by the configuration's prices of today, in adjusting entries; no entry changes",
  },
};

function usageParts({ words, options, positionals }: CommandSpec): readonly string[] {
  const shown = Object.entries(options).map(([name, { value }]) => `[--${name}${value === null ? "" : ` ${value}`}]`);
  return ["dragoman", ...words, ...shown, ...positionals];
}

/** The usage of one command in one line. */
export function usageOf(command: CommandSpec): string {
  return usageParts(command).join(" ");
}

/** Longest line of the help. */
const HELP_WIDTH = 110;

/** The usage of one command in lines that a terminal shows whole. */
function wrappedUsage(command: CommandSpec): string {
  const lines: string[] = [];
  let line = " ";
  for (const part of usageParts(command)) {
    if (line.length + part.length >= HELP_WIDTH) {
      lines.push(line);
      line = "         ";
    }
    line += ` ${part}`;
  }
  return [...lines, line].join("\n");
}

/** What `--help` prints. */
export function helpText(): string {
  const blocks = Object.values(COMMANDS).map((command) => {
    const rows = Object.entries(command.options).map(([name, { value, environment, summary }]) => {
      const option = `--${name}${value === null ? "" : ` ${value}`}`;
      return `      ${option.padEnd(16)} ${summary}${environment === undefined ? "" : ` [${environment}]`}`;
    });
    return [wrappedUsage(command), `      ${command.summary}`, ...rows].join("\n");
  });
  return `dragoman: an LLM gateway that speaks the dialects your applications already use

Usage

${blocks.join("\n\n")}

  dragoman --help | --version

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration
`;
}
