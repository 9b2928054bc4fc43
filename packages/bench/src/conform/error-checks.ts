// Checks of refusals and of upstream errors: the right status, in the shape the client's SDK parses, and no upstream call that must not be.
import {
  BOTH_DIALECTS,
  judgeProblems,
  notApplicable,
  type Check,
  type CheckContext,
  type CheckRequest,
  type ClientDialect,
  type Outcome,
} from "./check.ts";
import type { Exchange } from "./exchange.ts";
import { parseJson, valueAt } from "./json-value.ts";

/** Problems of an error answer: `statuses` are the acceptable ones. */
export function errorProblems(
  dialect: ClientDialect,
  { status, headers, body }: Exchange,
  isExpected: (status: number) => boolean,
  expected: string,
): string[] {
  const problems: string[] = [];
  if (status === undefined) return ["no answer"];
  if (!isExpected(status)) problems.push(`status ${status} instead of ${expected}`);
  if (status < 400) return problems;
  const value = parseJson(body);
  if (!String(headers["content-type"]).startsWith("application/json"))
    problems.push(`content-type ${String(headers["content-type"])}`);
  if (typeof valueAt(value, "error", "message") !== "string") problems.push("no error.message");
  if (dialect === "anthropic") {
    if (valueAt(value, "type") !== "error") problems.push("type is not error");
    if (typeof valueAt(value, "error", "type") !== "string") problems.push("no error.type");
  }
  return problems;
}

/** A request that must be refused before the upstream hears of it. */
async function checkRefusal(
  { dialect, send, upstream }: CheckContext,
  request: CheckRequest,
  statuses: readonly number[],
): Promise<Outcome> {
  const answer = await send(request);
  const problems = errorProblems(dialect, answer, (status) => statuses.includes(status), statuses.join(" or "));
  const { calls } = await upstream.counts();
  if (calls > 0) problems.push("the upstream was called");
  return judgeProblems(problems, `status ${answer.status ?? "none"}, no upstream call`);
}

/** An upstream that keeps answering an error. */
async function checkUpstreamStatus(
  { dialect, send, upstream }: CheckContext,
  upstreamStatus: number,
): Promise<Outcome> {
  await upstream.arm([{ fault: { kind: "status", status: upstreamStatus } }]);
  const answer = await send({});
  // What the client may do about it must survive: its own mistake stays one, a limit stays a limit, a failure stays a failure.
  const isExpected = (status: number): boolean =>
    upstreamStatus >= 500 ? status >= 500 : upstreamStatus === 429 ? status === 429 : status >= 400 && status < 500;
  const expected = upstreamStatus >= 500 ? "5xx" : upstreamStatus === 429 ? "429" : "4xx";
  return judgeProblems(errorProblems(dialect, answer, isExpected, expected), `status ${answer.status ?? "none"}`);
}

/** Checks of refusals and upstream errors, in the order they run. */
export const ERROR_CHECKS: readonly Check[] = [
  {
    id: "no-key",
    title: "refuses a request without a key",
    dialects: BOTH_DIALECTS,
    run: (context) => checkRefusal(context, { credential: "absent" }, [401, 403]),
  },
  {
    id: "unknown-key",
    title: "refuses an unknown key",
    dialects: BOTH_DIALECTS,
    run: (context) => checkRefusal(context, { credential: "unknown" }, [401, 403]),
  },
  {
    id: "key-stays",
    title: "keeps the client's key from the upstream",
    dialects: BOTH_DIALECTS,
    run: async ({ dialect, traffic, addresses, send, upstream }) => {
      const sent = traffic.headers(dialect, "good", addresses);
      const secret = (sent["authorization"] ?? sent["x-api-key"] ?? "").replace(/^Bearer /, "");
      if (secret === "") return notApplicable("its clients have no key");
      const { status } = await send({});
      const calls = await upstream.details();
      const leaked = calls.some(({ headers }) => headers.some(([, value]) => value.includes(secret)));
      const problems = status === 200 ? [] : [`status ${status ?? "none"} instead of 200`];
      if (leaked) problems.push("the upstream got the client's key");
      return judgeProblems(problems, "the upstream got another credential");
    },
  },
  {
    id: "unknown-model",
    title: "refuses an unknown model",
    dialects: BOTH_DIALECTS,
    run: async (context) => {
      const { traffic } = context;
      if (traffic.model("unknown") === traffic.model("openai")) return notApplicable("it knows no models");
      return checkRefusal(context, { route: "unknown" }, [400, 403, 404]);
    },
  },
  {
    id: "malformed",
    title: "refuses a body that is not JSON",
    dialects: BOTH_DIALECTS,
    run: (context) => checkRefusal(context, { rawBody: '{"model":"x","messages":[' }, [400, 422]),
  },
  {
    id: "upstream-400",
    title: "passes on that a request was wrong",
    dialects: BOTH_DIALECTS,
    run: (context) => checkUpstreamStatus(context, 400),
  },
  {
    id: "upstream-429",
    title: "passes on a rate limit",
    dialects: BOTH_DIALECTS,
    run: (context) => checkUpstreamStatus(context, 429),
  },
  {
    id: "upstream-500",
    title: "passes on an upstream failure",
    dialects: BOTH_DIALECTS,
    run: (context) => checkUpstreamStatus(context, 500),
  },
];
