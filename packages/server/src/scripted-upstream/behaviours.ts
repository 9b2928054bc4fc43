// What the upstream answers by the name of the requested model, so that a test, the demo or any HTTP client can ask for a
// behaviour without a script: `scripted-<answer>`, then any number of `:<fault>`. A fault alone means the plain text answer.
import { countScriptedTokens } from "./answer.ts";
import type { ScriptedAnswer, ScriptedToolCall, ScriptedUsage } from "./answer.ts";
import type { ScriptedError } from "./error-envelopes.ts";
import { faultOfName } from "./fault-names.ts";
import type { Fault } from "./faults.ts";
import type { ReceivedRequest } from "./received-request.ts";
import { chooseToolCalls } from "./tool-calls.ts";

/** What the upstream does with a call. Without `answer` and `error` the model's name decides what is answered. */
export interface Behaviour {
  readonly answer?: ScriptedAnswer | ((request: ReceivedRequest) => ScriptedAnswer);
  readonly error?: ScriptedError;
  readonly faults?: readonly Fault[];
}

/** An answer without what can be counted: `scriptAnswer` adds the usage. */
export type AnswerSketch = Omit<ScriptedAnswer, "usage" | "deltas" | "stop"> &
  Partial<Pick<ScriptedAnswer, "usage" | "deltas" | "stop">>;

const THINKING = "The user asks something simple. A short answer is enough.";
const CACHED_TOKENS = 1024;

/** Completes an answer: counts its usage from the request and the answer's own texts, cuts it into eight deltas. */
export function scriptAnswer(request: ReceivedRequest, sketch: AnswerSketch): ScriptedAnswer {
  return { usage: countUsage(request, sketch), deltas: 8, stop: "end", ...sketch };
}

function countUsage(request: ReceivedRequest, sketch: AnswerSketch): ScriptedUsage {
  const thinking = sketch.thinking === undefined ? 0 : countScriptedTokens(sketch.thinking);
  const calls = (sketch.toolCalls ?? []).reduce(
    (sum, call) => sum + countScriptedTokens(call.name + call.arguments),
    0,
  );
  const visible = countScriptedTokens(sketch.text ?? "") + countScriptedTokens(sketch.refusal ?? "");
  return {
    input: countInputTokens(request),
    output: Math.max(1, thinking + calls + visible),
    ...(thinking === 0 ? {} : { thinking }),
  };
}

/** Input tokens of a request by the rule of this upstream: a quarter of the characters, three for each message. */
export function countInputTokens(request: ReceivedRequest): number {
  return Math.ceil(request.textLength / 4) + 3 * Math.max(1, request.roles.length);
}

function greet(request: ReceivedRequest): string {
  const asked = request.lastUserText.trim();
  const shown = asked.length > 200 ? `${asked.slice(0, 200)}…` : asked;
  return asked === ""
    ? "Hello! You did not say anything yet."
    : `Hello! You said: “${shown}”. This answer is scripted.`;
}

function describeImages(request: ReceivedRequest): string {
  const lines = request.images.map((image, index) =>
    image.bytes === null
      ? `#${index + 1} by URL`
      : `#${index + 1} ${image.mediaType ?? "unknown"}, ${image.bytes} bytes`,
  );
  return lines.length === 0 ? "I got no image." : `I got ${lines.length} image(s): ${lines.join("; ")}.`;
}

function echo(request: ReceivedRequest): string {
  return JSON.stringify({
    dialect: request.dialect,
    model: request.model,
    stream: request.stream,
    instructions: request.instructions,
    roles: request.roles,
    stop: request.stop,
    tools: request.tools.map((tool) => tool.name),
    toolResults: request.toolResults,
    images: request.images,
    maxTokens: request.maxTokens,
    lastUserText: request.lastUserText,
  });
}

function callTools(request: ReceivedRequest, count: number): AnswerSketch {
  if (request.toolResults.length > 0) {
    const quoted = request.toolResults.map((result) => `${result.id} returned “${result.text}”`);
    return { text: `The tools answered: ${quoted.join("; ")}.` };
  }
  const toolCalls: readonly ScriptedToolCall[] = chooseToolCalls(request, count);
  return { text: "Let me look that up.", toolCalls, stop: "tools" };
}

function repeatWords(count: number): string {
  return Array.from({ length: count }, (_, index) => `word${String(index % 1000).padStart(4, " ")}`).join("");
}

function answerCached(request: ReceivedRequest): AnswerSketch {
  const text = "Most of that was in the cache.";
  const input = CACHED_TOKENS + countInputTokens(request);
  const usage = { input, output: countScriptedTokens(text), cacheRead: CACHED_TOKENS, cacheWrite: 8 };
  return { text, usage: { ...usage, input: input + 8 } };
}

type AnswerRule = (request: ReceivedRequest, argument: string | null) => AnswerSketch;

const ANSWERS: Readonly<Record<string, AnswerRule>> = {
  text: (request) => ({ text: greet(request) }),
  empty: () => ({ text: "" }),
  tools: (request) => callTools(request, 1),
  "parallel-tools": (request) => callTools(request, 2),
  thinking: (request) => ({ thinking: THINKING, text: greet(request) }),
  "thinking-tools": (request) => ({ thinking: THINKING, ...callTools(request, 1) }),
  image: (request) => ({ text: describeImages(request) }),
  echo: (request) => ({ text: echo(request) }),
  unicode: () => ({ text: "Grüße, 世界 🐉 – \u2028 “quoted” \\ \u0007 done" }),
  cached: (request) => answerCached(request),
  refusal: () => ({ refusal: "I cannot help with that.", stop: "refusal" }),
  filter: () => ({ text: "This answer was", stop: "filter" }),
  length: () => ({ text: "This answer is longer than it may", stop: "length" }),
  "stop-sequence": (request) => ({
    text: "I stop before the sequence",
    stop: "stop-sequence",
    stopSequence: request.stop[0] ?? "END",
  }),
  long: (_request, argument) => {
    const deltas = argument === null ? 1000 : Number(argument);
    return { text: repeatWords(deltas), deltas };
  },
};

/** Names of the answers that a model name can ask for, after `scripted-`. `long` takes a count: `scripted-long-5000`. */
export const SCRIPTED_ANSWERS: readonly string[] = Object.keys(ANSWERS);

/** Errors by name. Statuses alone (`error-429`) need no entry. */
const ERRORS: Readonly<Record<string, (request: ReceivedRequest) => ScriptedError>> = {
  "400-context": (request) => ({
    status: 400,
    message:
      request.dialect === "chat"
        ? "This model's maximum context length is 8192 tokens. Please reduce the length of the messages."
        : "prompt is too long: 9001 tokens > 8192 maximum",
    param: "messages",
    ...(request.dialect === "chat" ? { code: "context_length_exceeded" } : {}),
  }),
  "400-policy": () => ({
    status: 400,
    code: "content_policy_violation",
    message: "The prompt was rejected by the filter.",
  }),
  "429-quota": (request) => ({
    status: 429,
    message: "You exceeded your current quota.",
    ...(request.dialect === "chat" ? { type: "insufficient_quota", code: "insufficient_quota" } : {}),
  }),
  "429-retry": () => ({ status: 429, headers: [["retry-after", "7"]] }),
};

function errorOfName(name: string, request: ReceivedRequest): ScriptedError | null {
  const named = ERRORS[name];
  if (named !== undefined) return named(request);
  return /^[45]\d\d$/u.test(name) ? { status: Number(name) } : null;
}

function answerOfName(name: string): ((request: ReceivedRequest) => ScriptedAnswer) | null {
  const [, base = name, argument = null] = /^(long)-(\d{1,7})$/u.exec(name) ?? [];
  const rule = Object.hasOwn(ANSWERS, base) ? ANSWERS[base] : undefined;
  return rule === undefined ? null : (request) => scriptAnswer(request, rule(request, argument));
}

/** Reads the behaviour out of a model name. A name that asks for nothing known gets the plain text answer. */
export function behaviourOfModel(model: string, request: ReceivedRequest): Behaviour {
  const plain = answerOfName("text");
  let answer = plain;
  let error: ScriptedError | null = null;
  const faults: Fault[] = [];
  const wanted = /(?:^|\/)scripted-([A-Za-z0-9:-]+)$/u.exec(model)?.[1] ?? "";
  for (const name of wanted.split(":")) {
    const isError = name.startsWith("error-");
    const fault = faultOfName(name);
    answer = answerOfName(name) ?? answer;
    if (isError) error = errorOfName(name.slice("error-".length), request) ?? error;
    if (fault !== null) faults.push(fault);
  }
  return { ...(answer === null ? {} : { answer }), ...(error === null ? {} : { error }), faults };
}
