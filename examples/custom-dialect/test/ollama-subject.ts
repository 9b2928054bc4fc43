/** Ollama as a subject of the laws. */
import { DEFAULT_CAPABILITIES, mergeCapabilities } from "@dragoman/core";
import type { Profile } from "@dragoman/core";
import type { ProviderSubject } from "@dragoman/dialects/testing";

import { ollama, ollamaNative } from "../ollama/ollama.ts";
import { ollamaStreams, ollamaUsages } from "./ollama-samples.ts";
import { readRequest } from "./read-request.ts";

function profileNamed(name: string): Profile {
  const compiled = ollama.compileProfile(name, {});
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.profile;
}

/** The dialect with one of its profiles. */
export function ollamaSubject(profile: "plain" | "levels"): ProviderSubject {
  return {
    provider: ollama,
    kind: ollamaNative.id,
    profile: profileNamed(profile),
    capabilities: mergeCapabilities(DEFAULT_CAPABILITIES, ollamaNative.capabilitiesOf("up-model", profile)),
    readRequest,
    neutralMembers: [
      {
        pointer: /^\/tools\/\d+\//,
        reason: "a tool that may not be called is left out whole",
        isNeutralAtHome: true,
        underCode: "tools_filtered",
      },
      {
        pointer: /^\/output_config\/effort$/,
        reason: "beside a budget; the issue stands at the member that holds the budget",
        isNeutralAtHome: true,
        underCode: "effort_mapped",
      },
    ],
    streams: ollamaStreams,
    usages: ollamaUsages,
    ordersParts: true,
    maxCandidates: 1,
    hasRefusals: false,
    namesStopSequences: false,
    usageMembers: [],
    errorStreams: [
      '{"error":"an error was encountered while running the model"}\n',
      '{"model":"m","created_at":"t","message":{"role":"assistant","content":"Hal"},"done":false}\n{"error":"unexpected EOF"}\n',
      "<html>no</html>\n",
    ],
    errorAnswers: [
      { status: 404, body: '{"error":"model \'x\' not found"}', class: "not-found" },
      {
        status: 400,
        body: '{"error":"registry.ollama.ai/library/x:latest does not support tools"}',
        class: "invalid-request",
      },
      {
        status: 503,
        body: '{"error":"server busy, please try again.  maximum pending requests exceeded"}',
        class: "overloaded",
      },
      {
        status: 500,
        body: '{"error":"model requires more system memory (9.0 GiB) than is available"}',
        class: "overloaded",
      },
      { status: 500, body: '{"error":"llama runner process has terminated"}', class: "upstream-5xx" },
      { status: 400, body: '{"error":"the input length exceeds the context length"}', class: "context-length" },
      { status: 401, body: '{"error":"unauthorized"}', class: "auth" },
      { status: 502, body: "<html>Bad Gateway</html>", class: "upstream-5xx" },
    ],
  };
}
