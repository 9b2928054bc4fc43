/** What must hold of one finished exchange, whatever its upstreams and its client did. */
import type { ExchangeOutcome } from "../../src/index.ts";
import type { CountedBody } from "./counted-body.ts";
import type { CountedTicket } from "./counting-admission.ts";
import type { SentCall } from "./faulty-upstream.ts";
import type { FlightyClient } from "./flighty-client.ts";
import type { Words } from "./tiny-dialect.ts";

/** One exchange as the simulation saw it from all sides. */
export interface SeenExchange {
  readonly name: string;
  readonly words: Words;
  readonly client: FlightyClient;
  readonly body: CountedBody;
  readonly calls: SentCall[];
  readonly outcomes: ExchangeOutcome[];
  requestId: string;
  ticket: CountedTicket | null;
}

/** What a stream said to its client. */
export interface HeardStream {
  readonly text: string;
  readonly hasStop: boolean;
  readonly hasDone: boolean;
  readonly errors: number;
  /** Whether anything but keep-alives and opening records came. */
  readonly hasContent: boolean;
}

/** How long the simulated engine waits for a late usage, in milliseconds. */
export const USAGE_GRACE_MS = 500;

/** Reads what a streaming client has received. */
export function hear(words: Words, received: string): HeardStream {
  let text = "";
  let hasStop = false;
  let hasDone = false;
  let errors = 0;
  for (const row of received.split("\n\n")) {
    if (!row.startsWith("data: ")) continue;
    const members = JSON.parse(row.slice(6)) as Readonly<Record<string, unknown>>;
    const delta = members[words.delta];
    if (typeof delta === "string") text += delta;
    if (members[words.stop] !== undefined) hasStop = true;
    if (members[words.done] === true) hasDone = true;
    if (members["error"] !== undefined) errors += 1;
  }
  return { text, hasStop, hasDone, errors, hasContent: text !== "" || hasStop || errors > 0 };
}

const isStreamAnswer = (client: FlightyClient): boolean => client.answerHeaders.includes("text/event-stream");

/** Every invariant that this exchange breaks, in words. */
export function findViolations(seen: SeenExchange): readonly string[] {
  const [outcome] = seen.outcomes;
  if (outcome === undefined || seen.outcomes.length !== 1) return [`${seen.name}: ${seen.outcomes.length} outcomes`];
  const found: string[] = [];
  const require = (isTrue: boolean, message: string): void => {
    if (!isTrue) found.push(`${seen.name}: ${message}`);
  };
  checkAccount(seen, outcome, require);
  checkBody(seen, require);
  checkOutcome(seen, outcome, require);
  if (seen.client.state === "ended") checkCleanEnd(seen, outcome, require);
  else if (isStreamAnswer(seen.client)) checkPrefix(seen, require);
  return found;
}

type Require = (isTrue: boolean, message: string) => void;

function checkAccount({ ticket, calls }: SeenExchange, outcome: ExchangeOutcome, require: Require): void {
  require(calls.length === outcome.attempts.length, `${calls.length} calls and ${outcome.attempts.length} settlements`);
  if (ticket !== null) {
    require(ticket.closes === 1, `the ticket was closed ${ticket.closes} times`);
    require(ticket.settlements.length === calls.length, `${ticket.settlements.length} settlements on the ticket`);
  } else require(calls.length === 0, "calls without a ticket");
  outcome.attempts.forEach(({ rule, usage, startedMs, endedMs }, index) => {
    const script = calls[index]?.script;
    const what = `attempt ${index} (${script?.name ?? "?"}) is settled as ${rule}`;
    require(endedMs >= startedMs && startedMs > 0, `${what} from ${startedMs} to ${endedMs}`);
    if (rule === "actual" || rule === "after_disconnect" || rule === "failed_actual")
      require(usage !== null, `${what} without usage`);
    if (rule === "failed_free" || rule === "estimated") require(usage === null, `${what} with usage`);
    if (rule === "after_disconnect") require(outcome.isClientGone, `${what} for a client that stayed`);
    if (rule === "actual" || rule === "estimated") require(script?.isComplete === true, what);
    if (rule === "actual" && usage !== null)
      require(usage.input === script?.usage?.input &&
        usage.output === script.usage.output, `${what} with other counts`);
    if (index < outcome.attempts.length - 1)
      require(!/ (invalid-request|content-policy)$/.test(
        script?.name ?? "",
      ), `a fault of the request was taken elsewhere: ${what}`);
    if (index < outcome.attempts.length - 1)
      require(rule.startsWith("failed") || rule === "abandoned" || rule === "partial", what);
  });
}

function checkBody({ body, calls, client }: SeenExchange, require: Require): void {
  require(calls.every((call) => call.isReleased && call.isOver), "a call is not over");
  // Nobody but the test holds a body that was never read.
  require(body.holders === (client.hasGivenBody ? 0 : 1), `the body has ${body.holders} holders`);
}

function checkOutcome({ client }: SeenExchange, outcome: ExchangeOutcome, require: Require): void {
  require(client.state !== "waiting" && client.state !== "open", `the client was left ${client.state}`);
  require(outcome.status === (client.status === 0 && client.state === "gone" ? 499 : client.status) ||
    client.state === "aborted", `status ${outcome.status} although the client got ${client.status}`);
  require(outcome.isClientGone === (client.state === "gone") ||
    client.state === "aborted", "a wrong word about the client");
  if (client.state === "ended" && client.status >= 400)
    require(outcome.error !== null, "an error answer without an error");
  require(outcome.endedMs >= outcome.startedMs, "an end before the start");
  const wanted = ["content-type", "x-request-id", "x-dragoman-generation"];
  if (client.status > 0)
    require(wanted.every((name) => client.answerHeaders.includes(name)), `headers ${client.answerHeaders.join(" ")}`);
}

/** An answer that ends cleanly is complete, or says that it is not. */
function checkCleanEnd({ words, client, calls }: SeenExchange, outcome: ExchangeOutcome, require: Require): void {
  const script = calls.at(-1)?.script;
  const what = `a clean end of ${script?.name ?? "no call"}`;
  if (!isStreamAnswer(client)) {
    const members = JSON.parse(client.received) as Readonly<Record<string, unknown>>;
    require((members["error"] !== undefined) ===
      client.status >= 400, `${what}: status ${client.status} with ${client.received.slice(0, 80)}`);
    if (client.status === 200 && members[words.text] !== undefined)
      require(members[words.text] === script?.text && script?.isComplete === true, what);
    return;
  }
  const heard = hear(words, client.received);
  require(heard.errors <= 1, `${heard.errors} error records`);
  require(heard.errors === 1 || heard.hasStop, `${what} without stop or error`);
  require(heard.errors === 1
    ? outcome.error !== null
    : outcome.error === null, `${what}: ${heard.errors} errors heard, told ${String(outcome.error?.class)}`);
  if (heard.errors === 0) {
    require(script?.isComplete === true && heard.text === script.text, `${what} with another text`);
    require(["actual", "estimated"].includes(
      outcome.attempts.at(-1)?.rule ?? "",
    ), `${what} settled as ${String(outcome.attempts.at(-1)?.rule)}`);
    const tookMs = script?.steps.reduce((sum, { afterMs }) => sum + afterMs, 0) ?? 0;
    // A usage that comes too late is not waited for.
    if (script !== undefined && script.usage !== null && tookMs < USAGE_GRACE_MS)
      require(outcome.attempts.at(-1)?.rule === "actual", `${what} without its usage`);
  } else require(script === undefined || script.text.startsWith(heard.text), `${what} with foreign text`);
}

/** A client that left or was cut off has seen the beginning of one attempt's text, nothing else. */
function checkPrefix({ words, client, calls }: SeenExchange, require: Require): void {
  const whole = client.received.slice(0, client.received.lastIndexOf("\n\n") + 2);
  const { text } = hear(words, whole);
  require(calls.some((call) => call.script.text.startsWith(text)) || text === "", "a text that no attempt sent");
}
