import { describe, expect, test } from "vitest";

import { concat, expandLossy, DEFAULT_CAPABILITIES, mergeCapabilities } from "@dragoman/core";
import type { Capabilities, EncodeTarget } from "@dragoman/core";

import { base62Digest } from "../shared/tool-ids.ts";
import { documentOf } from "../testing/spelled-json.ts";
import { openaiChatClient } from "./client.ts";
import { compileChatProfile } from "./compile-profile.ts";
import { openaiChatProvider } from "./provider.ts";

function target(
  profile: string,
  lossy: readonly string[] = [],
  capabilities: Capabilities = DEFAULT_CAPABILITIES,
): EncodeTarget {
  const compiled = compileChatProfile(profile, {});
  if (!compiled.ok) throw new Error("no such profile");
  return {
    deploymentId: "d",
    kind: "openai",
    model: "up-model",
    capabilities,
    profile: compiled.profile,
    lossyAllow: expandLossy(lossy).codes,
    options: {},
    isOnlyAccount: false,
  };
}

const ROUTE = { operation: "generate", path: "/v1/chat/completions", query: "", captures: {} } as const;

function forward(text: string, to: EncodeTarget): { readonly body: string | null; readonly codes: readonly string[] } {
  const document = documentOf(text);
  const reading = openaiChatClient.readHead(document, ROUTE);
  if (!reading.ok) throw new Error(reading.error.message);
  const result = openaiChatProvider.forwardRequest(document, reading.head, "generate", [], to);
  return {
    body: result.ok ? Buffer.from(concat(result.encoded.body)).toString() : null,
    codes: result.issues.map((issue) => issue.code),
  };
}

const USER = '"messages":[{"role":"user","content":"Hi"}]';
const REASONING = mergeCapabilities(DEFAULT_CAPABILITIES, {
  sampling: "only-when-reasoning-off",
  reasoning: { support: true },
});

/** `call_a` in the nine characters that one vendor takes. */
const SHORT_ID = base62Digest("call_a", 9);

interface Row {
  readonly name: string;
  readonly input: string;
  readonly profile: string;
  readonly capabilities?: Capabilities;
  readonly lossy?: readonly string[];
  readonly expected: string | null;
  readonly codes?: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    name: "changes only the model where nothing else is needed",
    input: `{ "model" : "m", ${USER}, "temperature": 1.0,"seed":12345678901234567890 }`,
    profile: "openai",
    expected: `{ "model" : "up-model", ${USER}, "temperature": 1.0,"seed":12345678901234567890 }`,
  },
  {
    name: "asks for usage where the client streams and did not, and keeps unknown members (X38)",
    input: `{"model":"m","stream":true,${USER},"vendor_x":{"a": 1.0}}`,
    profile: "openai",
    expected: `{"model":"up-model","stream":true,${USER},"vendor_x":{"a": 1.0},"stream_options":{"include_usage":true}}`,
  },
  {
    name: "asks for usage over a client's false and keeps the other stream options",
    input: `{"model":"m","stream":true,${USER},"stream_options":{"include_usage":false,"include_obfuscation":false}}`,
    profile: "openai",
    expected: `{"model":"up-model","stream":true,${USER},"stream_options":{"include_usage":true,"include_obfuscation":false}}`,
  },
  {
    name: "asks for usage inside empty and null stream options",
    input: `{"model":"m","stream":true,${USER},"stream_options":null}`,
    profile: "openai",
    expected: `{"model":"up-model","stream":true,${USER},"stream_options":{"include_usage":true}}`,
  },
  {
    name: "keeps max_tokens for a model of which nothing is known",
    input: `{"model":"m",${USER},"max_tokens":5}`,
    profile: "openai",
    expected: `{"model":"up-model",${USER},"max_tokens":5}`,
  },
  {
    name: "renames max_tokens for a reasoning model, which refuses it",
    input: `{"model":"m",${USER},"max_tokens":5}`,
    profile: "openai",
    capabilities: REASONING,
    expected: `{"model":"up-model",${USER},"max_completion_tokens":5}`,
  },
  {
    name: "renames max_completion_tokens and developer for a generic server",
    input: '{"model":"m","messages":[{"role":"developer","content":"S"}],"max_completion_tokens":5}',
    profile: "generic",
    expected: '{"model":"up-model","messages":[{"role":"system","content":"S"}],"max_tokens":5}',
  },
  {
    name: "sends one of two equal limits",
    input: `{"model":"m","max_completion_tokens":5,"max_tokens":5,${USER}}`,
    profile: "generic",
    expected: `{"model":"up-model","max_tokens":5,${USER}}`,
  },
  {
    name: "joins a list of texts for a server that takes strings",
    input:
      '{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a\\u00e9"},{"type":"text","text":"b"}]}]}',
    profile: "deepseek",
    expected: '{"model":"up-model","messages":[{"role":"user","content":"a\\u00e9\\nb"}]}',
    codes: ["text_joined"],
  },
  {
    name: "keeps a list that holds an image",
    input:
      '{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}}]}]}',
    profile: "ollama",
    expected:
      '{"model":"up-model","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}}]}]}',
  },
  {
    name: "cuts neutral members that a closed schema lacks, renames seed, spells the required word, rewrites ids",
    input:
      '{"model":"m","stream":true,"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_a","content":"1"}],' +
      '"store":false,"seed":7,"tool_choice":"required","stream_options":{"include_usage":true},"logprobs":false}',
    profile: "mistral",
    expected:
      `{"model":"up-model","stream":true,"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"${SHORT_ID}","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"${SHORT_ID}","content":"1"}],` +
      '"random_seed":7,"tool_choice":"any"}',
    codes: ["id_rewritten", "id_rewritten"],
  },
  {
    name: "refuses a closed schema where a member that says something would be lost",
    input: `{"model":"m",${USER},"verbosity":"low","vendor_x":1}`,
    profile: "mistral",
    expected: null,
    codes: ["verbosity_unsupported", "unknown_field"],
  },
  {
    name: "drops such members where that is allowed",
    input: `{"model":"m","verbosity":"low",${USER},"vendor_x":1}`,
    profile: "mistral",
    lossy: ["verbosity_unsupported", "unknown_field"],
    expected: `{"model":"up-model",${USER}}`,
    codes: ["verbosity_unsupported", "unknown_field"],
  },
  {
    name: "cuts reasoning that another provider made, and the gateway's envelopes",
    input:
      '{"model":"m","messages":[{"role":"assistant","content":"x","reasoning_content":"hm","extra_content":{"gateway":{"reasoning":[{"sig":"gwsig1.a.bQ.cw"}]}}}]}',
    profile: "openai",
    lossy: ["@history"],
    expected: '{"model":"up-model","messages":[{"role":"assistant","content":"x"}]}',
    codes: ["content_reshaped", "reasoning_history_foreign"],
  },
  {
    name: "keeps reasoning text for a server that wants it back, and other extra content",
    input:
      '{"model":"m","messages":[{"role":"assistant","content":"x","reasoning_content":"hm","extra_content":{"google":{"a":1},"gateway":{}}}]}',
    profile: "deepseek",
    lossy: ["@history"],
    expected:
      '{"model":"up-model","messages":[{"role":"assistant","content":"x","reasoning_content":"hm","extra_content":{"google":{"a":1}}}]}',
    codes: ["reasoning_history_foreign"],
  },
];

const MORE_ROWS: readonly Row[] = [
  {
    name: "cuts stream options that a server refuses also without a stream, and empty echoes of answers",
    input:
      '{"model":"m","stream_options":{"include_usage":true},"messages":[{"role":"assistant","content":"x","refusal":null,"annotations":[],"audio":null}]}',
    profile: "mistral",
    expected: '{"model":"up-model","messages":[{"role":"assistant","content":"x"}]}',
  },
  {
    name: "gives every assistant turn the reasoning member that a server wants",
    input: '{"model":"m","messages":[{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}',
    profile: "deepseek",
    expected:
      '{"model":"up-model","messages":[{"role":"assistant","content":"x","reasoning_content":""},{"role":"user","content":"y"}]}',
    codes: ["content_reshaped"],
  },
  {
    name: "refuses losing cache marks with a joined list where hints must be kept",
    input:
      '{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}',
    profile: "ollama",
    expected: null,
    codes: ["cache_hint", "text_joined"],
  },
];

describe("forwardRequest", () => {
  test.each([...ROWS, ...MORE_ROWS])("$name", ({ input, profile, capabilities, lossy, expected, codes }) => {
    const result = forward(input, target(profile, lossy, capabilities));
    expect(result).toEqual({ body: expected, codes: codes ?? [] });
  });

  test("references a large body instead of copying it", () => {
    const big = "x".repeat(1_000_000);
    const document = documentOf(`{"model":"m","messages":[{"role":"user","content":"${big}"}],"stream":true}`);
    const reading = openaiChatClient.readHead(document, ROUTE);
    if (!reading.ok) throw new Error("head");
    const result = openaiChatProvider.forwardRequest(document, reading.head, "generate", [], target("openai"));
    if (!result.ok) throw new Error("forward");
    const shared = result.encoded.body.parts.filter((part) => part.buffer === document.bytes.buffer);
    expect(shared.reduce((sum, part) => sum + part.length, 0)).toBeGreaterThan(1_000_000);
  });

  test("has no call for counting tokens", () => {
    const document = documentOf(`{"model":"m",${USER}}`);
    const reading = openaiChatClient.readHead(document, ROUTE);
    if (!reading.ok) throw new Error("head");
    const result = openaiChatProvider.forwardRequest(document, reading.head, "count-tokens", [], target("openai"));
    expect(result.issues.map((issue) => issue.code)).toEqual(["capability_missing"]);
    expect(result.ok).toBe(false);
  });
});
