// Request bodies of the scenarios as real clients send them. The texts are fixed, so that every run and every target gets the same
// bytes apart from the model name.
import type { ScenarioId } from "../contract/cell.ts";

const SENTENCE = "Summarise the following paragraph in one sentence and keep every number exactly as it is written. ";
const LARGE_BODY_BYTES = 200 * 1024;
const TOOLS = 24;

const SYSTEM = "You are a careful assistant. Answer briefly, in plain words, and say when you do not know.";
const SMALL_TEXT = SENTENCE.repeat(7).trim();

/** The JSON body of a scenario for a model name. `M1` has none of its own. */
export function requestBody(scenario: Exclude<ScenarioId, "M1">, model: string): string {
  return JSON.stringify(BODIES[scenario](model));
}

type RenderBody = (model: string) => object;

const smallChat: RenderBody = (model) => chat(model, SMALL_TEXT);

const BODIES: Readonly<Record<Exclude<ScenarioId, "M1">, RenderBody>> = {
  S1: smallChat,
  S2: (model) => chat(model, SENTENCE.repeat(Math.ceil(LARGE_BODY_BYTES / SENTENCE.length))),
  S3: (model) => ({ ...chat(model, SMALL_TEXT), stream: true, stream_options: { include_usage: true } }),
  S4: messages,
  S5: (model) => ({ model, input: SMALL_TEXT, encoding_format: "float" }),
  S6: toolChat,
  S8: smallChat,
  "S8-404": smallChat,
  X1: messages,
};

function chat(model: string, text: string): object {
  return {
    model,
    messages: [
      { role: "system", content: SYSTEM },
      { role: "user", content: text },
    ],
    temperature: 0.2,
    max_tokens: 256,
  };
}

function messages(model: string): object {
  return {
    model,
    max_tokens: 256,
    system: SYSTEM,
    messages: [{ role: "user", content: [{ type: "text", text: SMALL_TEXT }] }],
    temperature: 0.2,
  };
}

function toolChat(model: string): object {
  const call = {
    id: "call_0001",
    type: "function",
    function: { name: "tool_3", arguments: '{"path":"src/a.ts","line":12}' },
  };
  return {
    model,
    messages: [
      { role: "system", content: SYSTEM },
      { role: "user", content: SMALL_TEXT },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: SENTENCE.repeat(4) },
    ],
    tools: Array.from({ length: TOOLS }, (_, index) => ({
      type: "function",
      function: {
        name: `tool_${index}`,
        description: SENTENCE.trim(),
        parameters: {
          type: "object",
          properties: {
            path: { type: "string", description: "Path below the working directory." },
            line: { type: "integer", minimum: 1 },
            options: { type: "array", items: { type: "string", enum: ["fast", "exact", "dry-run"] } },
          },
          required: ["path"],
          additionalProperties: false,
        },
      },
    })),
    tool_choice: "auto",
    max_tokens: 256,
  };
}
