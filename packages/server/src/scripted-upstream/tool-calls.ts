// Chooses the tool calls of a scripted answer from the tools that the request offers, with arguments that fit their schemas.
import type { ScriptedToolCall } from "./answer.ts";
import type { ReceivedRequest, ReceivedTool } from "./received-request.ts";

const CITIES: readonly string[] = ["Oslo", "Rome", "Bonn"];
const WEATHER: ReceivedTool = {
  name: "get_weather",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const MAX_DEPTH = 4;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value that fits a schema, as far as types, enums and properties go; `position` makes calls differ. */
function valueFor(schema: unknown, position: number, depth: number): unknown {
  if (!isObject(schema)) return CITIES[position % CITIES.length];
  if (Array.isArray(schema["enum"])) return schema["enum"][0] as unknown;
  const declared = schema["type"];
  const type = Array.isArray(declared) ? (declared[0] as unknown) : declared;
  switch (type) {
    case "integer":
    case "number":
      return position + 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return depth >= MAX_DEPTH ? [] : [valueFor(schema["items"], position, depth + 1)];
    case "object":
      return depth >= MAX_DEPTH ? {} : objectFor(schema, position, depth);
    default:
      return CITIES[position % CITIES.length];
  }
}

function objectFor(
  schema: Readonly<Record<string, unknown>>,
  position: number,
  depth: number,
): Record<string, unknown> {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : Object.keys(properties);
  const filled: Record<string, unknown> = {};
  for (const name of required) {
    if (typeof name === "string") filled[name] = valueFor(properties[name], position, depth + 1);
  }
  return filled;
}

/** Chooses `count` calls: the forced tool, else the offered tools in turn, else a weather tool. */
export function chooseToolCalls(request: ReceivedRequest, count: number): readonly ScriptedToolCall[] {
  const forced = request.tools.filter((tool) => tool.name === request.forcedTool);
  const offered = forced.length > 0 ? forced : request.tools.length > 0 ? request.tools : [WEATHER];
  const prefix = request.dialect === "chat" ? "call" : "toolu";
  return Array.from({ length: count }, (_, position) => {
    const tool = offered[position % offered.length] ?? WEATHER;
    const schema = isObject(tool.schema) ? tool.schema : {};
    return {
      id: `${prefix}_scripted_${position + 1}`,
      name: tool.name,
      arguments: JSON.stringify(objectFor(schema, position, 0)),
    };
  });
}
