/** What one upstream call will do: drawn once from a seed, with what a client may at most get of it. */
import type { ErrorClass, HeaderList, UpstreamFailure } from "../../src/index.ts";
import type { SeededRandom } from "../../../../tests/random/seeded-random.ts";
import { record, type WireUsage, type Words } from "./tiny-dialect.ts";

/** One thing that happens, `afterMs` after the one before. */
export interface Step {
  readonly afterMs: number;
  readonly event:
    | { readonly type: "sent" | "end" }
    | { readonly type: "head"; readonly status: number; readonly headers: HeaderList }
    | { readonly type: "data"; readonly bytes: Uint8Array }
    | { readonly type: "failure"; readonly failure: UpstreamFailure };
}

export interface UpstreamScript {
  readonly name: string;
  readonly steps: readonly Step[];
  /** The whole text of the answer. */
  readonly text: string;
  /** Whether the answer is one that a client may see as complete. */
  readonly isComplete: boolean;
  /** What the answer reports before its end, or null. */
  readonly usage: WireUsage | null;
}

/** What a script is drawn for. */
export interface ScriptCall {
  readonly words: Words;
  readonly isStream: boolean;
  readonly isCount: boolean;
  /** Prefix that no other call's text has. */
  readonly mark: string;
}

const JSON_HEADERS: HeaderList = ["Content-Type", "application/json", "x-request-id", "up_1"];
const SSE_HEADERS: HeaderList = ["content-type", "text/event-stream; charset=utf-8"];
/** Longer than any patience that the simulated configuration has. */
const FOREVER_MS = 3_600_000;

/** Draws a script. Roughly half of them serve. */
export function drawScript(random: SeededRandom, call: ScriptCall): UpstreamScript {
  const kind = random.pick<(random: SeededRandom, call: ScriptCall) => UpstreamScript>([
    [16, answer],
    [2, connectFailure],
    [5, errorStatus],
    [1, oddStatus],
    [1, oddType],
  ]);
  return kind(random, call);
}

const nothing = (name: string, steps: readonly Step[]): UpstreamScript => ({
  name,
  steps,
  text: "",
  isComplete: false,
  usage: null,
});
const delay = (random: SeededRandom): number =>
  random.pick([
    [5, 0],
    [3, 1 + random.integer(50)],
    [1, 200 + random.integer(1_500)],
  ]);
const sent = (random: SeededRandom): Step => ({ afterMs: delay(random), event: { type: "sent" } });

function connectFailure(random: SeededRandom): UpstreamScript {
  const kind = random.pick<UpstreamFailure["kind"]>([
    [3, "connect"],
    [1, "dns"],
    [1, "tls"],
    [2, "reset"],
    [1, "protocol"],
    [2, "connect-timeout"],
  ]);
  return nothing(`failure ${kind}`, [
    { afterMs: delay(random), event: { type: "failure", failure: { kind, detail: "refused", hasResponse: false } } },
  ]);
}

function errorStatus(random: SeededRandom): UpstreamScript {
  const [name, status] = random.pick<readonly [ErrorClass, number]>([
    [4, ["overloaded", 529]],
    [4, ["rate-limit", 429]],
    [3, ["upstream-5xx", 500]],
    [2, ["auth", 401]],
    [2, ["invalid-request", 400]],
    [2, ["context-length", 400]],
    [1, ["content-policy", 400]],
  ]);
  const retry = random.chance(0.4) ? ["retry-after-ms", String(random.integer(30_000))] : [];
  const body = Buffer.from(JSON.stringify({ error: { class: name, message: `${name} at the provider` } }));
  const tail: Step[] = random.chance(0.2)
    ? [
        { afterMs: delay(random), event: { type: "data", bytes: Buffer.alloc(10_000, 0x20) } },
        { afterMs: FOREVER_MS, event: { type: "end" } },
      ]
    : [{ afterMs: delay(random), event: { type: "end" } }];
  return nothing(`status ${status} ${name}`, [
    sent(random),
    { afterMs: delay(random), event: { type: "head", status, headers: [...JSON_HEADERS, ...retry] } },
    { afterMs: delay(random), event: { type: "data", bytes: body } },
    ...tail,
  ]);
}

function oddStatus(random: SeededRandom): UpstreamScript {
  const status = random.pick([
    [1, 204],
    [1, 302],
    [1, 201],
  ]);
  return nothing(`odd status ${status}`, [
    sent(random),
    { afterMs: delay(random), event: { type: "head", status, headers: JSON_HEADERS } },
    { afterMs: 0, event: { type: "end" } },
  ]);
}

function oddType(random: SeededRandom): UpstreamScript {
  return nothing("odd content type", [
    sent(random),
    { afterMs: delay(random), event: { type: "head", status: 200, headers: ["content-type", "text/html"] } },
    { afterMs: 0, event: { type: "data", bytes: Buffer.from("<html>") } },
    { afterMs: 0, event: { type: "end" } },
  ]);
}

function answer(random: SeededRandom, call: ScriptCall): UpstreamScript {
  if (call.isCount) return countAnswer(random);
  const isStreamed = random.chance(0.05) ? !call.isStream : call.isStream;
  return isStreamed ? streamedAnswer(random, call) : wholeAnswer(random, call);
}

function countAnswer(random: SeededRandom): UpstreamScript {
  return {
    ...nothing("count", withFault(random, [Buffer.from('{"count":7}')], JSON_HEADERS, null)),
    isComplete: true,
  };
}

const drawUsage = (random: SeededRandom): WireUsage => ({
  input: 1 + random.integer(90),
  output: 1 + random.integer(90),
});

function wholeAnswer(random: SeededRandom, { words, mark, isStream }: ScriptCall): UpstreamScript {
  const text = `${mark}.${"y".repeat(
    random.pick([
      [4, 5],
      [1, 500],
      [2, 6_000],
    ]),
  )}.`;
  const usage = random.chance(0.8) ? drawUsage(random) : null;
  const fault = random.pick<BodyFault | null>([
    [8, null],
    [1, "cut"],
    [1, "reset"],
    [1, "stall"],
    [1, "garbage"],
    [1, "boom"],
    [1, "error"],
  ]);
  const whole = JSON.stringify({ [words.text]: text, [words.stop]: "end", ...(usage === null ? {} : { usage }) });
  const body =
    fault === "boom"
      ? '{"boom":true}'
      : fault === "error"
        ? '{"error":{"class":"overloaded"}}'
        : fault === "garbage"
          ? "[1,2"
          : whole;
  const steps = withFault(random, cut(random, Buffer.from(body)), JSON_HEADERS, fault);
  return {
    name: `whole ${String(fault)}${isStream ? " for a stream" : ""}`,
    steps,
    text,
    isComplete: fault === null,
    usage,
  };
}

type BodyFault =
  | "cut"
  | "reset"
  | "stall"
  | "garbage"
  | "boom"
  | "error"
  | "flood"
  | "oversize"
  | "trailing"
  | "no-done"
  | "usage-never";

function streamedAnswer(random: SeededRandom, { words, mark }: ScriptCall): UpstreamScript {
  const fault = random.pick<BodyFault | null>([
    [14, null],
    [2, "cut"],
    [2, "reset"],
    [2, "stall"],
    [1, "garbage"],
    [1, "boom"],
    [2, "error"],
    [1, "flood"],
    [1, "oversize"],
    [2, "trailing"],
    [2, "no-done"],
    [2, "usage-never"],
  ]);
  const records: Uint8Array[] = [];
  let text = "";
  const wait = (): void => {
    const pings = random.chance(0.3) ? random.integer(3) : 0;
    for (let index = 0; index < pings; index++)
      records.push(random.chance(0.5) ? record({ ping: true }) : Buffer.from(": ping\n\n"));
  };
  const size = random.pick([
    [5, 5],
    [2, 300],
    [1, 1_200],
  ]);
  for (let count = random.integer(7), index = 0; index < count; index++) {
    wait();
    const token = `${mark}.${index}.${"z".repeat(size)} `;
    text += token;
    records.push(record({ [words.delta]: token }));
  }
  const usage = fault !== "usage-never" && random.chance(0.85) ? drawUsage(random) : null;
  const stopAt = records.length;
  records.push(record({ [words.stop]: "end" }));
  if (usage !== null) records.push(record({ usage }));
  if (fault !== "no-done" && fault !== "usage-never") records.push(record({ [words.done]: true }));
  const isBroken = fault !== null && !["trailing", "no-done", "usage-never"].includes(fault);
  const planted = isBroken ? plant(random, records.slice(0, stopAt), records.slice(stopAt), fault) : records;
  return {
    name: `stream ${String(fault)}`,
    steps: withFault(random, cut(random, Buffer.concat(planted)), SSE_HEADERS, fault),
    text,
    // What floods the gate before the first content is harmless behind it, or where it is translated.
    isComplete: !isBroken || fault === "flood",
    usage,
  };
}

/** Puts a bad record somewhere before the stop, or takes the stop away. */
function plant(
  random: SeededRandom,
  records: readonly Uint8Array[],
  ending: readonly Uint8Array[],
  fault: BodyFault,
): readonly Uint8Array[] {
  const bad: Readonly<Partial<Record<BodyFault, readonly Uint8Array[]>>> = {
    garbage: [Buffer.from("data: no json\n\n")],
    boom: [record({ boom: true })],
    error: [record({ error: { class: "overloaded", message: "in the stream" } })],
    flood: Array.from({ length: 400 }, () => record({ opened: "again and again" })),
    oversize: [record({ filler: "w".repeat(5_000) })],
  };
  const rows = bad[fault];
  if (rows === undefined) return [record({ opened: true }), ...records];
  const at = random.integer(records.length + 1);
  return [...records.slice(0, at), ...rows, ...records.slice(at), ...ending];
}

/** Cuts a body anywhere, also inside characters and line ends. */
function cut(random: SeededRandom, body: Uint8Array): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  const longest = random.pick([
    [1, 3],
    [3, 60],
    [4, 100_000],
  ]);
  for (let at = 0; at < body.byteLength;) {
    const end = Math.min(body.byteLength, at + 1 + random.integer(Math.min(longest, 2 * body.byteLength)));
    // Tiny pieces of a large body would only make the simulation slow.
    const next = chunks.length > 40 ? body.byteLength : end;
    chunks.push(body.subarray(at, next));
    at = next;
  }
  return chunks;
}

function withFault(
  random: SeededRandom,
  chunks: readonly Uint8Array[],
  headers: HeaderList,
  fault: BodyFault | null,
): readonly Step[] {
  const steps: Step[] = [{ afterMs: delay(random), event: { type: "head", status: 200, headers } }];
  const isBroken = fault === "cut" || fault === "reset" || fault === "stall";
  // A whole body is only cut short if bytes are missing.
  const kept = isBroken ? chunks.slice(0, random.integer(chunks.length)) : chunks;
  for (const bytes of kept) steps.push({ afterMs: delay(random), event: { type: "data", bytes } });
  const failure: UpstreamFailure = {
    kind: random.chance(0.8) ? "reset" : "protocol",
    detail: "cut",
    hasResponse: true,
  };
  if (fault === "reset") steps.push({ afterMs: delay(random), event: { type: "failure", failure } });
  else
    steps.push({
      afterMs: fault === "stall" || fault === "trailing" || fault === "usage-never" ? FOREVER_MS : delay(random),
      event: { type: "end" },
    });
  // An early answer comes before the request was sent, and then the rest of it perhaps never is.
  if (random.chance(0.9)) steps.splice(random.chance(0.85) ? 0 : random.integer(steps.length), 0, sent(random));
  return steps;
}
