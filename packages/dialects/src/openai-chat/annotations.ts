// URL citations: this dialect nests them, a sibling dialect of the same vendor does not. Citations of other shapes have no place here.
import { rawToValue } from "@dragoman/core";
import type { Raw } from "@dragoman/core";

const MEMBERS: readonly string[] = ["start_index", "end_index", "title", "url"];

/** One annotation as JSON, or null when it is no URL citation. */
export function annotationJson(raw: Raw): string | null {
  const value = rawToValue(raw);
  if (!isRecord(value) || value["type"] !== "url_citation") return null;
  const nested = value["url_citation"];
  const source = isRecord(nested) ? nested : value;
  if (typeof source["url"] !== "string") return null;
  const known = Object.fromEntries(MEMBERS.filter((name) => name in source).map((name) => [name, source[name]]));
  return JSON.stringify({ type: "url_citation", url_citation: known });
}

/** The URL citations of a list as a JSON list, or null when there is none. */
export function annotationsJson(raw: Raw): string | null {
  const value = rawToValue(raw);
  if (!Array.isArray(value)) return null;
  const items = value.map((item) => annotationJson({ value: item })).filter((json) => json !== null);
  return items.length === 0 ? null : `[${items.join(",")}]`;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
