import { RecordFlag, type StreamEvent } from "@dragoman/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createStreamEncoder } from "./encode-stream.ts";
import { createStreamObserver } from "./observe-stream.ts";
import { answerContext, dataOf, decodeContext, decodeStream, encodeStream } from "./test-exchange.ts";

const START =
  '{"type":"message_start","message":{"id":"msg_u1","type":"message","role":"assistant","model":"up-model","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_read_input_tokens":8,"output_tokens":1}}}';
const TEXT = [
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type":"ping"}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}',
  String.raw`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo \u00e9"}}`,
  '{"type":"content_block_stop","index":0}',
];
const DELTA =
  '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}';
const STOP = '{"type":"message_stop"}';
const ERROR = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}';
const WHOLE = [START, ...TEXT, DELTA, STOP];

const types = (events: readonly StreamEvent[]): string => events.map(({ type }) => type).join(" ");

describe("the stream decoder", () => {
  it("reads a text stream, escapes untouched, counts merged", () => {
    const events = decodeStream(WHOLE);
    expect(types(events)).toBe("start part-start ping text-delta text-delta part-end usage stop end");
    expect(events[0]).toMatchObject({
      id: "msg_u1",
      model: "up-model",
      usage: { input: 20, cacheRead: 8, final: false },
    });
    expect(events[4]).toEqual({ type: "text-delta", candidate: 0, part: 0, text: String.raw`lo \u00e9` });
    expect(events[6]).toMatchObject({ usage: { input: 20, cacheRead: 8, output: 5, final: true } });
    expect(events[7]).toEqual({ type: "stop", candidate: 0, stop: { reason: "end", raw: "end_turn" } });
  });

  const calls = [
    { name: "no fragment at all", input: {}, fragments: [], expected: "{}" },
    { name: "an empty fragment first", input: {}, fragments: ["", '{"c":', '"Oslo"}'], expected: '{"c":"Oslo"}' },
    { name: "the whole input in the start", input: { c: 1 }, fragments: [], expected: '{"c":1}' },
    { name: "fragments outweigh the start", input: { c: 1 }, fragments: ['{"c":2}'], expected: '{"c":2}' },
  ];
  it.each(calls)("gives a call's arguments: $name", ({ input, fragments, expected }) => {
    const records = [
      START,
      JSON.stringify({
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "t1", name: "f", input },
      }),
      ...fragments.map((fragment) =>
        JSON.stringify({
          type: "content_block_delta",
          index: 0,
          delta: { type: "input_json_delta", partial_json: fragment },
        }),
      ),
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}',
      STOP,
    ];
    const events = decodeStream(records);
    const args = events.map((event) =>
      event.type !== "arguments-delta"
        ? ""
        : event.encoded
          ? (JSON.parse(`"${event.text as string}"`) as string)
          : (event.text as string),
    );
    expect(args.join("")).toBe(expected);
    expect(events.at(-2)).toMatchObject({ type: "stop", stop: { reason: "tool-calls" } });
  });

  it("reads thinking with its signature, and redacted thinking", () => {
    const events = decodeStream([
      START,
      '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"R"}}',
      '{"type":"content_block_stop","index":1}',
      DELTA,
      STOP,
    ]);
    expect(events.filter(({ type }) => type === "signature-delta")).toEqual([
      { type: "signature-delta", candidate: 0, part: 0, signature: { origin: "a", model: "up-model", data: "c2ln" } },
      { type: "signature-delta", candidate: 0, part: 1, signature: { origin: "ar", model: "up-model", data: "R" } },
    ]);
  });

  const broken = [
    { name: "an error as the first event", records: [ERROR], expected: "overloaded" },
    { name: "an error after content", records: [START, ...TEXT.slice(0, 3), ERROR], expected: "overloaded" },
    { name: "no message_stop", records: WHOLE.slice(0, -1), expected: "protocol" },
    { name: "an end inside a block", records: WHOLE.slice(0, 4), expected: "protocol" },
    { name: "nothing", records: [], expected: "protocol" },
    { name: "no stop reason", records: [START, ...TEXT, STOP], expected: "protocol" },
    { name: "broken JSON", records: [START, '{"type":"content_block_start"'], expected: "protocol" },
    { name: "null in the place of an event", records: [START, "null", ...TEXT, DELTA, STOP], expected: "protocol" },
    { name: "a list in the place of an event", records: [START, "[]", ...TEXT, DELTA, STOP], expected: "protocol" },
    { name: "a delta without its block", records: [START, TEXT[2] as string], expected: "protocol" },
    {
      name: "a call without a name",
      records: [START, '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x"}}'],
      expected: "protocol",
    },
    {
      name: "another dialect's error",
      records: ['{"error":{"message":"slow","type":"rate_limit_error"}}'],
      expected: "rate-limit",
    },
  ];
  it.each(broken)("ends as broken, once: $name", ({ records, expected }) => {
    const events = decodeStream([...records]);
    expect(events.filter(({ type }) => type === "error" || type === "end")).toMatchObject([
      { type: "error", error: { class: expected } },
    ]);
  });

  it("ignores unknown events and deltas, and everything after the end", () => {
    const extra = [
      '{"type":"future"}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"future_delta","x":"y"}}',
    ];
    const records = [
      START,
      extra[0] as string,
      ...TEXT.slice(0, 1),
      extra[1] as string,
      ...TEXT.slice(1),
      DELTA,
      STOP,
      ERROR,
      START,
    ];
    expect(types(decodeStream(records))).toBe(types(decodeStream(WHOLE)));
  });

  it("accepts a missing terminal where the profile says so", () => {
    expect(types(decodeStream(WHOLE.slice(0, -1), "proxy"))).toMatch(/stop end$/);
    expect(types(decodeStream(WHOLE.slice(0, -2), "proxy"))).toMatch(/error$/);
  });
});

describe("the stream encoder", () => {
  const start = (part: number, head: object): StreamEvent =>
    ({ type: "part-start", candidate: 0, part, head }) as StreamEvent;
  const callHead = (id: string, extra: object = {}): object => ({
    type: "tool-call",
    id,
    name: "f",
    kind: "function",
    ...extra,
  });
  const args = (part: number, text: string): StreamEvent => ({
    type: "arguments-delta",
    candidate: 0,
    part,
    text,
    encoded: false,
  });
  const said = (part: number, text: string): StreamEvent => ({ type: "text-delta", candidate: 0, part, text });
  const thought = (part: number, text: string, segment?: number): StreamEvent =>
    ({
      type: "reasoning-delta",
      candidate: 0,
      part,
      text,
      ...(segment === undefined ? {} : { segment }),
    }) as StreamEvent;
  const signed = (part: number, origin: string): StreamEvent => ({
    type: "signature-delta",
    candidate: 0,
    part,
    signature: { origin, data: "enc" },
  });
  const end = (part: number): StreamEvent => ({ type: "part-end", candidate: 0, part });
  const finish = (reason: "end" | "tool-calls" = "end"): StreamEvent[] => [
    { type: "stop", candidate: 0, stop: { reason, raw: "x" } },
    { type: "end" },
  ];
  const TEXT_HEAD = { type: "text" };
  const THOUGHT_HEAD = { type: "reasoning", form: "raw" };

  /** The blocks of a stream as `type:content`, in order of their indexes; checks that they come one after another. */
  const blocks = (records: readonly string[]): string[] => {
    const found: string[] = [];
    let open = -1;
    for (const record of records) {
      const event = JSON.parse(record) as {
        type: string;
        index: number;
        content_block?: Record<string, string>;
        delta?: Record<string, string>;
      };
      if (event.type === "content_block_start") {
        expect(open).toBe(-1);
        expect(event.index).toBe(found.length);
        open = event.index;
        found.push(`${event.content_block?.["type"]}:${event.content_block?.["id"] ?? ""}`);
      } else if (event.type === "content_block_delta") {
        expect(event.index).toBe(open);
        const { type, ...rest } = event.delta ?? {};
        found[open] += `${type === "signature_delta" ? "#" : ""}${Object.values(rest).join("")}`;
      } else if (event.type === "content_block_stop") {
        expect(event.index).toBe(open);
        open = -1;
      }
    }
    expect(open).toBe(-1);
    return found;
  };

  it("writes start, block, delta, end", () => {
    const usage = { input: 36, output: 20, source: "upstream", final: true } as const;
    expect(
      encodeStream([
        { type: "start", model: "up-model" },
        start(0, TEXT_HEAD),
        said(0, 'a"b'),
        end(0),
        finish()[0] as StreamEvent,
        { type: "usage", usage },
        { type: "end" },
      ]),
    ).toEqual([
      '{"type":"message_start","message":{"id":"msg_t1","type":"message","role":"assistant","model":"up-model","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      String.raw`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\"b"}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":36,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":20}}',
      '{"type":"message_stop"}',
    ]);
  });

  const sequences = [
    {
      name: "interleaved calls become one after another",
      events: [
        start(0, callHead("a")),
        start(1, callHead("b")),
        args(0, '{"x":'),
        args(1, '{"y":2}'),
        args(0, "1}"),
        end(0),
        end(1),
      ],
      expected: ['tool_use:a{"x":1}', 'tool_use:b{"y":2}'],
    },
    {
      name: "a call without arguments is complete",
      events: [start(0, callHead("a")), end(0)],
      expected: ["tool_use:a"],
    },
    {
      name: "text after a call is a block of its own",
      events: [start(0, callHead("a")), args(0, "{}"), start(1, TEXT_HEAD), said(1, "x"), end(0), end(1)],
      expected: ["tool_use:a{}", "text:x"],
    },
    {
      name: "empty and blank texts open no block",
      events: [start(0, TEXT_HEAD), said(0, ""), said(0, "\n"), end(0), start(1, callHead("a")), args(1, "{}"), end(1)],
      expected: ["tool_use:a{}"],
    },
    {
      name: "white space before visible text is kept",
      events: [start(0, TEXT_HEAD), said(0, "\n"), said(0, " x"), end(0)],
      expected: ["text:\n x"],
    },
    {
      name: "thinking that was not asked for is silent",
      events: [start(0, THOUGHT_HEAD), thought(0, "hm"), end(0), start(1, TEXT_HEAD), said(1, "x"), end(1)],
      expected: ["text:x"],
    },
    {
      name: "its carrier comes right before a call",
      events: [
        start(0, THOUGHT_HEAD),
        thought(0, "hm"),
        signed(0, "o"),
        end(0),
        start(1, TEXT_HEAD),
        said(1, "x"),
        end(1),
        start(2, callHead("a")),
        end(2),
      ],
      expected: ["text:x", "thinking:#gwsig1.o.dXAtbW9kZWw.ZW5j", "tool_use:a"],
    },
    {
      name: "shown thinking has its segments and signature",
      facts: { thinking: "on", display: "summarized" },
      events: [start(0, THOUGHT_HEAD), thought(0, "a", 0), thought(0, "b", 1), signed(0, "o"), end(0)],
      expected: ["thinking:a\n\nb#gwsig1.o.dXAtbW9kZWw.ZW5j"],
    },
    {
      name: "a call's own signature goes before it",
      events: [start(0, callHead("a", { signature: { origin: "g", data: "Z3NpZw==" } })), args(0, "{}"), end(0)],
      expected: ["thinking:#gwsig1.g.dXAtbW9kZWw.WjNOcFp3PT0", "tool_use:a{}"],
    },
    {
      name: "redacted thinking returns as such",
      events: [start(0, { type: "reasoning", form: "opaque", redacted: "R" }), signed(0, "ar"), end(0)],
      expected: ["redacted_thinking:"],
    },
    {
      name: "a free-text call becomes an object",
      events: [start(0, { ...callHead("a"), kind: "custom" }), args(0, 'say "x"\n'), end(0)],
      expected: [String.raw`tool_use:a{"input":"say \"x\"\n"}`],
    },
  ] as const;
  it.each(sequences)("$name", (row) => {
    const facts = "facts" in row ? row.facts : {};
    expect(blocks(encodeStream([{ type: "start" }, ...row.events, ...finish()], answerContext(facts)))).toEqual(
      row.expected,
    );
  });

  it("breaks when content comes for a block that is closed", () => {
    const records = encodeStream([
      start(0, callHead("a")),
      args(0, "{}"),
      start(1, callHead("b")),
      args(0, '{"late":1}'),
    ]);
    expect(records.at(-1)).toMatch(/^\{"type":"error","error":\{"type":"api_error"/);
    expect(records.join("")).not.toContain("message_stop");
  });

  it("bounds what waits", () => {
    const events = [
      start(0, callHead("a")),
      start(1, callHead("b")),
      ...Array.from({ length: 6 }, () => args(1, "x".repeat(1_000_000))),
    ];
    expect(encodeStream(events).at(-1)).toContain("interleaves more than");
  });

  it("never ends a stream without a stop as a clean one", () => {
    expect(encodeStream([{ type: "start" }, start(0, TEXT_HEAD), said(0, "x"), { type: "end" }]).at(-1)).toContain(
      '"type":"error"',
    );
  });

  it("cannot give an answer that is only an image", () => {
    expect(
      encodeStream([start(0, { type: "image", media: { from: "base64", data: "" } }), end(0), ...finish()]).at(-1),
    ).toContain("unrepresentable_output");
  });

  it("joins the fragments of any interleaving into the calls that they belong to", () => {
    const object = fc.dictionary(
      fc.string({ maxLength: 4 }),
      fc.oneof(fc.string(), fc.integer(), fc.constant([{}]), fc.constant('\\"}{')),
      { maxKeys: 3 },
    );
    const interleaving = fc.record({
      objects: fc.array(object, { minLength: 1, maxLength: 4 }),
      order: fc.array(fc.nat({ max: 3 }), { maxLength: 60 }),
      size: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(interleaving, ({ objects, order, size }) => {
        const rests = objects.map((value) => JSON.stringify(value));
        const events: StreamEvent[] = objects.map((_, part) => start(part, callHead(`c${part}`)));
        for (const part of [
          ...order,
          ...objects.keys(),
          ...objects.flatMap((_, index) => Array.from({ length: 100 }, () => index)),
        ]) {
          const rest = rests[part];
          if (rest === undefined || rest === "") continue;
          // Never cut a surrogate pair: deltas are whole strings.
          const cut = (rest.codePointAt(size - 1) ?? 0) > 0xffff ? size + 1 : size;
          events.push(args(part, rest.slice(0, cut)));
          rests[part] = rest.slice(cut);
        }
        const written = blocks(
          encodeStream([...events, ...objects.map((_, part) => end(part)), ...finish("tool-calls")]),
        );
        expect(written).toEqual(objects.map((value, part) => `tool_use:c${part}${JSON.stringify(value)}`));
      }),
      { numRuns: 100 },
    );
  });

  it("writes any stream that the decoder read as a stream that says the same", () => {
    const without = WHOLE.filter((record) => !record.includes("ping"));
    const unescaped = decodeStream(without).map((event) =>
      event.type === "text-delta" ? { ...event, text: JSON.parse(`"${event.text as string}"`) as string } : event,
    );
    const again = encodeStream(unescaped);
    expect(types(decodeStream(again))).toBe(types(decodeStream(without)));
  });

  it("copies what waits, since its bytes are overwritten after the call", () => {
    const bytes = Buffer.from("0123456789");
    const written: string[] = [];
    const encoder = createStreamEncoder(answerContext(), (record) =>
      written.push(Buffer.from(record).toString("utf8")),
    );
    for (const event of [start(0, callHead("a")), start(1, callHead("b"))]) encoder.encode(event);
    encoder.encode({
      type: "arguments-delta",
      candidate: 0,
      part: 1,
      text: { bytes, start: 2, end: 5 },
      encoded: false,
    });
    bytes.fill(0x7a);
    for (const event of [end(0), end(1)]) encoder.encode(event);
    expect(blocks(dataOf(written.join("")))).toEqual(["tool_use:a", "tool_use:b234"]);
  });
});

describe("the stream observer", () => {
  const observe = (
    records: readonly string[],
    profile?: string,
  ): { readonly flags: number[]; readonly observer: ReturnType<typeof createStreamObserver> } => {
    const observer = createStreamObserver(decodeContext(profile));
    const flags = records.map((record) => {
      const bytes = Buffer.from(`data: ${record}`, "utf8");
      return observer.observe({ bytes, dataStart: 6, dataEnd: bytes.length, event: "" });
    });
    return { flags, observer };
  };
  const { forward, content, error, end, output } = RecordFlag;

  it("flags content, the stop and the end", () => {
    const { flags, observer } = observe(WHOLE);
    expect(flags).toEqual([
      forward,
      forward,
      forward,
      forward | content | output,
      forward | content | output,
      forward,
      forward | content,
      forward | end,
    ]);
    expect(observer.finish()).toBeNull();
    expect(observer.stopWord).toBe("end_turn");
    expect(observer.usage).toMatchObject({ input: 20, cacheRead: 8, output: 5, final: true });
  });

  const content_rows = [
    {
      record:
        '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"f","input":{}}}',
      isContent: true,
    },
    {
      record:
        '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
      isContent: false,
    },
    {
      record: '{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"R"}}',
      isContent: true,
    },
    {
      record: '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"x"}}',
      isContent: true,
    },
    {
      record: '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}',
      isContent: false,
    },
    { record: '{"type":"future","x":"y"}', isContent: false },
  ];
  it.each(content_rows)("$record is content: $isContent", ({ record, isContent }) => {
    expect(observe([START, record]).flags[1]).toBe(isContent ? forward | content | output : forward);
  });

  it("forwards an error once and withholds what follows", () => {
    const { flags, observer } = observe([START, ERROR, STOP]);
    expect(flags).toEqual([forward, forward | error, 0]);
    expect(observer.error).toMatchObject({ class: "overloaded", upstreamRequestId: "req_1" });
    expect(observer.finish()).toMatchObject({ class: "overloaded" });
  });

  it("reports a stream that stops in the middle", () => {
    expect(observe(WHOLE.slice(0, 4)).observer.finish()).toMatchObject({
      class: "protocol",
      message: "The provider's answer ended early.",
    });
    expect(observe(WHOLE.slice(0, -1)).observer.finish()).toMatchObject({ class: "protocol" });
    expect(observe(WHOLE.slice(0, -1), "proxy").observer.finish()).toBeNull();
  });

  it.each(["{oops", "null", "[]", "3"])("withholds what is no event: %s", (record) => {
    const { flags, observer } = observe([START, record]);
    expect(flags).toEqual([forward, error]);
    expect(observer.error).toMatchObject({ class: "protocol" });
  });

  it("takes an end without a stop reason for a broken answer, unless the profile is lenient", () => {
    const records = [START, ...TEXT, STOP];
    expect(observe(records).observer.finish()).toMatchObject({ class: "protocol" });
    expect(observe(records, "proxy").observer.finish()).toBeNull();
  });
});
