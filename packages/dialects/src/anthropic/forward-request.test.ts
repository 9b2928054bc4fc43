import { concat } from "@dragoman/core";
import { describe, expect, it } from "vitest";

import { encodeEnvelope } from "../shared/signature-envelope.ts";
import { forwardRequest } from "./forward-request.ts";
import { bodyText, documentOf, headOf, issueList, targetOf, type TargetChoice } from "./test-exchange.ts";

const forward = (body: string, choice: TargetChoice = {}, headers: readonly string[] = []) => {
  const document = documentOf(body);
  return forwardRequest(document, headOf(document), "generate", headers, targetOf(choice));
};

const own = encodeEnvelope({ origin: "a", model: "up-model", data: "c2ln" });
const ownWithText = encodeEnvelope({ origin: "a", model: "up-model", data: "c2ln", text: "hm" });
const ownRedacted = encodeEnvelope({ origin: "ar", model: "up-model", data: "R" });
const foreign = encodeEnvelope({ origin: "g", model: "other", data: "x" });
const otherFamily = encodeEnvelope({ origin: "a", model: "claude-opus-4-5", data: "x" });

const history = (block: string, rest = ',{"type":"text","text":"b"}'): string =>
  `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[${block}${rest}]},{"role":"user","content":"c"}]}`;
const thinking = (signature: string, text = ""): string =>
  `{"type":"thinking","thinking":"${text}","signature":"${signature}"}`;

describe("forwardRequest", () => {
  it("changes nothing but the model", () => {
    const body = `{ "x_new": 1.0, "model" : "m",\n"messages":[{"role":"user","content":"h\\u00e9"}] , "max_tokens":10}`;
    expect(bodyText(forward(body))).toBe(body.replace('"m"', '"up-model"'));
  });

  it("forwards a large body as slices of the client's buffer", () => {
    const document = documentOf(`{"model":"m","messages":[{"role":"user","content":"${"x".repeat(1_000_000)}"}]}`);
    const result = forwardRequest(document, headOf(document), "generate", [], targetOf());
    if (!result.ok) throw new Error("refused");
    const shared = result.encoded.body.parts.filter((part) => part.buffer === document.bytes.buffer);
    expect(shared.reduce((sum, part) => sum + part.length, 0)).toBeGreaterThan(999_000);
  });

  const restored = [
    {
      name: "an own envelope is replaced by the original signature",
      block: thinking(own, "t"),
      expected: thinking("c2ln", "t"),
    },
    {
      name: "the text that an envelope carries is put back",
      block: thinking(ownWithText),
      expected: thinking("c2ln", "hm"),
    },
    {
      name: "a redacted block comes back as one",
      block: thinking(ownRedacted),
      expected: '{"type":"redacted_thinking","data":"R"}',
    },
    { name: "a provider's own signature is not touched", block: thinking("EqQBCg=="), expected: thinking("EqQBCg==") },
    {
      name: "an envelope in another spelling is found",
      block: thinking(own.replace("g", String.raw`\u0067`)),
      expected: thinking("c2ln"),
    },
  ];
  it.each(restored)("$name", ({ block, expected }) => {
    expect(bodyText(forward(history(block)))).toBe(history(expected).replace('"m"', '"up-model"'));
  });

  const cut = [
    { name: "another provider's envelope", block: thinking(foreign) },
    { name: "an empty signature", block: thinking("", "was shown") },
    { name: "another family's envelope", block: thinking(otherFamily) },
    { name: "a broken envelope", block: thinking("gwsig1.a") },
  ];
  it.each(cut)("refuses $name, and cuts it where that is allowed", ({ block }) => {
    const refused = forward(history(block));
    expect(refused.ok).toBe(false);
    expect(issueList(refused)).toEqual(["reasoning_history_foreign@/messages/1/content/0"]);
    const allowed = forward(history(block), { allow: ["reasoning_history_foreign"] });
    expect(bodyText(allowed)).toBe(
      history("", "").replace("[]", '[{"type":"text","text":"b"}]').replace('"m"', '"up-model"'),
    );
  });

  it("cuts the whole message when nothing else is in it", () => {
    const result = forward(history(thinking(""), ""), { allow: ["reasoning_history_foreign"] });
    expect(bodyText(result)).toBe(
      '{"model":"up-model","messages":[{"role":"user","content":"a"},{"role":"user","content":"c"}]}',
    );
  });

  it("accepts other models' reasoning where the deployment says so", () => {
    const result = forward(history(thinking(otherFamily)), { options: { reasoningAcceptModels: ["claude-opus-*"] } });
    expect(bodyText(result)).toContain('"signature":"x"');
  });

  it("cuts a counting call to the members that it knows", () => {
    const document = documentOf(
      '{"model":"m","max_tokens":5,"messages":[],"stream":true,"system":"s","metadata":{},"new":1}',
    );
    const result = forwardRequest(document, headOf(document), "count-tokens", [], targetOf());
    expect(bodyText(result)).toBe('{"model":"up-model","messages":[],"system":"s"}');
    expect(result.ok && result.encoded.path).toBe("/messages/count_tokens");
  });

  it("forwards a thread only where no other account could serve it", () => {
    const body = '{"model":"m","messages":[],"thread":{"id":"t"}}';
    expect(issueList(forward(body))).toEqual(["stateful_unsupported@/thread"]);
    expect(bodyText(forward(body, { isOnlyAccount: true }))).toContain('"thread":{"id":"t"}');
  });

  const headerRows = [
    { name: "no version counts as the first", headers: [], expected: ["anthropic-version", "2023-06-01"] },
    {
      name: "betas are joined in order",
      headers: ["Anthropic-Version", "2026-10-21", "anthropic-beta", "a-1, b-2", "anthropic-beta", "a-1,c-3"],
      expected: ["anthropic-version", "2026-10-21", "anthropic-beta", "a-1,b-2,c-3"],
    },
    {
      name: "betas are filtered",
      headers: ["anthropic-beta", "a-1,b-2"],
      options: { betasAllow: ["b-*"] },
      expected: ["anthropic-version", "2023-06-01", "anthropic-beta", "b-2"],
    },
    {
      name: "no beta is left",
      headers: ["anthropic-beta", "a-1"],
      options: { betasAllow: [] },
      expected: ["anthropic-version", "2023-06-01"],
    },
  ];
  it.each(headerRows)("writes version and betas: $name", ({ headers, options, expected }) => {
    const result = forward('{"model":"m","messages":[]}', options === undefined ? {} : { options }, headers);
    expect(result.ok && result.encoded.headers).toEqual(expected);
  });

  it("survives messages that are no messages", () => {
    for (const messages of [
      "null",
      "3",
      '[1,"x",{"role":"assistant"},{"role":"assistant","content":[null,{"type":7}]}]',
    ]) {
      const result = forward(`{"model":"up-model","messages":${messages}}`);
      expect(result.ok && Buffer.from(concat(result.encoded.body)).toString()).toBe(
        `{"model":"up-model","messages":${messages}}`,
      );
    }
  });
});
