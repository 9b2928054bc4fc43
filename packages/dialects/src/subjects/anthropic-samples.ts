// Requests of the Messages API as clients write them.
import fc from "fast-check";

import type { JsonObject, JsonValue } from "../testing/spelled-json.ts";
import { argumentsText, objectSchema, someOf, toolName, visibleText } from "../testing/json-samples.ts";

const mark = fc.constantFrom<JsonObject>(
  {},
  {},
  { cache_control: { type: "ephemeral" } },
  { cache_control: { type: "ephemeral", ttl: "1h" } },
);
const vendor = fc.constantFrom<JsonObject>({}, {}, { vendor_x: { a: [1, "é"] } });
const textBlock = fc
  .tuple(visibleText, mark, vendor)
  .map(([text, marks, extra]) => ({ type: "text", text, ...marks, ...extra }));
const mediaBlock = fc.constantFrom<JsonObject>(
  { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0K" } },
  { type: "image", source: { type: "url", url: "https://example.test/a.png" } },
  { type: "image", source: { type: "file", file_id: "file_1" } },
  { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0x" }, title: "T" },
  { type: "document", source: { type: "text", media_type: "text/plain", data: "plain" }, context: "C" },
  { type: "document", source: { type: "url", url: "https://example.test/a.pdf" }, citations: { enabled: true } },
  { type: "search_result", source: "https://example.test", title: "T", content: [{ type: "text", text: "r" }] },
  { type: "container_upload", file_id: "file_2" },
);
const userBlocks = fc.array(fc.oneof({ weight: 2, arbitrary: textBlock }, { weight: 1, arbitrary: mediaBlock }), {
  minLength: 2,
  maxLength: 3,
});

const thinking = fc.constantFrom<JsonObject>(
  { type: "thinking", thinking: "hm", signature: "c2ln" },
  { type: "thinking", thinking: "", signature: "c2ln" },
  { type: "redacted_thinking", data: "ZGF0YQ" },
);

const resultContent = fc.oneof(
  fc.constant(undefined),
  visibleText,
  fc.array(fc.oneof(textBlock, mediaBlock), { minLength: 2, maxLength: 2 }),
);

const turn = fc.record({
  user: fc.oneof(visibleText, userBlocks),
  thinking: fc.option(thinking, { nil: undefined, freq: 4 }),
  text: fc.option(visibleText, { nil: undefined }),
  calls: fc.array(fc.record({ name: toolName, text: argumentsText }), { maxLength: 3 }),
  result: resultContent,
  isError: fc.boolean(),
});

const tools = fc.uniqueArray(
  fc.record({
    name: toolName,
    description: fc.option(visibleText, { nil: undefined }),
    input_schema: objectSchema,
    mark,
    isStrict: fc.boolean(),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
);

const members = someOf({
  temperature: fc.constantFrom(0, 0.5, 1),
  top_p: fc.constantFrom(0.1, 0.5),
  top_k: fc.integer({ min: 1, max: 100 }),
  stop_sequences: fc.array(visibleText, { minLength: 1, maxLength: 4 }),
  thinking: fc.constantFrom<JsonObject>(
    { type: "adaptive" },
    { type: "adaptive", display: "summarized" },
    { type: "disabled" },
  ),
  output_config: fc.constantFrom<JsonObject>(
    { effort: "high" },
    { format: { type: "json_schema", schema: { type: "object", properties: {}, additionalProperties: false } } },
  ),
  metadata: fc.constant({ user_id: "u-1" }),
  service_tier: fc.constant("standard_only"),
  speed: fc.constant("fast"),
  cache_control: fc.constant({ type: "ephemeral" }),
  container: fc.constant("c_1"),
  context_management: fc.constant({ edits: [] }),
  vendor_member: fc.constant([1, null]),
});

const commonMembers = someOf({
  temperature: fc.constantFrom(0, 0.5),
  stop_sequences: fc.array(visibleText, { minLength: 1, maxLength: 4 }),
  metadata: fc.constant({ user_id: "u-1" }),
});

/** Requests that are already in this dialect's own spelling. */
export const messagesRequests: fc.Arbitrary<JsonObject> = fc
  .record({
    system: fc.option(fc.oneof(visibleText, fc.array(textBlock, { minLength: 2, maxLength: 3 })), { nil: undefined }),
    turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
    members: fc.oneof(members, commonMembers),
    tools,
    choice: fc.option(fc.constantFrom("auto-sequential", "any", "tool", "none"), { nil: undefined }),
    maxTokens: fc.integer({ min: 1, max: 100_000 }),
    stream: fc.constantFrom<JsonObject>({}, { stream: true }),
  })
  .map((plan) => {
    const messages: JsonValue[] = [];
    let made = 0;
    let results: JsonValue[] = [];
    for (const { user, thinking: thought, text, calls, result, isError } of plan.turns) {
      const said: JsonValue[] = typeof user === "string" ? [{ type: "text", text: user }] : [...user];
      const isPlain = results.length === 0 && typeof user === "string";
      messages.push({ role: "user", content: isPlain ? user : [...results, ...said] });
      results = [];
      const uses = calls.map((call): JsonObject => {
        made += 1;
        return { type: "tool_use", id: `toolu_${made}`, name: call.name, input: JSON.parse(call.text) as JsonValue };
      });
      const blocks: JsonValue[] = thought === undefined ? [] : [thought];
      if (text !== undefined || uses.length === 0) blocks.push({ type: "text", text: text ?? "Hm." });
      blocks.push(...uses);
      const [only] = blocks;
      const isText = blocks.length === 1 && (only as JsonObject)["type"] === "text";
      messages.push({ role: "assistant", content: isText ? ((only as JsonObject)["text"] as string) : blocks });
      results = uses.map(({ id }) => ({
        type: "tool_result",
        tool_use_id: id as JsonValue,
        ...(result === undefined ? null : { content: result as JsonValue }),
        ...(isError ? { is_error: true } : null),
      }));
    }
    messages.push({
      role: "user",
      content: results.length === 0 ? "Go on" : [...results, { type: "text", text: "Go on" }],
    });
    const [first] = plan.tools;
    const thinksNot = (plan.members["thinking"] as JsonObject | undefined)?.["type"] === "disabled";
    // Effort says nothing where thinking is off.
    const { output_config: config, ...others } = plan.members;
    const hasEffort = (config as JsonObject | undefined)?.["effort"] !== undefined;
    return withFewMarks({
      model: "m",
      max_tokens: plan.maxTokens,
      ...(plan.system === undefined ? null : { system: plan.system }),
      messages,
      ...others,
      ...(config === undefined || (thinksNot && hasEffort) ? null : { output_config: config }),
      ...(first === undefined
        ? null
        : {
            tools: plan.tools.map(({ description, mark: marks, isStrict, ...tool }) => ({
              ...tool,
              ...(description === undefined ? null : { description }),
              ...(isStrict && tool.input_schema["additionalProperties"] === false ? { strict: true } : null),
              ...marks,
            })),
            ...(plan.choice === undefined ? null : { tool_choice: choiceOf(plan.choice, first.name) }),
          }),
      ...plan.stream,
    });
  });

/** The API takes four cache marks; an automatic one counts. */
function withFewMarks(body: JsonObject): JsonObject {
  let left = body["cache_control"] === undefined ? 4 : 3;
  const thin = (value: JsonValue, isRoot: boolean): JsonValue => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map((inner) => thin(inner, false));
    const members = Object.entries(value).filter(([name]) => isRoot || name !== "cache_control" || left-- > 0);
    return Object.fromEntries(members.map(([name, inner]) => [name, thin(inner, false)]));
  };
  return thin(body, true) as JsonObject;
}

function choiceOf(word: string, name: string): JsonObject {
  if (word === "auto-sequential") return { type: "auto", disable_parallel_tool_use: true };
  return word === "tool" ? { type: "tool", name } : { type: word };
}
