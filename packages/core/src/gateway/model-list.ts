/** Model lists, built from the configuration and the caller's permissions; never asked of an upstream. */
import { isModelAllowed, type Model } from "../config/index.ts";
import type { ListedModel } from "../dialect/index.ts";
import type { NeutralError } from "../ir/index.ts";
import type { Exchange } from "./exchange.ts";
import { unknownModel } from "./failures.ts";

/** Answers a list or one model. Null = answered. */
export function listModels(exchange: Exchange, operation: "list-models" | "get-model"): NeutralError | null {
  const { client, route } = exchange;
  const allowed = exchange.principal?.models ?? [];
  const visible = exchange.snapshot.models.filter((model) => !model.isGlob && isModelAllowed(allowed, model.name));
  if (operation === "get-model") {
    const id = decodeSegment(route?.captures["id"] ?? "");
    const resolved = exchange.snapshot.findModel(id);
    if (resolved === null || !(isModelAllowed(allowed, id) || isModelAllowed(allowed, resolved.model.name)))
      return unknownModel(id);
    exchange.answers.local(client.encodeModel(listed(resolved.model, id, exchange.engine.startedMs)));
    return null;
  }
  const names = visible.flatMap((model) =>
    [model.name, ...model.aliases].map((name) => listed(model, name, exchange.engine.startedMs)),
  );
  const encoded = client.encodeModelList(names, route?.query ?? "");
  if (!encoded.ok) return encoded.error;
  exchange.answers.local(encoded.body);
  return null;
}

const listed = (model: Model, name: string, startedMs: number): ListedModel => {
  const capabilities = model.tiers[0]?.[0]?.capabilities;
  return {
    id: name,
    displayName: name,
    createdSeconds: Math.floor(startedMs / 1000),
    ...(capabilities?.contextWindow === undefined ? {} : { contextWindow: capabilities.contextWindow }),
    ...(capabilities?.maxOutputTokens === undefined ? {} : { maxOutputTokens: capabilities.maxOutputTokens }),
  };
};

const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A broken escape names no model; the raw text then finds none.
    return segment;
  }
};
