import { describe, expect, test } from "vitest";

import { concat, DEFAULT_CAPABILITIES, expandLossy, mergeCapabilities, scan } from "@dragoman/core";
import type {
  Capabilities,
  CapabilityOverrides,
  EncodeResult,
  EncodeTarget,
  Message,
  NeutralRequest,
  Part,
} from "@dragoman/core";

import { openaiChatClient } from "./client.ts";
import { encodeRequest } from "./encode-request.ts";
import { compileChatProfile } from "./compile-profile.ts";

const BASE: Capabilities = mergeCapabilities(DEFAULT_CAPABILITIES, {
  input: { image: true, imageUrl: true, pdf: true, audio: true },
  maxN: 8,
  topK: true,
  tools: { strict: true, custom: true },
  structured: { jsonSchema: true },
  reasoning: { support: true, efforts: ["none", "low", "medium", "high"] },
});

interface Setup {
  readonly profile?: string;
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly capabilities?: CapabilityOverrides;
  readonly lossy?: readonly string[];
}

function target({ profile = "openai", overrides = {}, capabilities = {}, lossy = [] }: Setup): EncodeTarget {
  const compiled = compileChatProfile(profile, overrides);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return {
    deploymentId: "d",
    kind: "openai",
    model: "up-model",
    capabilities: mergeCapabilities(BASE, capabilities),
    profile: compiled.profile,
    lossyAllow: expandLossy(lossy).codes,
    options: {},
    isOnlyAccount: false,
  };
}

const user = (...parts: readonly Part[]): Message => ({ role: "user", parts, at: "/messages/0" });
const text = (value: string, more: object = {}): Part => ({
  type: "text",
  text: value,
  at: "/messages/0/content/0",
  ...more,
});

/** A request of another dialect. */
function foreign(more: Partial<NeutralRequest> = {}): NeutralRequest {
  return {
    source: "elsewhere",
    operation: "generate",
    model: "m",
    stream: false,
    messages: [user(text("Hi"))],
    tools: [],
    sampling: {},
    output: {},
    cache: {},
    identity: {},
    streamOptions: {},
    extensions: [],
    ...more,
  };
}

const bodyOf = (result: EncodeResult): unknown =>
  result.ok ? JSON.parse(Buffer.from(concat(result.encoded.body)).toString()) : null;
const codesOf = (result: EncodeResult): readonly string[] =>
  result.issues.map((issue) => `${issue.severity} ${issue.code} ${issue.path}`);

const CALL: Part = {
  type: "tool-call",
  id: "c1",
  name: "f",
  kind: "function",
  arguments: { text: '{"a": 1}', encoded: false },
  at: "/messages/1/content/0",
};
const assistant = (...parts: readonly Part[]): Message => ({ role: "assistant", parts, at: "/messages/1" });
const result = (more: object = {}): Part =>
  ({ type: "tool-result", callId: "c1", content: [text("7")], at: "/messages/2/content/0", ...more }) as Part;
const TOOL = { kind: "function", name: "f", extensions: [], at: "/tools/0" } as const;
const IMAGE: Part = {
  type: "image",
  media: { from: "base64", mime: "image/png", data: "AA" },
  at: "/messages/2/content/1",
};

interface Row {
  readonly name: string;
  readonly request: Partial<NeutralRequest>;
  readonly setup?: Setup;
  /** Members of the body that matter. */
  readonly body?: object | null;
  readonly codes?: readonly string[];
}

const MESSAGES_WITH_RESULT = (...parts: readonly Part[]): readonly Message[] => [
  user(text("Hi")),
  assistant(CALL),
  { role: "user", parts, at: "/messages/2" },
];
const CALLED = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a": 1}' } }],
};
const HI = { role: "user", content: "Hi" };

const ROWS: readonly Row[] = [
  {
    name: "asks for usage of every stream",
    request: { stream: true },
    body: { stream: true, stream_options: { include_usage: true } },
  },
  {
    name: "does not ask where usage comes unasked",
    request: { stream: true },
    setup: { profile: "mistral" },
    body: { model: "up-model", messages: [HI], stream: true },
  },
  {
    name: "says in words that a tool failed, and writes an empty result",
    request: { messages: MESSAGES_WITH_RESULT(result({ isError: true })), tools: [TOOL] },
    body: { messages: [HI, CALLED, { role: "tool", tool_call_id: "c1", content: "Error: 7" }] },
    codes: ["adapt text_prefixed /messages/2/content/0"],
  },
  {
    name: "does not say it twice",
    request: { messages: MESSAGES_WITH_RESULT(result({ isError: true, content: [text("Error: no")] })), tools: [TOOL] },
    body: { messages: [HI, CALLED, { role: "tool", tool_call_id: "c1", content: "Error: no" }] },
  },
  {
    name: "writes an empty result",
    request: { messages: MESSAGES_WITH_RESULT(result({ content: [] })), tools: [TOOL] },
    body: { messages: [HI, CALLED, { role: "tool", tool_call_id: "c1", content: "" }] },
  },
  {
    name: "refuses media in a result",
    request: { messages: MESSAGES_WITH_RESULT(result({ content: [text("ok"), IMAGE] })), tools: [TOOL] },
    body: null,
    codes: ["drop tool_result_media_unsupported /messages/2/content/0"],
  },
  {
    name: "moves media behind the results where that is allowed, naming the call",
    request: { messages: MESSAGES_WITH_RESULT(result({ content: [text("ok"), IMAGE] }), text("next")), tools: [TOOL] },
    setup: { lossy: ["tool_result_media_unsupported"] },
    body: {
      messages: [
        HI,
        CALLED,
        {
          role: "tool",
          tool_call_id: "c1",
          content: [
            { type: "text", text: "ok" },
            { type: "text", text: "[1 attachment(s) follow]" },
          ],
        },
        {
          role: "user",
          content: [
            { type: "text", text: "Attachment(s) of tool call c1:" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
            { type: "text", text: "next" },
          ],
        },
      ],
    },
    codes: ["drop tool_result_media_unsupported /messages/2/content/0"],
  },
  {
    name: "refuses a call without a result",
    request: { messages: [user(text("Hi")), assistant(CALL), user(text("x"))], tools: [TOOL] },
    body: null,
    codes: ["reject tool_result_unpaired /messages/1/content/0"],
  },
  {
    name: "refuses a result without a call",
    request: { messages: [user(result())] },
    body: null,
    codes: ["reject tool_result_unpaired /messages/2/content/0"],
  },
  {
    name: "rewrites ids that the server refuses, in call and result alike",
    request: { messages: MESSAGES_WITH_RESULT(result()), tools: [TOOL] },
    setup: { profile: "mistral" },
    body: {
      messages: [
        HI,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: expect.stringMatching(/^[a-zA-Z0-9]{9}$/),
              type: "function",
              function: { name: "f", arguments: '{"a": 1}' },
            },
          ],
        },
        { role: "tool", tool_call_id: expect.stringMatching(/^[a-zA-Z0-9]{9}$/), content: "7" },
      ],
    },
    codes: ["adapt id_rewritten /messages/1/content/0", "adapt id_rewritten /messages/2/content/0"],
  },
  {
    name: "never shows another provider's reasoning as text",
    request: {
      messages: [
        user(text("Hi")),
        assistant(
          {
            type: "reasoning",
            form: "summary",
            texts: ["private"],
            signature: { origin: "a", data: "s" },
            at: "/messages/1/content/0",
          },
          text("b"),
        ),
      ],
    },
    setup: { lossy: ["@history"], overrides: { prefill: true }, capabilities: { prefill: true } },
    body: { messages: [HI, { role: "assistant", content: "b", prefix: true }] },
    codes: ["drop reasoning_history_foreign /messages/1/content/0"],
  },
  {
    name: "refuses a prefill that the server does not continue",
    request: { messages: [user(text("Hi")), assistant(text("b"))] },
    body: null,
    codes: ["reject prefill_unsupported /messages/1"],
  },
  {
    name: "gives every assistant turn a reasoning member where the server wants it",
    request: { messages: [user(text("Hi")), assistant(text("b")), user(text("c"))] },
    setup: { profile: "deepseek" },
    body: {
      messages: [HI, { role: "assistant", content: "b", reasoning_content: "" }, { role: "user", content: "c" }],
    },
  },
  {
    name: "joins texts for servers that take strings",
    request: {
      messages: [
        {
          role: "instruction",
          authority: "system",
          position: "leading",
          parts: [text("S1"), text("S2")],
          at: "/system",
        },
        user(text("Hi")),
      ],
    },
    setup: { profile: "ollama" },
    body: { messages: [{ role: "system", content: "S1\nS2" }, HI] },
    codes: ["adapt text_joined /system"],
  },
  {
    name: "writes documents and search results as text",
    request: {
      messages: [
        user(
          {
            type: "file",
            media: { from: "text", text: "body" },
            title: "T",
            context: "C",
            at: "/messages/0/content/0",
          },
          {
            type: "search-result",
            source: "https://s.test",
            title: "R",
            content: [text("found")],
            citations: true,
            at: "/messages/0/content/1",
          },
        ),
      ],
    },
    setup: { lossy: ["citations_unsupported"] },
    body: {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Title: T\nContext: C\n\nbody" },
            { type: "text", text: "Title: R\nSource: https://s.test\n\nfound" },
          ],
        },
      ],
    },
    codes: [
      "adapt media_adapted /messages/0/content/0",
      "drop citations_unsupported /messages/0/content/1",
      "adapt media_adapted /messages/0/content/1",
    ],
  },
  {
    name: "names every document",
    request: {
      messages: [
        user({
          type: "file",
          media: { from: "base64", mime: "application/pdf", data: "JV" },
          at: "/messages/0/content/0",
        }),
      ],
    },
    body: {
      messages: [
        {
          role: "user",
          content: [{ type: "file", file: { file_data: "data:application/pdf;base64,JV", filename: "document.pdf" } }],
        },
      ],
    },
  },
  {
    name: "refuses media that it cannot carry",
    request: {
      messages: [
        user(
          { type: "video", media: { from: "url", url: "https://v.test" }, at: "/a" },
          { type: "image", media: { from: "base64", mime: "image/tiff", data: "AA" }, at: "/b" },
          { type: "image", media: { from: "file-ref", dialect: "elsewhere", id: "f" }, at: "/c" },
          { type: "file", media: { from: "url", url: "https://f.test" }, at: "/d" },
          { type: "audio", media: { from: "base64", mime: "audio/flac", data: "AA" }, at: "/e" },
        ),
      ],
    },
    body: null,
    codes: [
      "reject video_input_unsupported /a",
      "reject image_input_unsupported /b",
      "reject file_reference_foreign /c",
      "reject media_url_unsupported /d",
      "reject audio_input_unsupported /e",
      "reject empty_content /messages/0",
    ],
  },
  {
    name: "takes inline images only, where the server loads none",
    request: {
      messages: [user(text("x"), { type: "image", media: { from: "url", url: "https://i.test" }, at: "/i" })],
    },
    setup: { profile: "ollama" },
    body: null,
    codes: ["reject media_url_unsupported /i"],
  },
  {
    name: "keeps the last four cache marks",
    request: {
      messages: [
        user(
          ...[1, 2, 3, 4, 5].map((index) =>
            text(`t${index}`, { cacheBreakpoint: index === 5 ? { ttlSeconds: 3600 } : {} }),
          ),
        ),
      ],
    },
    setup: { lossy: ["@hints"], capabilities: { explicitCache: true } },
    body: {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "t1" },
            { type: "text", text: "t2", prompt_cache_breakpoint: { mode: "explicit" } },
            { type: "text", text: "t3", prompt_cache_breakpoint: { mode: "explicit" } },
            { type: "text", text: "t4", prompt_cache_breakpoint: { mode: "explicit" } },
            { type: "text", text: "t5", prompt_cache_breakpoint: { mode: "explicit", ttl: "12h" } },
          ],
        },
      ],
    },
    codes: ["drop cache_hint /messages/0/content/0"],
  },
  {
    name: "wraps free-text tools for servers that know functions only",
    request: {
      messages: [
        user(text("Hi")),
        assistant({ ...CALL, kind: "custom", name: "patch", arguments: { text: 'a "b"\n', encoded: true } } as Part),
        user(result()),
      ],
      tools: [
        {
          kind: "custom",
          name: "patch",
          description: "d",
          format: { value: { type: "grammar", grammar: { syntax: "lark", definition: "start: x" } } },
          extensions: [],
          at: "/tools/0",
        },
      ],
      toolChoice: { mode: "tool", name: "patch", kind: "custom" },
    },
    setup: { profile: "generic", lossy: ["tool_grammar_unenforced"] },
    body: {
      messages: [
        HI,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "c1", type: "function", function: { name: "patch", arguments: '{"input":"a \\"b\\"\\n"}' } },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: "7" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "patch",
            description: "d\n\nThe input must follow this lark grammar:\nstart: x",
            parameters: {
              type: "object",
              properties: { input: { type: "string" } },
              required: ["input"],
              additionalProperties: false,
            },
          },
        },
      ],
      tool_choice: { type: "function", function: { name: "patch" } },
    },
    codes: [
      "adapt custom_tool_wrapped /messages/1/content/0",
      "adapt custom_tool_wrapped /tools/0",
      "drop tool_grammar_unenforced /tools/0",
    ],
  },
  {
    name: "filters tools where the server cannot choose from a subset",
    request: { tools: [TOOL, { ...TOOL, name: "g" }], toolChoice: { mode: "allowed", required: true, names: ["g"] } },
    setup: { profile: "mistral" },
    body: { tools: [{ type: "function", function: { name: "g" } }], tool_choice: "any" },
    codes: ["adapt tools_filtered /toolChoice"],
  },
  {
    name: "refuses names that the server does not take, and doubles",
    request: { tools: [{ ...TOOL, name: "a b" }, TOOL, TOOL] },
    body: null,
    codes: ["reject tool_name_invalid /tools/0", "reject tool_name_invalid /tools/0"],
  },
  {
    name: "refuses a choice of a tool that is not there",
    request: { tools: [TOOL], toolChoice: { mode: "tool", name: "x", kind: "function" } },
    body: null,
    codes: ["reject tool_choice_unsupported /toolChoice"],
  },
  {
    name: "refuses a choice that the server does not know",
    request: { tools: [TOOL], toolChoice: { mode: "required" } },
    setup: { profile: "ollama" },
    body: null,
    codes: ["reject tool_choice_unsupported /toolChoice"],
  },
  {
    name: "says nothing about parallel calls without tools",
    request: { parallelTools: false },
    body: { model: "up-model", messages: [HI] },
  },
  {
    name: "says nothing about parallel calls beside a choice of none",
    request: { tools: [TOOL], toolChoice: { mode: "none" }, parallelTools: false },
    body: { tools: [{ type: "function", function: { name: "f" } }], tool_choice: "none" },
  },
  {
    name: "promises strictness only for schemas that keep the rules",
    request: {
      tools: [{ ...TOOL, strict: true, schema: { value: { type: "object", properties: { a: { type: "string" } } } } }],
    },
    setup: { lossy: ["strict_unsupported"] },
    body: {
      tools: [
        {
          type: "function",
          function: { name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } },
        },
      ],
    },
    codes: ["drop strict_unsupported /tools/0"],
  },
  {
    name: "names a schema of another dialect and finds its strictness",
    request: {
      output: {
        format: {
          kind: "json-schema",
          schema: { value: { type: "object", properties: { a: {} }, required: ["a"], additionalProperties: false } },
          schemaDialect: "json-schema",
        },
      },
    },
    body: {
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "response",
          schema: { type: "object", properties: { a: {} }, required: ["a"], additionalProperties: false },
          strict: true,
        },
      },
    },
  },
  {
    name: "refuses a hosted tool that the choice needs, and drops it elsewhere",
    request: {
      tools: [
        {
          kind: "server",
          dialect: "elsewhere",
          toolType: "web",
          name: "web",
          clientExecuted: false,
          raw: { value: {} },
          at: "/tools/0",
        },
      ],
      toolChoice: { mode: "required" },
    },
    body: null,
    codes: ["reject server_tool_unsupported /tools/0", "reject tool_choice_unsupported /toolChoice"],
  },
  {
    name: "maps a budget to an effort and bends it to what is listed",
    request: { reasoning: { mode: "budget", budgetTokens: 30_000 } },
    body: { reasoning_effort: "high" },
    codes: ["adapt effort_mapped /reasoning", "adapt effort_mapped /reasoning"],
  },
  {
    name: "leaves a dynamic budget to the model",
    request: { reasoning: { mode: "budget", budgetTokens: -1 } },
    body: { model: "up-model", messages: [HI] },
  },
  {
    name: "turns reasoning off by the word where it is known",
    request: { reasoning: { mode: "off" } },
    body: { reasoning_effort: "none" },
  },
  {
    name: "says nothing where reasoning is off anyway",
    request: { reasoning: { mode: "off" } },
    setup: { capabilities: { reasoning: { support: false } } },
    body: { model: "up-model", messages: [HI] },
  },
  {
    name: "asks for the lowest effort where reasoning cannot be off and that is allowed",
    request: { reasoning: { mode: "off" } },
    setup: { lossy: ["reasoning_control_unsupported"], capabilities: { reasoning: { canDisable: false } } },
    body: { reasoning_effort: "low" },
    codes: ["drop reasoning_control_unsupported /reasoning"],
  },
  {
    name: "refuses sampling while the model reasons, but takes its default",
    request: { sampling: { temperature: 0.5, topP: 1 } },
    setup: { capabilities: { sampling: "only-when-reasoning-off", reasoning: { defaultOn: true } } },
    body: null,
    codes: ["adapt reasoning_default /reasoning", "drop sampling_unsupported /temperature"],
  },
  {
    name: "refuses what the server's limits exclude",
    request: { n: 9, stop: ["a", "b", "c", "d", "e"], sampling: { topK: 5, seed: 1 } },
    setup: { capabilities: { seed: false } },
    body: null,
    codes: [
      "drop top_k_unsupported /topK",
      "drop seed_unsupported /seed",
      "reject n_unsupported /n",
      "reject stop_sequences_limit /stop",
    ],
  },
  {
    name: "sends top_k where the server takes it",
    request: { sampling: { topK: 5 } },
    setup: { profile: "vllm" },
    body: { top_k: 5 },
  },
  {
    name: "hashes an end-user id that is too long",
    request: { identity: { endUser: "u".repeat(65) } },
    body: { safety_identifier: expect.stringMatching(/^[0-9a-f]{64}$/) },
    codes: ["adapt value_adapted /endUser"],
  },
  {
    name: "sends the end user where compatible servers look for it",
    request: { identity: { endUser: "u" } },
    setup: { profile: "generic" },
    body: { user: "u" },
  },
  {
    name: "refuses state, prepared caches and foreign members",
    request: {
      state: { thread: { value: {} } },
      cache: { prewarm: true, reference: "c" },
      extensions: [
        { dialect: "elsewhere", path: "container", raw: { value: 1 }, code: "beta_unsupported", at: "/container" },
        { dialect: "elsewhere", path: "x", raw: { value: 1 }, at: "/x" },
      ],
    },
    setup: { lossy: ["@all-droppable"] },
    body: null,
    codes: [
      "reject cached_content_unsupported /cacheReference",
      "reject cache_prewarm_unsupported /maxOutputTokens",
      "reject stateful_unsupported /thread",
      "reject beta_unsupported /container",
      "drop unknown_field /x",
    ],
  },
  {
    name: "cannot count tokens",
    request: { operation: "count-tokens" },
    body: null,
    codes: ["reject capability_missing "],
  },
  {
    name: "flattens namespaces",
    request: { tools: [{ ...TOOL, namespace: "mcp" }] },
    body: { tools: [{ type: "function", function: { name: "mcp__f" } }] },
    codes: ["adapt namespace_flattened /tools/0"],
  },
];

/** What a body must hold, or null for a refusal. */
const bodyWith = (members: object | null | undefined): unknown =>
  members === null ? null : expect.objectContaining(members ?? {});

describe("encodeRequest", () => {
  test.each(ROWS)("$name", ({ request, setup, body, codes }) => {
    const encoded = encodeRequest(foreign(request), target(setup ?? {}));
    expect(codesOf(encoded)).toEqual(codes ?? []);
    expect(bodyOf(encoded)).toEqual(bodyWith(body));
  });

  test("leaves out everything that was not asked for", () => {
    expect(bodyOf(encodeRequest(foreign(), target({})))).toEqual({ model: "up-model", messages: [HI] });
  });

  test("remembers wrapped and flattened names for the answer", () => {
    const request = foreign({
      tools: [
        { kind: "custom", name: "c", extensions: [], at: "/tools/0" },
        { ...TOOL, namespace: "n" },
      ],
    });
    const encoded = encodeRequest(request, target({ profile: "generic" }));
    if (!encoded.ok) throw new Error("refused");
    expect(encoded.encoded.toolMap?.wrappedCustom).toEqual(new Set(["c"]));
    expect(encoded.encoded.toolMap?.namespaces.get("n__f")).toEqual({ namespace: "n", name: "f" });
  });

  test("gives the same result twice, as a dry run must", () => {
    const body =
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"custom","custom":{"name":"c"}}],"seed":1}';
    const scanned = scan(Buffer.from(body));
    if (!scanned.ok) throw new Error("scan");
    const route = { operation: "generate", path: "", query: "", captures: {} } as const;
    const head = openaiChatClient.readHead(scanned.document, route);
    if (!head.ok) throw new Error("head");
    const decoded = openaiChatClient.decodeRequest(scanned.document, head.head, route, []);
    if (!decoded.ok) throw new Error("decode");
    const first = encodeRequest(decoded.request, target({ profile: "groq" }));
    const second = encodeRequest(decoded.request, target({ profile: "groq" }));
    expect([bodyOf(first), codesOf(first)]).toEqual([bodyOf(second), codesOf(second)]);
  });
});
