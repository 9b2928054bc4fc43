/** Definitions that several parts of the configuration schema refer to. `title` is the word that messages use for a value. */
import { DURATION_PATTERN } from "./duration.ts";
import { MODEL_NAME_PATTERN } from "./glob.ts";
import { SIZE_PATTERN } from "./size.ts";

/** A JSON Schema object, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A reference to a definition, with what this place adds to it. */
export const refer = (name: string, more: JsonSchema = {}): JsonSchema => ({ $ref: `#/$defs/${name}`, ...more });

/** An object whose members are all known. */
export const closed = (properties: Readonly<Record<string, JsonSchema>>, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
});

/** The shared definitions. */
export const VALUE_DEFINITIONS: Readonly<Record<string, JsonSchema>> = {
  duration: {
    title: "a duration",
    type: "string",
    pattern: DURATION_PATTERN,
    examples: ["250ms", "10s", "5m", "1h"],
  },
  durationOrOff: {
    title: 'a duration or "off"',
    type: "string",
    pattern: `^off$|${DURATION_PATTERN}`,
    examples: ["10s", "5m", "off"],
  },
  size: {
    title: "a size",
    type: ["integer", "string"],
    minimum: 1,
    pattern: SIZE_PATTERN,
    examples: [65536, "256KiB", "32MiB"],
  },
  secret: {
    title: 'a secret: "env:NAME", "file:PATH", or the text itself',
    type: "string",
    minLength: 1,
    examples: ["env:PROVIDER_API_KEY", "file:/run/secrets/provider"],
  },
  name: {
    title: "a name of letters, digits, dots, underscores and hyphens, at most 64, starting with a letter or digit",
    type: "string",
    pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    examples: ["team-a"],
  },
  modelName: {
    title: 'a public model name of letters, digits and . _ : @ / - with at most one "*"',
    type: "string",
    minLength: 1,
    maxLength: 256,
    pattern: MODEL_NAME_PATTERN,
    examples: ["chat", "vendor/*"],
  },
  alias: {
    title: "a public model name of letters, digits and . _ : @ / -",
    type: "string",
    maxLength: 256,
    pattern: "^[A-Za-z0-9._:@/-]+$",
    examples: ["best"],
  },
  upstreamModel: {
    title: "an upstream model id of printable characters without spaces",
    type: "string",
    maxLength: 256,
    pattern: "^[\\x21-\\x7e]+$",
    examples: ["large-2", "*"],
  },
  options: {
    title: "an object of options",
    type: "object",
    additionalProperties: true,
  },
  lossy: closed(
    {
      allow: {
        description:
          "Reason codes and presets (@hints, @history, @sampling, @agents, @all-droppable) that may be dropped.",
        type: "array",
        items: { title: "a reason code or preset", type: "string" },
        examples: [["@hints", "@history"]],
      },
    },
    { required: ["allow"] },
  ),
};
