/** What this room's tests share: bodies to documents, deployments, and streams as records. Not part of the package. */
import {
  concat,
  DEFAULT_CAPABILITIES,
  mergeCapabilities,
  scan,
  type AnswerContext,
  type Capabilities,
  type CapabilityOverrides,
  type DecodeContext,
  type Document,
  type EncodeResult,
  type EncodeTarget,
  type HeaderList,
  type NeutralRequest,
  type Operation,
  type RequestHead,
  type StreamEvent,
} from "@dragoman/core";

import { decodeRequest } from "./decode-request.ts";
import { createStreamDecoder } from "./decode-stream.ts";
import { createStreamEncoder } from "./encode-stream.ts";
import { compileProfile } from "./profiles.ts";
import { readHead, type AnthropicFacts } from "./read-head.ts";

/** Scans a JSON text, or a value written as JSON. */
export function documentOf(body: unknown): Document {
  const result = scan(Buffer.from(typeof body === "string" ? body : JSON.stringify(body), "utf8"));
  if (!result.ok) throw new Error(result.error.message);
  return result.document;
}

export function headOf(document: Document): RequestHead<AnthropicFacts> {
  const reading = readHead(document);
  if (!reading.ok) throw new Error(reading.error.message);
  return reading.head;
}

function profileNamed(name: string, overrides: Readonly<Record<string, unknown>> = {}): EncodeTarget["profile"] {
  const compiled = compileProfile(name, overrides);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.profile;
}

/** A model that can do everything that this dialect can say. */
export const EVERYTHING: Capabilities = mergeCapabilities(DEFAULT_CAPABILITIES, {
  input: { pdf: true, pdfUrl: true },
  topK: true,
  defaultMaxOutputTokens: 4096,
  tools: { strict: true },
  structured: { jsonSchema: true, schemaDialect: "anthropic" },
  reasoning: { support: true, adaptive: true, efforts: ["low", "medium", "high", "xhigh", "max"], summaries: true },
  midConversationSystem: true,
  prefill: true,
  explicitCache: true,
  cacheTtls: [300, 3600],
});

export interface TargetChoice {
  readonly capabilities?: CapabilityOverrides;
  readonly allow?: readonly string[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly isOnlyAccount?: boolean;
  readonly model?: string;
}

export function targetOf(choice: TargetChoice = {}): EncodeTarget {
  return {
    deploymentId: "d",
    kind: "anthropic",
    model: choice.model ?? "up-model",
    capabilities: mergeCapabilities(EVERYTHING, choice.capabilities ?? {}),
    profile: profileNamed("anthropic"),
    lossyAllow: new Set(choice.allow),
    options: choice.options ?? {},
    isOnlyAccount: choice.isOnlyAccount ?? false,
  };
}

export function requestOf(body: unknown, operation: Operation = "generate", headers: HeaderList = []): NeutralRequest {
  const document = documentOf(body);
  const route = { operation, path: "", query: "", captures: {} };
  const decoded = decodeRequest(document, headOf(document), route, headers);
  if (!decoded.ok) throw new Error(decoded.error.message);
  return decoded.request;
}

export function bodyText(result: EncodeResult): string {
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return Buffer.from(concat(result.encoded.body)).toString("utf8");
}

/** Codes and places of issues, as `code@/path`. */
export function issueList(result: EncodeResult): readonly string[] {
  return result.issues.map(({ code, path }) => `${code}@${path}`);
}

export function decodeContext(profile = "anthropic", headers: HeaderList = []): DecodeContext {
  return { profile: profileNamed(profile), upstreamModel: "up-model", headers, count: () => undefined };
}

/** Ids count per prefix; counters are gathered in `counts`. */
export function answerContext(
  facts: Partial<AnthropicFacts> = {},
  options: Readonly<Record<string, unknown>> = {},
): AnswerContext<AnthropicFacts> & { readonly counts: string[] } {
  const ids = new Map<string, number>();
  const counts: string[] = [];
  return {
    requestId: "req_t1",
    createdSeconds: 1_790_000_000,
    makeId: (prefix) => {
      const next = (ids.get(prefix) ?? 0) + 1;
      ids.set(prefix, next);
      return `${prefix}t${next}`;
    },
    facts: { thinking: "absent", display: null, ...facts },
    upstreamModel: "up-model",
    toolMap: null,
    options,
    count: (name) => counts.push(name),
    counts,
  };
}

/** Decodes a stream whose records hold these texts. Texts in events are copied, since records are overwritten after their call. */
export function decodeStream(records: readonly string[], profile = "anthropic"): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const decoder = createStreamDecoder(decodeContext(profile), (event) => events.push(structuredCloneOf(event)));
  for (const record of records) {
    const bytes = Buffer.from(record, "utf8");
    decoder.push({ bytes, dataStart: 0, dataEnd: bytes.length, event: "" });
    bytes.fill(0x7a);
  }
  decoder.finish();
  return events;
}

const structuredCloneOf = (event: StreamEvent): StreamEvent =>
  // Texts become their escaped form, raw values the value.
  JSON.parse(
    JSON.stringify(event, (name, value: unknown) => (isSliceLike(value) ? copyOf(name, value) : value)),
  ) as StreamEvent;

const copyOf = (name: string, slice: { bytes: Uint8Array; start: number; end: number }): unknown =>
  name === "raw" ? { value: JSON.parse(sourceOf(slice)) as unknown } : sourceOf(slice);

const isSliceLike = (value: unknown): value is { bytes: Uint8Array; start: number; end: number } =>
  typeof value === "object" && value !== null && "bytes" in value && "start" in value;

const sourceOf = ({ bytes, start, end }: { bytes: Uint8Array; start: number; end: number }): string =>
  Buffer.from(bytes.subarray(start, end)).toString("utf8");

/** Encodes events and returns the data of each record, after checking the `event:` line. */
export function encodeStream(
  events: readonly StreamEvent[],
  context: AnswerContext<AnthropicFacts> = answerContext(),
): readonly string[] {
  const written: string[] = [];
  const encoder = createStreamEncoder(context, (bytes) => written.push(Buffer.from(bytes).toString("utf8")));
  for (const event of events) {
    const error = encoder.encode(event);
    if (error === null) continue;
    encoder.fail(error);
    break;
  }
  return dataOf(written.join(""));
}

/** The data of the records of a stream's text. */
export function dataOf(text: string): readonly string[] {
  return text
    .split("\n\n")
    .filter((record) => record !== "")
    .map((record) => {
      const match = /^event: ([a-z_]+)\ndata: (.*)$/.exec(record);
      const data = match?.[2] ?? "";
      if (match?.[1] !== (JSON.parse(data) as { type: string }).type)
        throw new Error(`event line and type differ: ${record}`);
      return data;
    });
}
