/** `dragoman keys create`. The key is printed once and kept nowhere; the configuration gets its hash. */
import { ConfigValidator } from "@dragoman/core";
import type { KeyConfig } from "@dragoman/core";

import { createKey, hashKey } from "../keys/index.ts";
import { ExitCode } from "./cli-io.ts";
import type { CliIo } from "./cli-io.ts";

/** Makes a client key and prints it with the lines that let it in. */
export function runKeysCreate(io: CliIo, values: ReadonlyMap<string, string>): ExitCode {
  const key = createKey({ id: (length) => io.randomId(length) });
  const owner = values.get("owner");
  const entry: KeyConfig = {
    name: values.get("name") ?? "app",
    hash: hashKey(key),
    ...(owner === undefined ? {} : { owner }),
    models: (values.get("models") ?? "*").split(",").map((name) => name.trim()),
  };
  const problems = new ConfigValidator().validate({ keys: [entry] }).filter(({ path }) => path.startsWith("/keys/0/"));
  for (const { path, message } of problems) io.stderr.write(`--${path.split("/")[3] ?? ""}: ${message}\n`);
  if (problems.length > 0) return ExitCode.usage;
  io.stdout.write(`Client key, shown only now: ${key}\n\nFor the configuration:\n\n${yamlOf(entry)}`);
  return ExitCode.done;
}

/** JSON texts and lists are YAML too (YAML 1.2 §1.3), so nothing needs quoting rules of its own. */
function yamlOf(entry: KeyConfig): string {
  const lines = Object.entries(entry).map(([member, value]) => `${member}: ${JSON.stringify(value)}`);
  return `keys:\n  - ${lines.join("\n    ")}\n`;
}
