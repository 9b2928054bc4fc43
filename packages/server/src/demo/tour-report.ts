// Writes what happened at one stop of the tour, compactly: request, upstream calls, answer, and the expectations.
import type { UpstreamCallLog } from "../scripted-upstream/index.ts";
import { heading, paletteFor, row, shorten } from "./text-layout.ts";
import type { TextOutput } from "./text-layout.ts";
import { at, parseJson, pathOf, spokenText } from "./tour-client.ts";
import type { TourAnswer } from "./tour-client.ts";
import type { Expectation, TourStep } from "./tour-steps.ts";

/** A stop of the tour with its outcome. */
export interface VisitedStep {
  readonly number: number;
  readonly step: TourStep;
  readonly answer: TourAnswer;
  readonly calls: readonly UpstreamCallLog[];
  readonly expectations: readonly Expectation[];
}

const SNIPPET = 85;
const SHOWN_HEADERS = ["x-dragoman-deployment", "x-dragoman-attempts", "x-dragoman-adaptations", "x-should-retry"];

/** Writes one visited stop. */
export function writeStep(output: TextOutput, visited: VisitedStep): void {
  const palette = paletteFor(output);
  const { step, answer, calls, expectations } = visited;
  const headers = SHOWN_HEADERS.flatMap((name) => {
    const value = answer.headers[name];
    return value === undefined ? [] : [`${name}: ${String(value)}`];
  });
  const failed = expectations.filter((each) => !each.holds);
  output.write(`\n${heading(`${visited.number}. ${step.title}`, palette)}`);
  output.write(row("request", describeRequest(step)));
  if (calls.length === 0) output.write(row("upstream", "not asked"));
  for (const [index, call] of calls.entries()) output.write(row(index === 0 ? "upstream" : "", describeCall(call)));
  output.write(row("answer", describeAnswer(answer)));
  if (headers.length > 0) output.write(row("headers", headers.join("   ")));
  for (const [index, line] of snippetsOf(answer).entries())
    output.write(row(index === 0 ? "content" : "", line, palette.faint));
  output.write(row("shows", step.shows));
  if (failed.length === 0) {
    output.write(row("verified", expectations.map((each) => each.statement).join(" · "), palette.good));
  }
  for (const each of failed) output.write(row("FAILED", each.statement, palette.bad));
}

/** Writes that a stop could not be visited at all. */
export function writeLostStep(output: TextOutput, number: number, step: TourStep, error: unknown): void {
  const palette = paletteFor(output);
  output.write(`\n${heading(`${number}. ${step.title}`, palette)}`);
  output.write(row("request", describeRequest(step)));
  output.write(row("FAILED", `no answer: ${error instanceof Error ? error.message : String(error)}`, palette.bad));
}

function describeRequest({ request }: TourStep): string {
  const streamed = request.body["stream"] === true ? ", streamed" : "";
  return `POST ${pathOf(request.dialect)}, model “${request.body.model}”${streamed}`;
}

function describeCall(call: UpstreamCallLog): string {
  return `${call.method} ${call.path}, model “${call.model ?? "none"}”`;
}

function describeAnswer(answer: TourAnswer): string {
  const type = answer.headers["content-type"] ?? "no content type";
  const size =
    answer.records.length > 0 ? `${answer.records.length} records` : `${Buffer.byteLength(answer.text)} bytes`;
  return `${answer.status}, ${type}, ${size}`;
}

function snippetsOf(answer: TourAnswer): string[] {
  const last = answer.records.at(-1);
  const spoken = spokenText(answer);
  const calls = at(parseJson(answer.text), "choices", 0, "message", "tool_calls");
  const lines: string[] = [];
  if (spoken !== "") lines.push(shorten(`“${spoken}”`, SNIPPET * 2));
  if (Array.isArray(calls)) {
    for (const call of calls as readonly unknown[]) lines.push(shorten(`calls ${describeToolCall(call)}`, SNIPPET));
  }
  if (spoken === "" && answer.records.length === 0) lines.push(shorten(answer.text, SNIPPET * 3));
  if (last !== undefined) lines.push(shorten(`ends with ${last.event ?? "data"}: ${last.data}`, SNIPPET * 2));
  return lines;
}

function describeToolCall(call: unknown): string {
  return `${String(at(call, "function", "name"))} ${String(at(call, "function", "arguments"))} as ${String(at(call, "id"))}`;
}
