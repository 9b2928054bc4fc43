/** Schema of `providers`: upstream accounts. */
import { closed, refer } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

const profile: JsonSchema = {
  title: 'a profile name, or an object that "extends" one',
  description:
    "Which variety of the kind's first dialect the upstream speaks: a built-in profile by name, or one with changes. Default: the kind's own.",
  type: ["string", "object"],
  minLength: 1,
  required: ["extends"],
  properties: {
    extends: { type: "string", minLength: 1, description: "The built-in profile that the other members change." },
  },
  additionalProperties: true,
  examples: ["generic", { extends: "generic", maxTokensField: "max_tokens" }],
};

const credentialHeader = closed(
  {
    name: {
      title: "a header name",
      type: "string",
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
      description: "Name of the header.",
      examples: ["x-api-key"],
    },
    prefix: {
      title: "printable ASCII text",
      type: "string",
      pattern: "^[\\x20-\\x7e]{0,100}$",
      description: "What stands before the secret.",
      default: "",
      examples: ["Bearer "],
    },
  },
  { required: ["name"], description: "The header that carries the credential. Default: the kind's own." },
);

const provider: JsonSchema = closed(
  {
    kind: {
      title: "a provider kind",
      type: "string",
      minLength: 1,
      description: "How this account is addressed: a registered provider kind.",
    },
    baseUrl: {
      title: "an http or https URL",
      type: "string",
      minLength: 1,
      description:
        "Where the upstream's API begins. No user name, query or fragment. Default: the kind's own; kinds without one require it.",
      examples: ["https://llm.example.com/v1"],
    },
    credentials: {
      type: "array",
      items: refer("secret"),
      minItems: 1,
      description: "Secrets of the account; several are used in turn. Required unless the kind works without.",
      examples: [["env:PROVIDER_API_KEY"]],
    },
    credentialHeader,
    profile,
    headers: {
      type: "object",
      propertyNames: {
        title: "a header name",
        type: "string",
        pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
      },
      additionalProperties: refer("secret"),
      description:
        "Static headers for every call to this upstream. Headers that frame or authenticate the call are refused.",
      default: {},
      examples: [{ "x-project": "demo" }],
    },
    options: refer("options", {
      description: "Options for every deployment of this provider.",
      default: {},
    }),
  },
  { required: ["kind"] },
);

/** The `providers` member. */
export const PROVIDERS_SCHEMA: JsonSchema = {
  description: "Upstream accounts by name.",
  type: "object",
  propertyNames: refer("name"),
  additionalProperties: provider,
  minProperties: 1,
  examples: [{ main: { kind: "some-kind", credentials: ["env:PROVIDER_API_KEY"] } }],
};
