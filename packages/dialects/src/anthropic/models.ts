/** Model lists for this dialect's clients, built from the configuration, with its id-based paging. */
import type { EncodedAnswer, ListedModel } from "@dragoman/core";

import { invalidRequest } from "../shared/neutral-error.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

const describe = (model: ListedModel): Readonly<Record<string, unknown>> => ({
  type: "model",
  id: model.id,
  display_name: model.displayName,
  // RFC 3339 without a fraction.
  created_at: new Date(model.createdSeconds * 1000).toISOString().replace(".000Z", "Z"),
});

const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value), "utf8");

/** The bounds of a page in the list: after one id, or before one. An id that is not there counts from that end. */
function pageBounds(models: readonly ListedModel[], query: URLSearchParams, limit: number): readonly [number, number] {
  const beforeId = query.get("before_id");
  if (beforeId !== null) {
    const before = models.findIndex((model) => model.id === beforeId);
    const end = before === -1 ? models.length : before;
    return [Math.max(0, end - limit), end];
  }
  const afterId = query.get("after_id");
  const start = afterId === null ? 0 : models.findIndex((model) => model.id === afterId) + 1;
  return [start, Math.min(models.length, start + limit)];
}

/** Writes one page of the model list. */
export function encodeModelList(models: readonly ListedModel[], query: string): EncodedAnswer {
  const parameters = new URLSearchParams(query);
  const limitText = parameters.get("limit") ?? String(DEFAULT_LIMIT);
  const limit = /^\d{1,4}$/.test(limitText) ? Number(limitText) : 0;
  if (limit < 1 || limit > MAX_LIMIT) {
    return { ok: false, error: invalidRequest(`limit: expected a whole number from 1 to ${MAX_LIMIT}.`, "/limit") };
  }
  const [start, end] = pageBounds(models, parameters, limit);
  const page = models.slice(start, end);
  const hasMore = parameters.has("before_id") ? start > 0 : end < models.length;
  const body = {
    data: page.map(describe),
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
  return { ok: true, body: encode(body) };
}

/** Writes one model. */
export function encodeModel(model: ListedModel): Uint8Array {
  return encode(describe(model));
}
