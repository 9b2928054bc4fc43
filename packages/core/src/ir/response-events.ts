/** A whole answer as the events that stream it, and back: the bridge that the law "assembled stream = whole answer" stands on. */
import { GatewayError } from "../errors/index.ts";
import { isEmptyText, isSlice, textToString, type Raw, type Text } from "./text.ts";
import type { Part, Signature } from "./part.ts";
import type { Candidate, NeutralResponse, PartHead, Stop, StreamEvent } from "./response.ts";
import type { Usage } from "./usage.ts";

/** The events of a stream that says what a whole answer says, parts in order, each with one delta. */
export function* eventsOfResponse(response: NeutralResponse): Generator<StreamEvent, void, undefined> {
  yield {
    type: "start",
    ...(response.id === undefined ? {} : { id: response.id }),
    ...(response.model === undefined ? {} : { model: response.model }),
    ...(response.serviceTier === undefined ? {} : { serviceTier: response.serviceTier }),
    ...(response.usage === undefined ? {} : { usage: { ...response.usage, final: false } }),
  };
  for (const candidate of response.candidates) {
    let number = 0;
    for (const part of candidate.parts) {
      const events = eventsOfPart(part, candidate.index, number);
      if (events.length === 0) continue;
      yield* events;
      number += 1;
    }
    if (candidate.logprobs !== undefined)
      yield { type: "logprobs-delta", candidate: candidate.index, raw: candidate.logprobs };
  }
  for (const candidate of response.candidates) yield { type: "stop", candidate: candidate.index, stop: candidate.stop };
  if (response.usage !== undefined) yield { type: "usage", usage: response.usage };
  yield { type: "end" };
}

const eventsOfPart = (part: Part, candidate: number, number: number): readonly StreamEvent[] => {
  const wrap = (head: PartHead, deltas: readonly StreamEvent[]): readonly StreamEvent[] => [
    { type: "part-start", candidate, part: number, head },
    ...deltas,
    { type: "part-end", candidate, part: number },
  ];
  switch (part.type) {
    case "text":
      return wrap(
        { type: "text" },
        isEmptyText(part.text) ? [] : [{ type: "text-delta", candidate, part: number, text: part.text }],
      );
    case "refusal":
      return wrap({ type: "refusal" }, [{ type: "refusal-delta", candidate, part: number, text: part.text }]);
    case "reasoning": {
      const deltas: StreamEvent[] = part.texts.map((text, segment) => ({
        type: "reasoning-delta",
        candidate,
        part: number,
        text,
        segment,
      }));
      if (part.signature !== undefined)
        deltas.push({ type: "signature-delta", candidate, part: number, signature: part.signature });
      const redacted = part.redacted === undefined ? {} : { redacted: part.redacted };
      const itemId = part.itemId === undefined ? {} : { itemId: part.itemId };
      return wrap({ type: "reasoning", form: part.form, ...redacted, ...itemId }, deltas);
    }
    case "tool-call": {
      const { text, encoded } = part.arguments;
      const argumentText: Text = typeof text === "string" || isSlice(text) ? text : JSON.stringify(text.value);
      const head: PartHead = {
        type: "tool-call",
        id: textToString(part.id),
        name: part.name,
        kind: part.kind,
        ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
        ...(part.signature === undefined ? {} : { signature: part.signature }),
      };
      return wrap(head, [{ type: "arguments-delta", candidate, part: number, text: argumentText, encoded }]);
    }
    case "image":
    case "audio":
      return wrap({ type: part.type, media: part.media }, []);
    case "server-tool":
    case "opaque":
      return wrap({ type: part.type, dialect: part.dialect, raw: part.raw }, []);
    case "video":
    case "file":
    case "search-result":
    case "tool-result":
      // Parts of requests only; no answer holds them.
      return [];
  }
};

interface OpenPart {
  readonly candidate: number;
  readonly head: PartHead;
  text: string;
  readonly segments: string[];
  signature: Signature | null;
}

/** Gathers a stream's events into the whole answer that they say. Texts are decoded, so it may outlive the stream's bytes. */
export class ResponseAssembler {
  #id: string | undefined;
  #model: string | undefined;
  #serviceTier: string | undefined;
  #usage: Usage | undefined;
  #isEnded = false;
  readonly #parts: OpenPart[] = [];
  readonly #byKey = new Map<string, OpenPart>();
  readonly #stops = new Map<number, Stop>();
  readonly #logprobs = new Map<number, Raw>();

  /** Whether the `end` event came. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  add(event: StreamEvent): void {
    switch (event.type) {
      case "start":
        this.#id = event.id;
        this.#model = event.model;
        this.#serviceTier = event.serviceTier;
        if (event.usage !== undefined) this.#usage = event.usage;
        return;
      case "part-start": {
        const part: OpenPart = {
          candidate: event.candidate,
          head: event.head,
          text: "",
          segments: [],
          signature: null,
        };
        this.#parts.push(part);
        this.#byKey.set(`${event.candidate}/${event.part}`, part);
        return;
      }
      case "text-delta":
      case "refusal-delta":
        this.#part(event).text += textToString(event.text);
        return;
      case "arguments-delta":
        this.#part(event).text += argumentsText(event.text, event.encoded);
        return;
      case "reasoning-delta": {
        const { segments } = this.#part(event);
        const segment = event.segment ?? 0;
        while (segments.length <= segment) segments.push("");
        segments[segment] = (segments[segment] as string) + textToString(event.text);
        return;
      }
      case "signature-delta":
        this.#part(event).signature = event.signature;
        return;
      case "logprobs-delta":
        this.#logprobs.set(event.candidate, event.raw);
        return;
      case "stop":
        this.#stops.set(event.candidate, event.stop);
        return;
      case "usage":
        this.#usage = event.usage;
        return;
      case "end":
        this.#isEnded = true;
        return;
      case "citation-delta":
      case "audio-delta":
      case "part-end":
      case "ping":
      case "error":
        return;
    }
  }

  /** The answer so far. */
  response(): NeutralResponse {
    const candidates: Candidate[] = [...this.#stops.keys()]
      .sort((left, right) => left - right)
      .map((index) => {
        const logprobs = this.#logprobs.get(index);
        return {
          index,
          parts: this.#parts.filter((part) => part.candidate === index).map(closePart),
          stop: this.#stops.get(index) as Stop,
          ...(logprobs === undefined ? {} : { logprobs }),
        };
      });
    return {
      ...(this.#id === undefined ? {} : { id: this.#id }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#serviceTier === undefined ? {} : { serviceTier: this.#serviceTier }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      candidates,
      extensions: [],
    };
  }

  #part(event: { readonly candidate: number; readonly part: number }): OpenPart {
    const part = this.#byKey.get(`${event.candidate}/${event.part}`);
    if (part === undefined)
      throw new GatewayError(
        "state_violation",
        `A delta came for part ${event.part} of candidate ${event.candidate} before its start.`,
      );
    return part;
  }
}

/** Bytes inside a JSON string are unescaped; plain JSON bytes are taken as they stand. */
const argumentsText = (text: Text, encoded: boolean): string => {
  if (typeof text === "string" || encoded) return textToString(text);
  return Buffer.from(text.bytes.buffer, text.bytes.byteOffset + text.start, text.end - text.start).toString("utf8");
};

const closePart = (part: OpenPart): Part => {
  const { head } = part;
  const at = "";
  switch (head.type) {
    case "text":
      return { type: "text", text: part.text, at };
    case "refusal":
      return { type: "refusal", text: part.text, at };
    case "reasoning":
      return {
        type: "reasoning",
        form: head.form,
        texts: part.segments,
        at,
        ...(head.redacted === undefined ? {} : { redacted: head.redacted }),
        ...(head.itemId === undefined ? {} : { itemId: head.itemId }),
        ...(part.signature === null ? {} : { signature: part.signature }),
      };
    case "tool-call": {
      const signature = part.signature ?? head.signature;
      return {
        type: "tool-call",
        id: head.id,
        name: head.name,
        kind: head.kind,
        arguments: { text: part.text, encoded: true },
        at,
        ...(head.namespace === undefined ? {} : { namespace: head.namespace }),
        ...(signature === undefined ? {} : { signature }),
      };
    }
    case "image":
    case "audio":
      return { type: head.type, media: head.media, at };
    case "server-tool":
      return { type: "server-tool", dialect: head.dialect, raw: head.raw, at };
    case "opaque":
      return { type: "opaque", dialect: head.dialect, blockType: "", raw: head.raw, at };
  }
};
