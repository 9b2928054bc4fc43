/** Schema of capability overrides: a deployment's own statement about what its model can do. */
import { closed } from "./schema-values.ts";
import type { JsonSchema } from "./schema-values.ts";

const flag = (description: string): JsonSchema => ({ type: "boolean", description });
const count = (description: string): JsonSchema => ({ type: "integer", minimum: 1, description });

const input = closed(
  {
    image: flag("Images as data."),
    imageUrl: flag("Images by URL."),
    audio: flag("Audio."),
    video: flag("Video."),
    pdf: flag("PDF files as data."),
    pdfUrl: flag("PDF files by URL."),
  },
  { description: "What the model can read beside text." },
);

const output = closed(
  { audio: flag("Audio answers."), image: flag("Image answers.") },
  { description: "What the model can write beside text." },
);

const tools = closed(
  {
    function: flag("Function tools."),
    strict: flag("Strict schemas of function tools."),
    custom: flag("Free-text tools."),
    forcedChoice: flag("A tool choice that forces a call."),
    parallelOff: flag("Parallel calls can be turned off."),
    max: count("Most tools in one request."),
    withReasoning: flag("Tools together with reasoning."),
  },
  { description: "Tools." },
);

const structured = closed(
  {
    jsonSchema: flag("Answers bound to a JSON Schema."),
    jsonObject: flag("Answers that are some JSON object."),
    schemaDialect: { type: "string", description: "Which subset of JSON Schema the upstream takes." },
  },
  { description: "Structured answers." },
);

const reasoning = closed(
  {
    support: flag("The model can reason."),
    canDisable: flag("Reasoning can be turned off."),
    efforts: {
      type: "array",
      items: { title: "an effort", enum: ["none", "minimal", "low", "medium", "high", "xhigh", "max"] },
      description: "Effort words the upstream takes.",
    },
    budget: flag("Reasoning budgets in tokens."),
    adaptive: flag("The model decides how much to reason."),
    betweenTools: flag("Reasoning between tool calls."),
    defaultOn: flag("Reasons unless told otherwise."),
    summaries: flag("Summaries of the reasoning."),
  },
  { description: "Reasoning." },
);

/** Capability overrides of a deployment. */
export const CAPABILITIES_SCHEMA: JsonSchema = closed(
  {
    dialects: {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      description: "Dialects of the provider's kind that this deployment speaks, best first; absent: all of them.",
    },
    contextWindow: count("Tokens of input and output together."),
    maxOutputTokens: count("Most output tokens."),
    defaultMaxOutputTokens: count("Sent where the upstream requires a maximum and the client gave none."),
    input,
    output,
    sampling: {
      enum: ["full", "temperature-xor-top_p", "none", "only-when-reasoning-off"],
      description: "Which sampling parameters the model takes.",
    },
    temperatureMax: { type: "number", minimum: 0, description: "Highest temperature." },
    topK: flag("top_k."),
    penalties: flag("Frequency and presence penalties."),
    seed: flag("A seed."),
    logprobs: flag("Log probabilities."),
    maxN: count("Most candidates in one answer."),
    stop: closed(
      { supported: flag("Stop sequences."), max: count("Most stop sequences.") },
      { description: "Stop sequences." },
    ),
    tools,
    structured,
    reasoning,
    midConversationSystem: flag("System messages after the first turn."),
    prefill: flag("A last assistant turn that the model continues."),
    explicitCache: flag("Cache breakpoints."),
    cacheTtls: {
      type: "array",
      items: { type: "integer", minimum: 1 },
      description: "Cache lifetimes the upstream takes, in seconds.",
    },
    thoughtSignatures: { enum: ["required", "optional"], description: "Signatures over reasoning history." },
    functionResponseMedia: flag("Media in tool results."),
  },
  {
    description:
      "What the model can do, laid over the built-in knowledge of its kind; groups are merged, lists are replaced.",
  },
);
