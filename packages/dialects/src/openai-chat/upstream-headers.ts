// Headers of this dialect that come from a deployment's configuration, never from a client.
import type { HeaderList } from "@dragoman/core";

const OPTION_HEADERS: readonly (readonly [option: string, header: string])[] = [
  ["organization", "openai-organization"],
  ["project", "openai-project"],
];

/** The account headers that a deployment's options name. */
export function upstreamHeaders(options: Readonly<Record<string, unknown>>): HeaderList {
  const headers: string[] = [];
  for (const [option, header] of OPTION_HEADERS) {
    const value = options[option];
    if (typeof value === "string" && value !== "") headers.push(header, value);
  }
  return headers;
}
