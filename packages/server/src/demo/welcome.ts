// The text that the demo prints when it stays: addresses, key, models, and commands to paste.
import { COLUMNS, heading, paletteFor, row } from "./text-layout.ts";
import type { TextOutput } from "./text-layout.ts";
import { DEMO_MODELS } from "./demo-config.ts";
import { credentialHeaders, pathOf } from "./tour-client.ts";
import type { TourDialect } from "./tour-client.ts";

/** What a visitor needs to know. */
export interface DemoAddresses {
  readonly gatewayUrl: string;
  readonly upstreamUrl: string;
  readonly key: string;
}

/** Writes the addresses and the key. */
export function writeAddresses(output: TextOutput, { gatewayUrl, upstreamUrl, key }: DemoAddresses): void {
  output.write(`\n${heading("Dragoman demo", paletteFor(output))}`);
  output.write(row("gateway", gatewayUrl));
  output.write(row("upstream", `${upstreamUrl} (scripted, part of this process, nothing leaves this machine)`));
  output.write(row("key", key));
}

/** Writes the models and one command for each dialect, whole and streamed. */
export function writeCommands(output: TextOutput, { gatewayUrl, key }: DemoAddresses): void {
  const palette = paletteFor(output);
  output.write(`\n${heading("Models", palette)}`);
  for (const [name, purpose] of DEMO_MODELS) output.write(row(name, purpose));
  for (const [title, dialect, model, isStreamed] of COMMANDS) {
    output.write(`\n${heading(title, palette)}${curlCommand(gatewayUrl, key, dialect, model, isStreamed)}\n`);
  }
  output.write(
    `\n${palette.faint("Any model works with either client. Stop with Ctrl+C.".padEnd(COLUMNS).trimEnd())}\n`,
  );
}

const COMMANDS: readonly (readonly [string, TourDialect, string, boolean])[] = [
  ["OpenAI-style client", "chat", "chat", false],
  ["OpenAI-style client, Anthropic-style upstream, streamed", "chat", "messages", true],
  ["Anthropic-style client", "messages", "messages", false],
  ["Anthropic-style client, OpenAI-style upstream, streamed", "messages", "chat", true],
];

/** One `curl` command over several lines, ready for a POSIX shell. */
function curlCommand(
  gatewayUrl: string,
  key: string,
  dialect: TourDialect,
  model: string,
  isStreamed: boolean,
): string {
  const body = {
    model,
    ...(dialect === "messages" ? { max_tokens: 99 } : {}),
    ...(isStreamed ? { stream: true } : {}),
    messages: [{ role: "user", content: "Hello" }],
  };
  const headers = { "content-type": "application/json", ...credentialHeaders(dialect, key) };
  return [
    `curl ${isStreamed ? "-sN" : "-s"} ${gatewayUrl}${pathOf(dialect)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H '${name}: ${value}'`),
    `  -d '${JSON.stringify(body)}'`,
  ].join(" \\\n");
}
