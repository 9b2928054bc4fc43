import { describe, expect, test } from "vitest";

import { RecordFlag } from "@dragoman/core";

import { ChatStreamObserver } from "./observe-stream.ts";
import { compileChatProfile } from "./compile-profile.ts";

function observe(
  records: readonly string[],
  includeUsage: boolean,
): { readonly observer: ChatStreamObserver; readonly flags: readonly number[] } {
  const compiled = compileChatProfile("openai", {});
  if (!compiled.ok) throw new Error("profile");
  const facts = { includeUsage, usesDeprecatedFunctions: false, n: 1 };
  const head = { model: "m", modelNode: 0, stream: true, facts };
  const observer = new ChatStreamObserver(
    { profile: compiled.profile, upstreamModel: "m", headers: [], count: () => {} },
    head,
  );
  const flags = records.map((record) => {
    const bytes = Buffer.from(record);
    return observer.observe({ bytes, dataStart: 0, dataEnd: bytes.length, event: "" });
  });
  return { observer, flags };
}

const { forward, content, error, end, output } = RecordFlag;
const chunk = (delta: string, finish = "null"): string =>
  `{"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}`;
const USAGE = '{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}';

describe("ChatStreamObserver", () => {
  test.each([
    ["a role alone is no content", chunk('{"role":"assistant","content":""}'), forward],
    ["text is content", chunk('{"content":"a"}'), forward | content | output],
    ["a list of parts is content", chunk('{"content":[{"type":"text","text":"a"}]}'), forward | content | output],
    ["reasoning is content", chunk('{"reasoning_content":"a"}'), forward | content | output],
    ["an empty reasoning text is none", chunk('{"reasoning_content":"","reasoning":null}'), forward],
    ["a refusal is content", chunk('{"refusal":"a"}'), forward | content | output],
    ["a call is content", chunk('{"tool_calls":[{"index":0,"id":"x"}]}'), forward | content | output],
    ["a finish word is content", chunk("{}", '"stop"'), forward | content],
    ["a chunk without choices is forwarded", '{"id":"x"}', forward],
    ["a null usage is forwarded", '{"choices":[],"usage":null}', forward],
    ["an error record is forwarded and marked", '{"error":{"message":"x"}}', forward | error],
    ["broken JSON is an error and stays here", '{"a"', error],
    ["null is an error", "null", error],
    ["nothing is nothing", "", 0],
  ])("%s", (_, record, expected) => {
    expect(observe([record], false).flags).toEqual([expected]);
  });

  test("keeps the usage chunk from a client that did not ask for it, and counts it", () => {
    const { observer, flags } = observe(
      [chunk('{"content":"a"}'), chunk("{}", '"stop"'), USAGE, "[DONE]", USAGE],
      false,
    );
    expect(flags).toEqual([forward | content | output, forward | content, 0, forward | end, 0]);
    expect(observer.usage).toEqual({ input: 9, output: 4, source: "upstream", final: true });
    expect(observer.stopWord).toBe("stop");
    expect(observer.finish()).toBeNull();
  });

  test("forwards the usage chunk to a client that asked", () => {
    expect(observe([USAGE], true).flags).toEqual([forward]);
  });

  test("is stopped between the last finish word and the end", () => {
    const { observer } = observe([chunk('{"content":"a"}')], false);
    expect(observer.isStopped).toBe(false);
    const stopped = observe([chunk("{}", '"stop"')], false).observer;
    expect(stopped.isStopped).toBe(true);
    expect(stopped.finish()).toBeNull();
    expect(stopped.isStopped).toBe(false);
  });

  test.each([
    ["nothing came", []],
    ["no choice finished", [chunk('{"content":"a"}')]],
    ["one of two choices is open", [chunk("{}", '"stop"'), '{"choices":[{"index":1,"delta":{"content":"a"}}]}']],
  ])("reports a truncated stream when %s", (_, records) => {
    expect(observe(records, false).observer.finish()).toMatchObject({
      class: "protocol",
      message: "The provider's answer ended early.",
    });
  });

  test("does not pass on a terminator that lies", () => {
    const { observer, flags } = observe([chunk('{"content":"a"}'), "[DONE]"], false);
    expect(flags).toEqual([forward | content | output, error]);
    expect(observer.error?.class).toBe("protocol");
  });
});
