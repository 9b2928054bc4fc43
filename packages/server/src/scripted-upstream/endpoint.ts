// Which endpoint a path names, with and without the `/v1` prefix, and the answers that are not completions.
import { countInputTokens } from "./behaviours.ts";
import type { ScriptedDialect } from "./error-envelopes.ts";
import type { ReceivedRequest } from "./received-request.ts";

/** What a call asks for. `models` carries the id of a single model or null. */
export type Endpoint =
  | { readonly kind: "generate"; readonly dialect: ScriptedDialect }
  | { readonly kind: "count"; readonly dialect: ScriptedDialect }
  | { readonly kind: "models"; readonly dialect: ScriptedDialect; readonly id: string | null }
  | { readonly kind: "unknown"; readonly dialect: ScriptedDialect };

/** Names that the model lists show. Any other name is answered as well. */
const LISTED_MODELS: readonly string[] = ["scripted-text", "scripted-tools", "scripted-thinking", "scripted-image"];

/** Finds the endpoint of a request. */
export function endpointOf(method: string, path: string, headers: Readonly<Record<string, string>>): Endpoint {
  const bare = path.replace(/^\/v1(?=\/)/u, "");
  if (method === "POST") {
    if (bare === "/chat/completions") return { kind: "generate", dialect: "chat" };
    if (bare === "/messages") return { kind: "generate", dialect: "messages" };
    if (bare === "/messages/count_tokens") return { kind: "count", dialect: "messages" };
  }
  const dialect: ScriptedDialect =
    headers["anthropic-version"] !== undefined || bare.startsWith("/messages") ? "messages" : "chat";
  const models = method === "GET" ? /^\/models(?:\/(.+))?$/u.exec(bare) : null;
  if (models !== null) return { kind: "models", dialect, id: models[1] ?? null };
  return { kind: "unknown", dialect };
}

function modelEntry(dialect: ScriptedDialect, id: string): Readonly<Record<string, unknown>> {
  return dialect === "messages"
    ? { type: "model", id, display_name: id, created_at: "2026-09-21T00:00:00Z" }
    : { id, object: "model", created: 1_790_000_000, owned_by: "scripted" };
}

/** Writes the list of models, or the entry of one. */
export function renderModels(dialect: ScriptedDialect, id: string | null): string {
  if (id !== null) return JSON.stringify(modelEntry(dialect, id));
  const data = LISTED_MODELS.map((name) => modelEntry(dialect, name));
  return JSON.stringify(
    dialect === "messages"
      ? { data, has_more: false, first_id: LISTED_MODELS[0], last_id: LISTED_MODELS.at(-1) }
      : { object: "list", data },
  );
}

/** Writes the answer of the counting endpoint; the same rule as the usage of answers. */
export function renderCount(request: ReceivedRequest): string {
  return JSON.stringify({ input_tokens: countInputTokens(request) });
}
