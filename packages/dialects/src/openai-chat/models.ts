// Model lists in this dialect's shape. They are built from the configuration, never asked of a provider.
import { encodeString } from "@dragoman/core";
import type { EncodedAnswer, ListedModel } from "@dragoman/core";

const modelJson = ({ id, createdSeconds }: ListedModel): string =>
  `{"id":${encodeString(id)},"object":"model","created":${createdSeconds},"owned_by":"gateway"}`;

/** The whole list: this dialect knows no pages. */
export function encodeModelList(models: readonly ListedModel[]): EncodedAnswer {
  const json = `{"object":"list","data":[${models.map((model) => modelJson(model)).join(",")}]}`;
  return { ok: true, body: Buffer.from(json, "utf8") };
}

/** One model: an element of the list. */
export function encodeModel(model: ListedModel): Uint8Array {
  return Buffer.from(modelJson(model), "utf8");
}
