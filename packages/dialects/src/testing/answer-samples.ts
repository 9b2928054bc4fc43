// Generated answers in the neutral representation, and the many ways in which a stream can say one of them.
import { eventsOfResponse, textToString } from "@dragoman/core";
import type { Candidate, NeutralResponse, Part, Stop, StreamEvent, Text, Usage } from "@dragoman/core";
import fc from "fast-check";

const AT = "";

const visible: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom("a", "é", "日", "😀", '"', "\\", "x\ny"), fc.string({ unit: "binary", maxLength: 10 }))
  .map(([head, tail]) => head + tail);

const argumentObject: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("{}", '{"n": 12345678901234567890}', '{ "x" : 1.0, "y":"\\u00e9\\"" }'),
  fc
    .dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
    .map((value) => JSON.stringify(value)),
);

/** What generated answers may hold. */
export interface AnswerLimits {
  readonly maxCandidates: number;
  /** Signature origins that travel through this dialect in both directions. */
  readonly signatureOrigin: string | null;
}

const reasoningPart = ({ signatureOrigin }: AnswerLimits): fc.Arbitrary<Part> =>
  fc.tuple(visible, fc.boolean()).map(([text, isSigned]): Part => ({
    type: "reasoning",
    form: "summary",
    texts: [text],
    at: AT,
    ...(isSigned && signatureOrigin !== null
      ? { signature: { origin: signatureOrigin, model: "up-model", data: "c2ln" } }
      : null),
  }));

const callPart = (number: number): fc.Arbitrary<Part> =>
  fc.tuple(fc.stringMatching(/^[a-zA-Z0-9_-]{1,10}$/), argumentObject).map(([name, text]): Part => ({
    type: "tool-call",
    id: `call_${number}`,
    name,
    kind: "function",
    arguments: { text, encoded: true },
    at: AT,
  }));

const STOPS: readonly Stop[] = [
  { reason: "end", raw: "end" },
  { reason: "max-tokens", raw: "length" },
];

const candidateOf = (index: number, limits: AnswerLimits): fc.Arbitrary<Candidate> =>
  fc
    .record({
      reasoning: fc.array(reasoningPart(limits), { maxLength: 1 }),
      texts: fc.array(visible, { maxLength: 2 }),
      calls: fc
        .integer({ min: 0, max: 3 })
        .chain((count) => fc.tuple(...Array.from({ length: count }, (_, call) => callPart(index * 10 + call)))),
      isTextLast: fc.boolean(),
      stop: fc.constantFrom(...STOPS),
    })
    .map(({ reasoning, texts, calls, isTextLast, stop }): Candidate => {
      const prose = texts.map((text): Part => ({ type: "text", text, at: AT }));
      const parts = isTextLast ? [...reasoning, ...calls, ...prose] : [...reasoning, ...prose, ...calls];
      return {
        index,
        parts,
        stop: stop.reason === "end" && calls.length > 0 ? { reason: "tool-calls", raw: "calls" } : stop,
      };
    });

/** Counts without contradictions. */
export const neutralUsage: fc.Arbitrary<Usage> = fc
  .tuple(fc.nat(500), fc.nat(500), fc.nat(500), fc.nat(500), fc.nat(500))
  .map(([fresh, cacheRead, cacheWrite, reasoning, shown]): Usage => ({
    input: fresh + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: reasoning + shown,
    reasoning,
    source: "upstream",
    final: true,
  }));

/** Answers that a dialect with these limits can carry. */
export function neutralAnswers(limits: AnswerLimits): fc.Arbitrary<NeutralResponse> {
  return fc
    .tuple(fc.integer({ min: 1, max: Math.min(limits.maxCandidates, 2) }), neutralUsage)
    .chain(([count, usage]) =>
      fc
        .tuple(...Array.from({ length: count }, (_, index) => candidateOf(index, limits)))
        .map((candidates): NeutralResponse => ({
          id: "upstream_1",
          model: "up-model",
          candidates,
          usage,
          extensions: [],
        })),
    );
}

/** How a stream says an answer. */
export interface Delivery {
  /** Lengths of deltas, used in turn. */
  readonly sizes: readonly number[];
  /** Calls that follow each other arrive in turns. */
  readonly interleavesCalls: boolean;
  readonly hasPings: boolean;
}

export const deliveries: fc.Arbitrary<Delivery> = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 }),
  interleavesCalls: fc.boolean(),
  hasPings: fc.boolean(),
});

/** The events of a stream that says the answer in this way. */
export function eventsOf(response: NeutralResponse, delivery: Delivery): readonly StreamEvent[] {
  const events = [...eventsOfResponse(response)].flatMap((event) => cutDelta(event, delivery));
  const ordered = delivery.interleavesCalls ? interleave(events) : events;
  return delivery.hasPings
    ? ordered.flatMap((event): StreamEvent[] => [event, { type: "ping" }]).slice(0, -1)
    : ordered;
}

function cutDelta(event: StreamEvent, { sizes }: Delivery): readonly StreamEvent[] {
  if (event.type !== "text-delta" && event.type !== "reasoning-delta" && event.type !== "arguments-delta")
    return [event];
  return cut(event.text, sizes).map((text) => ({ ...event, text }));
}

function cut(text: Text, sizes: readonly number[]): readonly string[] {
  const points = Array.from(textToString(text));
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < points.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(points.slice(at, at + size).join(""));
    at += size;
  }
  return pieces;
}

/** Opens all calls of a run first, lets their arguments arrive in turns, and closes them together. */
function interleave(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const result: StreamEvent[] = [];
  let run: StreamEvent[][] = [];
  const flush = (): void => {
    const starts = run.map((call) => call[0]).filter((event) => event !== undefined);
    const ends = run.map((call) => call.at(-1)).filter((event) => event !== undefined);
    const bodies = run.map((call) => call.slice(1, -1));
    result.push(...starts);
    const longest = Math.max(0, ...bodies.map((body) => body.length));
    for (let step = 0; step < longest; step++) for (const body of bodies) result.push(...body.slice(step, step + 1));
    result.push(...ends);
    run = [];
  };
  let open: StreamEvent[] | null = null;
  for (const event of events) {
    const isCallStart = event.type === "part-start" && event.head.type === "tool-call";
    if (isCallStart) open = [event];
    else if (open !== null) {
      open.push(event);
      if (event.type === "part-end") {
        run.push(open);
        open = null;
      }
    } else {
      flush();
      result.push(event);
    }
  }
  flush();
  return result;
}
