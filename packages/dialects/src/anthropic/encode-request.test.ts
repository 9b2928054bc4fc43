import type { NeutralRequest, Part, Tool } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { encodeRequest } from "./encode-request.ts";
import { bodyText, EVERYTHING, issueList, targetOf, type TargetChoice } from "./test-exchange.ts";

const text = (value: string, at = "/t"): Part => ({ type: "text", text: value, at });
const userMessage = (...parts: Part[]): NeutralRequest["messages"][number] => ({
  role: "user",
  parts,
  at: "/messages/0",
});
const call = (id: string, args = "{}", extra: object = {}): Part =>
  ({
    type: "tool-call",
    id,
    name: "f",
    kind: "function",
    arguments: { text: args, encoded: true },
    at: `/call/${id}`,
    ...extra,
  }) as Part;
const result = (callId: string, ...content: Part[]): Part => ({
  type: "tool-result",
  callId,
  content,
  at: `/result/${callId}`,
});

/** A request as another dialect's decoder makes it. */
const request = (members: Partial<NeutralRequest>): NeutralRequest => ({
  source: "other",
  operation: "generate",
  model: "m",
  stream: false,
  messages: [userMessage(text("Hi"))],
  tools: [],
  maxOutputTokens: 100,
  sampling: {},
  output: {},
  cache: {},
  identity: {},
  streamOptions: {},
  extensions: [],
  ...members,
});

const encode = (members: Partial<NeutralRequest>, choice: TargetChoice = {}) =>
  encodeRequest(request(members), targetOf(choice));
const tool = (members: object = {}): Tool =>
  ({
    kind: "function",
    name: "f",
    schema: { value: { type: "object", properties: {} } },
    extensions: [],
    at: "/tools/0",
    ...members,
  }) as Tool;

const SYSTEM = { role: "instruction", position: "leading", authority: "system", at: "/messages/0" } as const;
const DEVELOPER = { ...SYSTEM, authority: "developer" } as const;

interface Row {
  readonly name: string;
  readonly members: Partial<NeutralRequest>;
  readonly choice?: TargetChoice;
  /** A part of the body, or the issues that refuse it. */
  readonly contains?: string;
  readonly lacks?: string;
  readonly issues?: readonly string[];
  readonly refused?: true;
}

/** Checks a row; throws with the difference where it does not hold. */
const holds = ({ members, choice, contains, lacks, issues, refused }: Row): boolean => {
  const encoded = encode(members, choice);
  expect(encoded.ok).toBe(refused !== true);
  if (issues !== undefined) expect(issueList(encoded)).toEqual(issues);
  if (contains !== undefined) expect(bodyText(encoded)).toContain(contains);
  if (lacks !== undefined) expect(bodyText(encoded)).not.toContain(lacks);
  return true;
};

describe("encodeRequest: instructions and messages", () => {
  const rows: Row[] = [
    {
      name: "one plain instruction is a string",
      members: { messages: [{ ...SYSTEM, parts: [text("Be brief.")] }, userMessage(text("Hi"))] },
      contains: '"system":"Be brief.","messages":[{"role":"user","content":"Hi"}]',
      issues: [],
    },
    {
      name: "several instructions are one block each, system before developer",
      members: {
        messages: [{ ...DEVELOPER, parts: [text("D")] }, { ...SYSTEM, parts: [text("S")] }, userMessage(text("Hi"))],
      },
      contains: '"system":[{"type":"text","text":"S"},{"type":"text","text":"D"}]',
      issues: ["system_merged@/messages/0"],
    },
    {
      name: "a later instruction keeps its place between a user and an assistant message",
      members: {
        messages: [
          userMessage(text("a")),
          { ...SYSTEM, position: "mid", parts: [text("S")] },
          { role: "assistant", parts: [text("b")], at: "/m" },
          userMessage(text("c")),
        ],
      },
      contains: '{"role":"user","content":"a"},{"role":"system","content":"S"},{"role":"assistant","content":"b"}',
      issues: [],
    },
    {
      name: "elsewhere a later instruction refuses the deployment",
      members: {
        messages: [userMessage(text("a")), { ...SYSTEM, position: "mid", parts: [text("S")] }, userMessage(text("b"))],
      },
      refused: true,
      issues: ["system_position_unsupported@/messages/0"],
    },
    {
      name: "or goes to the end of the leading ones, and its neighbours are joined",
      members: {
        messages: [userMessage(text("a")), { ...SYSTEM, position: "mid", parts: [text("S")] }, userMessage(text("b"))],
      },
      choice: { allow: ["system_position_unsupported"], capabilities: { midConversationSystem: false } },
      contains:
        '"system":"S","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]',
      issues: ["system_position_unsupported@/messages/0", "instruction_moved@/messages/0"],
    },
    {
      name: "empty texts vanish, also from tool results",
      members: {
        messages: [
          userMessage(text(""), text("hi")),
          { role: "assistant", parts: [text(""), call("c1")], at: "/m" },
          userMessage(result("c1", text(""))),
        ],
        tools: [tool()],
      },
      contains:
        '"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"}]}]',
      issues: ["empty_text_removed@/t"],
    },
    {
      name: "a user message with nothing left refuses the request",
      members: { messages: [userMessage(text(" \n"))] },
      refused: true,
      issues: ["empty_text_removed@/t", "empty_content@/messages/0"],
    },
    {
      name: "a conversation must begin with the user",
      members: { messages: [{ role: "assistant", parts: [text("a")], at: "/m" }, userMessage(text("b"))] },
      refused: true,
      issues: ["role_sequence_invalid@/m"],
    },
    {
      name: "names of participants are lost",
      members: { messages: [{ ...userMessage(text("a")), name: "bob" }] },
      choice: { allow: ["name_unsupported"] },
      contains: '{"role":"user","content":"a"}',
      issues: ["name_unsupported@/messages/0/name"],
    },
    {
      name: "a prefill that ends in white space is refused",
      members: { messages: [userMessage(text("a")), { role: "assistant", parts: [text("b ", "/p")], at: "/m" }] },
      refused: true,
      issues: ["prefill_unsupported@/p"],
    },
    {
      name: "a refusal goes as text",
      members: {
        messages: [
          userMessage(text("a")),
          { role: "assistant", parts: [{ type: "refusal", text: "No.", at: "/r" }], at: "/m" },
          userMessage(text("b")),
        ],
      },
      contains: '{"role":"assistant","content":[{"type":"text","text":"No."}]}',
      issues: ["content_reshaped@/r"],
    },
  ];
  it.each(rows)("$name", (row) => expect(row).toSatisfy(holds));
});

describe("encodeRequest: tool calls", () => {
  const asked = [userMessage(text("a")), { role: "assistant" as const, parts: [call("c1"), call("c2")], at: "/m" }];
  it("answers in call order before any other block", () => {
    const encoded = encode({
      messages: [...asked, userMessage(text("now?"), result("c2", text("2")), result("c1", text("1")))],
      tools: [tool()],
    });
    expect(bodyText(encoded)).toContain(
      '"content":[{"type":"tool_result","tool_use_id":"c1","content":"1"},{"type":"tool_result","tool_use_id":"c2","content":"2"},{"type":"text","text":"now?"}]',
    );
  });
  it("names calls without an answer, and answers without a call", () => {
    expect(issueList(encode({ messages: [...asked, userMessage(result("c2"), result("c9"))] }))).toEqual([
      "tool_result_unpaired@/result/c9",
      "tool_result_unpaired@/call/c1",
    ]);
    expect(encode({ messages: asked }).ok).toBe(false);
    expect(encode({ messages: [...asked, userMessage(result("c1"), result("c1"), result("c2"))] }).ok).toBe(false);
  });
  it("replaces illegal ids in call and result alike, without collisions", () => {
    const ids = ["functions.Bash:0", "functions.Bash.0", ""];
    const encoded = encode({
      messages: [
        userMessage(text("a")),
        { role: "assistant", parts: ids.map((id) => call(id)), at: "/m" },
        userMessage(...ids.map((id) => result(id))),
      ],
      tools: [tool()],
    });
    const sent = [...bodyText(encoded).matchAll(/"(?:id|tool_use_id)":"(toolu_[0-9A-Za-z]{24})"/g)].map(
      (match) => match[1],
    );
    expect(new Set(sent).size).toBe(3);
    expect(sent.slice(0, 3)).toEqual(sent.slice(3));
  });
  const args = [
    { args: "", ok: true },
    { args: " ", ok: true },
    { args: '{"n": 12345678901234567890}', ok: true },
    { args: "[1]", ok: false },
    { args: '{"a":', ok: false },
    { args: '"x"', ok: false },
  ];
  it.each(args)("arguments $args are an object: $ok", ({ args: source, ok }) => {
    const encoded = encode({
      messages: [
        userMessage(text("a")),
        { role: "assistant", parts: [call("c1", source)], at: "/m" },
        userMessage(result("c1")),
      ],
      tools: [tool()],
    });
    expect(encoded.ok).toBe(ok);
    const found = encoded.ok ? bodyText(encoded) : issueList(encoded).join();
    const input = `"input":${source.trim() === "" ? "{}" : source}`;
    expect(found).toContain(ok ? input : "tool_arguments_not_object@/call/c1");
  });
});

describe("encodeRequest: media", () => {
  const file = (mime: string, data: string): Part => ({
    type: "file",
    media: { from: "base64", mime, data },
    filename: "t.csv",
    at: "/f",
  });
  const image = (mime: string): Part => ({ type: "image", media: { from: "base64", mime, data: "QQ==" }, at: "/i" });
  const rows: Row[] = [
    {
      name: "jpg is spelled jpeg",
      members: { messages: [userMessage(image("image/JPG"))] },
      contains: '{"type":"base64","media_type":"image/jpeg","data":"QQ=="}',
    },
    {
      name: "other images are refused",
      members: { messages: [userMessage(image("image/tiff"))] },
      refused: true,
      issues: ["image_input_unsupported@/i"],
    },
    {
      name: "a PDF is a document with its name as title",
      members: { messages: [userMessage(file("application/pdf", "JVBERi0x"))] },
      contains:
        '{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0x"},"title":"t.csv"}',
    },
    {
      name: "a text file is decoded",
      members: { messages: [userMessage(file("text/csv", "YSxiCjEsMgo="))] },
      contains: '"source":{"type":"text","media_type":"text/plain","data":"a,b\\n1,2\\n"}',
      issues: ["media_adapted@/f"],
    },
    {
      name: "any other file is refused",
      members: { messages: [userMessage(file("application/zip", "QQ=="))] },
      refused: true,
      issues: ["file_input_unsupported@/f"],
    },
    {
      name: "foreign file ids are refused",
      members: {
        messages: [userMessage({ type: "file", media: { from: "file-ref", dialect: "other", id: "x" }, at: "/f" })],
      },
      refused: true,
      issues: ["file_reference_foreign@/f"],
    },
    {
      name: "URLs need the capability",
      members: { messages: [userMessage({ type: "image", media: { from: "url", url: "https://x.test" }, at: "/i" })] },
      choice: { capabilities: { input: { imageUrl: false } } },
      refused: true,
      issues: ["media_url_unsupported@/i"],
    },
    {
      name: "audio is refused",
      members: { messages: [userMessage({ type: "audio", media: { from: "base64", data: "QQ==" }, at: "/a" })] },
      refused: true,
      issues: ["audio_input_unsupported@/a"],
    },
  ];
  it.each(rows)("$name", (row) => expect(row).toSatisfy(holds));
});

describe("encodeRequest: tools", () => {
  const rows: Row[] = [
    {
      name: "no choice without tools",
      members: { toolChoice: { mode: "none" }, parallelTools: false },
      lacks: "tool_choice",
      issues: [],
    },
    {
      name: "none stands alone",
      members: { tools: [tool()], toolChoice: { mode: "none" }, parallelTools: false },
      contains: '"tool_choice":{"type":"none"}',
    },
    {
      name: "parallel off alone",
      members: { tools: [tool()], parallelTools: false },
      contains: '"tool_choice":{"type":"auto","disable_parallel_tool_use":true}',
    },
    {
      name: "a named tool",
      members: { tools: [tool()], toolChoice: { mode: "tool", name: "f", kind: "function" } },
      contains: '"tool_choice":{"type":"tool","name":"f"}',
    },
    {
      name: "no schema",
      members: { tools: [tool({ schema: undefined })] },
      contains: '{"name":"f","input_schema":{"type":"object","properties":{}}}',
      issues: [],
    },
    {
      name: "a name that is not legal",
      members: { tools: [tool({ name: "a.b" })] },
      refused: true,
      issues: ["tool_name_invalid@/tools/0"],
    },
    {
      name: "a name twice",
      members: { tools: [tool(), tool({ at: "/tools/1" })] },
      refused: true,
      issues: ["tool_name_invalid@/tools/1"],
    },
    {
      name: "an allowed subset filters the tools",
      members: { tools: [tool(), tool({ name: "g" })], toolChoice: { mode: "allowed", required: true, names: ["g"] } },
      contains: '"tools":[{"name":"g","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any"}',
      issues: ["tools_filtered@/toolChoice"],
    },
    {
      name: "a forced choice that the model refuses",
      members: { tools: [tool()], toolChoice: { mode: "required" } },
      choice: { capabilities: { tools: { forcedChoice: false } } },
      refused: true,
      issues: ["tool_choice_unsupported@/toolChoice"],
    },
    {
      name: "a free-text tool is wrapped",
      members: { tools: [{ kind: "custom", name: "patch", description: "d", extensions: [], at: "/tools/0" }] },
      contains:
        '{"name":"patch","description":"d","input_schema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false},"strict":true}',
      issues: ["custom_tool_wrapped@/tools/0"],
    },
    {
      name: "a hosted tool of another provider",
      members: {
        tools: [
          {
            kind: "server",
            dialect: "other",
            toolType: "web",
            clientExecuted: false,
            raw: { value: {} },
            at: "/tools/0",
          },
        ],
      },
      choice: { allow: ["server_tool_unsupported"] },
      lacks: "tools",
      issues: ["server_tool_unsupported@/tools/0"],
    },
    {
      name: "a tool whose schema a model was trained on",
      members: {
        tools: [
          {
            kind: "server",
            dialect: "other",
            toolType: "shell",
            clientExecuted: true,
            raw: { value: {} },
            at: "/tools/0",
          },
        ],
      },
      choice: { allow: ["server_tool_unsupported"] },
      refused: true,
    },
  ];
  it.each(rows)("$name", (row) => expect(row).toSatisfy(holds));

  it("remembers wrapped tools and flattened names for the way back", () => {
    const encoded = encode({
      tools: [
        { kind: "custom", name: "patch", extensions: [], at: "/tools/0" },
        tool({ namespace: "ns", name: "g", at: "/tools/1" }),
      ],
    });
    const map = encoded.ok ? encoded.encoded.toolMap : null;
    expect([...(map?.wrappedCustom ?? [])]).toEqual(["patch"]);
    expect(map?.namespaces.get("ns__g")).toEqual({ namespace: "ns", name: "g" });
  });
});

describe("encodeRequest: output format", () => {
  const format = (schema: object): Partial<NeutralRequest> => ({
    output: { format: { kind: "json-schema", schema: { value: schema }, schemaDialect: "json-schema" } },
  });
  const closed = {
    type: "object",
    properties: { a: { type: "integer" } },
    required: ["a"],
    additionalProperties: false,
  };
  const rows: Row[] = [
    {
      name: "a schema inside the subset",
      members: format(closed),
      contains: `"output_config":{"format":{"type":"json_schema","schema":${JSON.stringify(closed)}}}`,
      issues: [],
    },
    {
      name: "a keyword outside it",
      members: format({ ...closed, properties: { a: { type: "integer", minimum: 3 } } }),
      refused: true,
      issues: ["schema_unsupported@/format"],
    },
    {
      name: "a keyword that moves into the description",
      members: format({ ...closed, properties: { a: { type: "integer", minimum: 3 } } }),
      choice: { allow: ["schema_keywords_dropped"] },
      contains: '"a":{"type":"integer","description":"{minimum: 3}"}',
      issues: ["schema_keywords_dropped@/format"],
    },
    {
      name: "oneOf is spelled anyOf",
      members: format({ ...closed, properties: { a: { oneOf: [{ type: "string" }] } } }),
      contains: '"a":{"anyOf":[{"type":"string"}]}',
      issues: ["schema_adapted@/format"],
    },
    {
      name: "recursion",
      members: format({
        ...closed,
        properties: { a: { $ref: "#/$defs/n" } },
        $defs: { n: { anyOf: [{ $ref: "#/$defs/n" }, { type: "null" }] } },
      }),
      choice: { allow: ["schema_keywords_dropped"] },
      refused: true,
    },
    {
      name: "any JSON object",
      members: { output: { format: { kind: "json-object" } } },
      refused: true,
      issues: ["response_format_unsupported@/format"],
    },
    {
      name: "a model that cannot be held to it",
      members: format(closed),
      choice: { capabilities: { structured: { jsonSchema: false } } },
      refused: true,
      issues: ["response_format_unsupported@/format"],
    },
  ];
  it.each(rows)("$name", (row) => expect(row).toSatisfy(holds));
});

describe("encodeRequest: limits, sampling and what has no place", () => {
  const without = { maxOutputTokens: undefined } as unknown as Partial<NeutralRequest>;
  const xor = { sampling: "temperature-xor-top_p" } as const;
  const rows: Row[] = [
    {
      name: "the limit of the deployment where none is asked",
      members: without,
      contains: '"max_tokens":4096',
      issues: ["max_tokens_defaulted@/maxOutputTokens"],
    },
    { name: "a prewarm asks for nothing", members: { cache: { prewarm: true } }, contains: '"max_tokens":0' },
    {
      name: "the vendor's defaults are not sampling",
      members: { sampling: { temperature: 1, topP: 0.995 } },
      choice: { capabilities: { sampling: "none" } },
      lacks: "temperature",
      issues: [],
    },
    {
      name: "a temperature beyond the model's",
      members: { sampling: { temperature: 1.4 } },
      refused: true,
      issues: ["sampling_out_of_range@/temperature"],
    },
    {
      name: "a model without sampling",
      members: { sampling: { temperature: 0.2, topK: 3 } },
      choice: { capabilities: { sampling: "none" } },
      refused: true,
      issues: ["sampling_unsupported@/temperature", "top_k_unsupported@/topK"],
    },
    {
      name: "temperature wins over top_p where only one may be",
      members: { sampling: { temperature: 0.2, topP: 0.5 } },
      choice: { capabilities: xor, allow: ["sampling_conflict"] },
      contains: '"temperature":0.2}',
      issues: ["sampling_conflict@/topP"],
    },
    {
      name: "thinking wins over sampling",
      members: { sampling: { temperature: 0.2 }, reasoning: { effort: "low" } },
      choice: { capabilities: xor, allow: ["sampling_conflict"] },
      contains: '"thinking":{"type":"adaptive"}',
      lacks: "temperature",
    },
    {
      name: "seed, several answers and logit bias",
      members: { sampling: { seed: 7, logitBias: { value: {} } }, n: 2 },
      refused: true,
      issues: ["seed_unsupported@/seed", "logit_bias_unsupported@/logitBias", "n_unsupported@/n"],
    },
    {
      name: "blank stop sequences",
      members: { stop: [" "] },
      refused: true,
      issues: ["stop_sequences_unsupported@/stop"],
    },
    {
      name: "an end user's id that is too long",
      members: { identity: { endUser: "u".repeat(257) } },
      choice: { allow: ["end_user_unsupported"] },
      lacks: "metadata",
    },
    {
      name: "metadata, store and tiers",
      members: { metadata: [["a", "b"]], store: true, serviceTier: "flex" },
      refused: true,
      issues: ["metadata_unsupported@/metadata", "store_unsupported@/store", "service_tier_unsupported@/serviceTier"],
    },
    {
      name: "the default tier",
      members: { serviceTier: "default" },
      contains: '"service_tier":"standard_only"',
      issues: [],
    },
    {
      name: "another dialect's member",
      members: { extensions: [{ dialect: "other", path: "x", raw: { value: 1 }, at: "/x" }] },
      refused: true,
      issues: ["unknown_field@/x"],
    },
    {
      name: "a member that may never be dropped",
      members: {
        extensions: [
          {
            dialect: "other",
            path: "moderation",
            raw: { value: {} },
            code: "moderation_unsupported",
            at: "/moderation",
          },
        ],
      },
      choice: { allow: ["moderation_unsupported"] },
      refused: true,
    },
    {
      name: "state of another provider",
      members: { state: { previousResponseId: "r" } },
      refused: true,
      issues: ["stateful_unsupported@/state"],
    },
  ];
  it.each(rows)("$name", (row) => expect(row).toSatisfy(holds));

  it("refuses a deployment for whose model no output limit is known", () => {
    const { defaultMaxOutputTokens: _, ...capabilities } = EVERYTHING;
    const encoded = encodeRequest(request(without), { ...targetOf(), capabilities });
    expect(encoded.ok).toBe(false);
    expect(issueList(encoded)).toEqual(["max_tokens_unknown@/maxOutputTokens"]);
  });

  it("speaks the older version only when a sampling member needs it", () => {
    const versionOf = (members: Partial<NeutralRequest>): string | undefined => {
      const encoded = encode(members);
      return encoded.ok ? encoded.encoded.headers[1] : undefined;
    };
    expect(versionOf({})).toBe("2026-10-21");
    expect(versionOf({ sampling: { temperature: 0.5 } })).toBe("2023-06-01");
  });

  it("counts without limit, sampling and stream", () => {
    const encoded = encode({ operation: "count-tokens", stream: true, stop: ["x"], ...without });
    expect(bodyText(encoded)).toBe('{"model":"up-model","messages":[{"role":"user","content":"Hi"}]}');
    expect(encoded.ok && encoded.encoded.path).toBe("/messages/count_tokens");
  });

  it("gives equal bytes every time", () => {
    const neutral = request({ tools: [tool()], reasoning: { effort: "high" } });
    const target = targetOf();
    expect(bodyText(encodeRequest(neutral, target))).toBe(bodyText(encodeRequest(neutral, target)));
  });
});

describe("encodeRequest: cache marks", () => {
  const marked = (count: number): Part[] =>
    Array.from({ length: count }, (_, index) => ({ ...text(`t${index}`, `/t${index}`), cacheBreakpoint: {} }));
  const rows: Row[] = [
    {
      name: "at most four stay, the last ones",
      members: { messages: [userMessage(...marked(5))] },
      choice: { allow: ["cache_hint"] },
      contains: '{"type":"text","text":"t0"},{"type":"text","text":"t1","cache_control":{"type":"ephemeral"}}',
      issues: ["cache_hint@/t0"],
    },
    { name: "four are no problem", members: { messages: [userMessage(...marked(4))] }, issues: [] },
    {
      name: "a life is rounded up",
      members: { messages: [userMessage({ ...text("x"), cacheBreakpoint: { ttlSeconds: 1800 } })] },
      contains: '"cache_control":{"type":"ephemeral","ttl":"1h"}',
      issues: ["prompt_cache_adapted@/t"],
    },
    {
      name: "a life longer than any",
      members: { messages: [userMessage({ ...text("x"), cacheBreakpoint: { ttlSeconds: 43_200 } })] },
      refused: true,
      issues: ["cache_ttl_reduced@/t"],
    },
    {
      name: "a deployment that takes none",
      members: { messages: [userMessage(...marked(1))] },
      choice: { capabilities: { explicitCache: false } },
      refused: true,
      issues: ["cache_hint@/t0"],
    },
  ];
  it.each(rows)("$name", (row) => expect(row).toSatisfy(holds));
});

describe("encodeRequest: reasoning", () => {
  const budget = { reasoning: { adaptive: false, budget: true, efforts: [] } } as const;
  const rows: Row[] = [
    {
      name: "an effort on an adaptive model",
      members: { reasoning: { effort: "high" } },
      contains: '"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}',
      issues: [],
    },
    {
      name: "the smallest effort",
      members: { reasoning: { effort: "minimal" } },
      contains: '"effort":"low"',
      issues: ["effort_mapped@/reasoning"],
    },
    {
      name: "an effort that the model does not list",
      members: { reasoning: { effort: "max" } },
      choice: { capabilities: { reasoning: { efforts: ["low", "high"] } } },
      contains: '"effort":"high"',
    },
    {
      name: "an effort on a model with budgets",
      members: { maxOutputTokens: 10_000, reasoning: { effort: "medium" } },
      choice: { capabilities: budget },
      contains: '"thinking":{"type":"enabled","budget_tokens":3000}',
    },
    {
      name: "no room for a budget",
      members: { maxOutputTokens: 1000, reasoning: { effort: "medium" } },
      choice: { capabilities: budget },
      refused: true,
      issues: ["reasoning_control_unsupported@/reasoning"],
    },
    {
      name: "a budget that is too small",
      members: { maxOutputTokens: 4000, reasoning: { mode: "budget", budgetTokens: 100 } },
      choice: { capabilities: budget },
      contains: '"budget_tokens":1024',
    },
    {
      name: "a budget above the limit",
      members: { maxOutputTokens: 4000, reasoning: { mode: "budget", budgetTokens: 9000 } },
      choice: { capabilities: budget },
      contains: '"budget_tokens":3999',
    },
    {
      name: "a budget on an adaptive model",
      members: { reasoning: { mode: "budget", budgetTokens: 4096 } },
      contains: '"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}',
    },
    {
      name: "off",
      members: { reasoning: { mode: "off", effort: "none" } },
      contains: '"thinking":{"type":"disabled"}',
      lacks: "effort",
    },
    {
      name: "off on a model that cannot",
      members: { reasoning: { mode: "off" } },
      choice: { capabilities: { reasoning: { canDisable: false } } },
      refused: true,
      issues: ["reasoning_control_unsupported@/reasoning"],
    },
    {
      name: "off on a model that never reasons",
      members: { reasoning: { mode: "off" } },
      choice: { capabilities: { reasoning: { support: false } } },
      lacks: "thinking",
      issues: [],
    },
    {
      name: "shown thoughts",
      members: { reasoning: { effort: "low", show: "summary" } },
      contains: '"thinking":{"type":"adaptive","display":"summarized"}',
    },
    {
      name: "a model that reasons by default",
      members: {},
      choice: { capabilities: { reasoning: { defaultOn: true } } },
      issues: ["reasoning_default@/reasoning"],
    },
    {
      name: "a forced call while thinking with a budget",
      members: {
        maxOutputTokens: 4000,
        tools: [tool()],
        toolChoice: { mode: "required" },
        reasoning: { mode: "budget", budgetTokens: 2000 },
      },
      choice: { capabilities: budget },
      refused: true,
      issues: ["tool_choice_unsupported@/toolChoice"],
    },
  ];
  it.each(rows)("$name", (row) => expect(row).toSatisfy(holds));

  const loop = (...reasoning: Part[]): Partial<NeutralRequest> => ({
    maxOutputTokens: 4000,
    tools: [tool()],
    reasoning: { mode: "budget", budgetTokens: 2000 },
    messages: [
      userMessage(text("a")),
      { role: "assistant", parts: [...reasoning, call("t1")], at: "/m" },
      userMessage(result("t1")),
    ],
  });
  const own: Part[] = [
    {
      type: "reasoning",
      form: "summary",
      texts: [],
      signature: { origin: "a", model: "up-model", data: "S1" },
      at: "/r",
    },
    {
      type: "reasoning",
      form: "opaque",
      texts: [],
      signature: { origin: "ar", model: "up-model", data: "R" },
      at: "/r",
    },
  ];
  const history: Row[] = [
    {
      name: "own blocks return in place, byte for byte",
      members: loop(...own),
      choice: { capabilities: budget },
      contains:
        '[{"type":"thinking","thinking":"","signature":"S1"},{"type":"redacted_thinking","data":"R"},{"type":"tool_use"',
      issues: [],
    },
    {
      name: "a tool loop without its thinking cannot think with a budget",
      members: loop(),
      choice: { capabilities: budget },
      refused: true,
      issues: ["reasoning_control_unsupported@/reasoning"],
    },
    {
      name: "and goes without thinking where that is allowed",
      members: loop(),
      choice: { capabilities: budget, allow: ["reasoning_control_unsupported"] },
      lacks: "thinking",
    },
    {
      name: "foreign reasoning is left out, never shown",
      members: {
        messages: [
          userMessage(text("a")),
          {
            role: "assistant",
            parts: [{ type: "reasoning", form: "raw", texts: ["secret"], at: "/r" }, text("b")],
            at: "/m",
          },
          userMessage(text("c")),
        ],
      },
      choice: { allow: ["reasoning_history_foreign"] },
      contains: '{"role":"assistant","content":"b"}',
      lacks: "secret",
      issues: ["reasoning_history_foreign@/r"],
    },
    {
      name: "another family's block is foreign",
      members: loop({
        type: "reasoning",
        form: "summary",
        texts: ["x"],
        signature: { origin: "a", model: "claude-opus-4-5", data: "S" },
        at: "/r",
      }),
      refused: true,
    },
  ];
  it.each(history)("$name", (row) => expect(row).toSatisfy(holds));
});
