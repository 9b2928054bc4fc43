// Compiled, not run: what authors of dialects are told by their compiler, and what it infers for them.
import type { Document } from "../json/index.ts";
import { defineClientDialect, defineProviderDialect } from "./define.ts";
import type { ClientDialect, RequestHead } from "./client-dialect.ts";
import type { ProviderDialect } from "./provider-dialect.ts";

const doors: Pick<ProviderDialect, "encodeRequest" | "decodeResponse" | "createStreamDecoder" | "classifyError"> = {
  encodeRequest: () => ({ ok: false, issues: [] }),
  decodeResponse: () => ({ ok: true, response: { candidates: [], extensions: [] } }),
  createStreamDecoder: () => ({ push: () => {}, finish: () => {}, isStopped: false }),
  classifyError: ({ status }) => ({
    class: "upstream-5xx",
    origin: "upstream",
    message: String(status),
    retrySame: true,
    fallback: true,
  }),
};
const countDoor: Pick<ProviderDialect, "decodeTokenCount"> = { decodeTokenCount: () => ({ ok: true, count: 1 }) };

export const ACCEPTED_PROVIDERS: readonly ProviderDialect[] = [
  defineProviderDialect({ id: "small", ...doors }),
  defineProviderDialect({ id: "lines", framing: "ndjson", profiles: { main: { limit: 1 } }, ...doors }),
  defineProviderDialect({ id: "counting", operations: ["generate", "count-tokens"], ...doors, ...countDoor }),
  defineProviderDialect({ id: "own", ...doors, compileProfile: () => ({ ok: true, profile: {} }) }),
  // Parameters of the doors need no types.
  defineProviderDialect({
    id: "inferred",
    ...doors,
    encodeRequest: (request, target) => ({
      ok: false,
      issues: [{ code: "capability_missing", path: "", severity: "reject", detail: request.source + target.model }],
    }),
  }),
];

const { classifyError: _left, ...withoutErrors } = doors;

// @ts-expect-error a door is missing
defineProviderDialect({ id: "a", ...withoutErrors });
// @ts-expect-error a misspelled door
defineProviderDialect({ id: "a", ...doors, decodeStream: () => null });
// @ts-expect-error an unknown framing
defineProviderDialect({ id: "a", ...doors, framing: "websocket" });
// @ts-expect-error who counts tokens must read the count
defineProviderDialect({ id: "a", operations: ["count-tokens"], ...doors });
// @ts-expect-error a count that no operation asks for
defineProviderDialect({ id: "a", ...doors, ...countDoor });
// @ts-expect-error profiles twice
defineProviderDialect({ id: "a", ...doors, profiles: {}, compileProfile: () => ({ ok: true, profile: {} }) });
// @ts-expect-error an unknown operation
defineProviderDialect({ id: "a", operations: ["train"], ...doors });
defineProviderDialect({
  id: "a",
  ...doors,
  // @ts-expect-error a code that is in no table
  encodeRequest: () => ({ ok: false, issues: [{ code: "no_idea", path: "", severity: "reject", detail: "" }] }),
});

interface Facts {
  readonly wantsUsage: boolean;
}

const head = (document: Document): { readonly ok: true; readonly head: RequestHead<Facts> } => ({
  ok: true,
  head: { model: "m", modelNode: document.root, stream: false, facts: { wantsUsage: true } },
});

const answers = {
  encodeResponse: () => ({ ok: true, body: new Uint8Array(0) }) as const,
  createStreamEncoder: () => ({ encode: () => null, fail: () => {} }),
  encodeError: () => ({ status: 500, headers: [], body: new Uint8Array(0) }),
  encodeStreamError: () => new Uint8Array(0),
} as const;
const refusal = {
  ok: false,
  error: { class: "internal", origin: "gateway", message: "", retrySame: false, fallback: false },
} as const;

export const ACCEPTED_CLIENT: ClientDialect<Facts> = defineClientDialect({
  id: "small",
  routes: [{ method: "POST", path: "/api/chat", operation: "generate" }],
  readHead: head,
  decodeRequest: (_document, { facts }) => {
    const wants: boolean = facts.wantsUsage;
    return wants ? refusal : refusal;
  },
  ...answers,
});

const request = { readHead: head, decodeRequest: () => refusal } as const;
const generate = { method: "POST", path: "/api/chat", operation: "generate" } as const;

// @ts-expect-error no routes
defineClientDialect({ id: "a", ...request, ...answers });
// @ts-expect-error a method that no dialect serves
defineClientDialect({ id: "a", routes: [{ method: "PUT", path: "/", operation: "generate" }], ...request, ...answers });
// @ts-expect-error a route for the model list without a door that answers it
defineClientDialect({ id: "a", routes: [{ ...generate, operation: "list-models" }], ...request, ...answers });
// @ts-expect-error a stream that is no event stream needs a keep-alive of its own
defineClientDialect({ id: "a", routes: [generate], streamContentType: "application/x-ndjson", ...request, ...answers });
defineClientDialect({
  id: "a",
  routes: [generate],
  ...request,
  ...answers,
  // @ts-expect-error facts that readHead does not keep
  encodeResponse: (_response, { facts }) => ({ ok: true, body: Buffer.from(facts.wantsNothing) }),
});
