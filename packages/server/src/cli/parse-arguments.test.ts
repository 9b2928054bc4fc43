import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseArguments } from "./parse-arguments.ts";

describe("parseArguments", () => {
  const rows: readonly {
    readonly args: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly expected: string;
  }[] = [
    { args: "", expected: "serve {} [] []" },
    { args: "serve", expected: "serve {} [] []" },
    { args: "--port 80", expected: 'serve {"port":"80"} [] []' },
    { args: "serve --port=80 --host ::", expected: 'serve {"port":"80","host":"::"} [] []' },
    { args: "serve --config a.yaml --data d", expected: 'serve {"config":"a.yaml","data":"d"} [] []' },
    { args: "", env: { DRAGOMAN_CONFIG: "c", DRAGOMAN_PORT: "1" }, expected: 'serve {"config":"c","port":"1"} [] []' },
    { args: "--config a", env: { DRAGOMAN_CONFIG: "c", DRAGOMAN_HOST: "" }, expected: 'serve {"config":"a"} [] []' },
    { args: "demo --once", expected: 'demo {} ["once"] []' },
    { args: "check a.yaml --offline", expected: 'check {} ["offline"] ["a.yaml"]' },
    { args: "check --offline -- --odd", expected: 'check {} ["offline"] ["--odd"]' },
    { args: "schema", expected: "schema {} [] []" },
    { args: "explain --config a --dialect d r.json", expected: 'explain {"config":"a","dialect":"d"} [] ["r.json"]' },
    { args: "keys create --name=n --models a,b", expected: 'keys create {"name":"n","models":"a,b"} [] []' },
    { args: "--help", expected: "help" },
    { args: "help", expected: "help" },
    { args: "check -h", expected: "help" },
    { args: "serve --help", expected: "help" },
    { args: "--version", expected: "version" },
    { args: "chekc a", expected: 'unknown command "chekc"; did you mean "check"?' },
    { args: "frobnicate", expected: 'unknown command "frobnicate"' },
    { args: "keys", expected: '"keys" needs one of: create, list, revoke, rotate, import' },
    { args: "keys --name x", expected: '"keys" needs one of: create, list, revoke, rotate, import' },
    { args: "keys revoke --data d app", expected: 'keys revoke {"data":"d"} [] ["app"]' },
    { args: "keys rotate", expected: "usage: dragoman keys rotate [--grace TIME] [--config FILE] [--data DIR] KEY" },
    { args: "ledger", expected: '"ledger" needs one of: export, spend, reprice' },
    { args: "keys craete", expected: 'unknown command "keys craete"; did you mean "create"?' },
    { args: "serve --prot 1", expected: 'unknown option --prot; did you mean "--port"?' },
    { args: "serve -p 1", expected: "unknown option -p" },
    { args: "schema --constructor", expected: "unknown option --constructor" },
    { args: "serve --port", expected: "--port needs a value: --port N" },
    { args: "serve --port --host x", expected: "--port needs a value: --port N" },
    { args: "serve --port=", expected: "--port needs a value: --port N" },
    { args: "serve --port 1 --port 2", expected: "--port is given twice" },
    { args: "demo --once=yes", expected: "--once takes no value" },
    { args: "serve extra", expected: "usage: dragoman serve [--config FILE] [--host HOST] [--port N] [--data DIR]" },
    { args: "check", expected: "usage: dragoman check [--offline] FILE" },
    { args: "check a b", expected: "usage: dragoman check [--offline] FILE" },
  ];
  it.each(rows)("reads '$args' as $expected", ({ args, env, expected }) => {
    const parsed = parseArguments(args === "" ? [] : args.split(" "), env ?? {});
    const shown =
      parsed.kind === "command"
        ? `${parsed.name} ${JSON.stringify(Object.fromEntries(parsed.values))} ${JSON.stringify([...parsed.switches])} ${JSON.stringify(parsed.positionals)}`
        : parsed.kind === "mistake"
          ? parsed.message
          : parsed.kind;
    expect(shown).toBe(expected);
  });

  it("never throws, for any arguments", () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom("serve", "keys", "create", "--port", "--port=", "--", "-", "-x", "--no-once"),
    );
    fc.assert(
      fc.property(fc.array(word), (args) => {
        expect(["help", "version", "command", "mistake"]).toContain(parseArguments(args, {}).kind);
      }),
    );
  });
});
