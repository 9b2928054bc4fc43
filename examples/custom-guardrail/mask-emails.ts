/**
 * A guardrail that masks e-mail addresses in both directions: requests before they are planned, answers event by event, also where
 * an address is cut by a chunk border. Tool arguments pass as they are.
 */
import {
  Edits,
  encodeString,
  textToString,
  type Document,
  type EventTap,
  type Hook,
  type NodeIndex,
  type StreamEvent,
} from "@dragoman/core";

const ADDRESS = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const MASK = "[e-mail]";
/** An address is shorter than this (RFC 5321 §4.5.3.1), so a longer tail without a blank is no address. */
const LONGEST_ADDRESS = 254;

const mask = (text: string): string => text.replaceAll(ADDRESS, MASK);

/** Every string of the messages; names of members and tools stay as they are. */
function* textsOf(document: Document, node: NodeIndex): Generator<NodeIndex> {
  if (document.isString(node)) yield node;
  else if (document.isArray(node)) {
    for (let element = document.firstElement(node); element >= 0; element = document.nextElement(element))
      yield* textsOf(document, element);
  } else if (document.isObject(node)) {
    const content = document.member(node, "content");
    const text = document.member(node, "text");
    if (content >= 0) yield* textsOf(document, content);
    if (text >= 0) yield* textsOf(document, text);
  }
}

/** Masks one answer. Text is held back from the last blank on, until more of it, or the end of its part, shows what it is. */
class AddressTap implements EventTap {
  readonly #held = new Map<string, string>();

  event(event: StreamEvent): readonly StreamEvent[] | undefined {
    if (event.type === "text-delta") return this.#mask(event);
    if (event.type !== "part-end") return undefined;
    const key = `${event.candidate}/${event.part}`;
    const rest = this.#held.get(key) ?? "";
    this.#held.delete(key);
    return rest === "" ? undefined : [{ ...event, type: "text-delta", text: mask(rest) }, event];
  }

  #mask(event: StreamEvent & { readonly type: "text-delta" }): readonly StreamEvent[] {
    const key = `${event.candidate}/${event.part}`;
    const text = (this.#held.get(key) ?? "") + textToString(event.text);
    const tail = /\S*$/.exec(text)?.[0] ?? "";
    const held = tail.length > LONGEST_ADDRESS ? "" : tail;
    this.#held.set(key, held);
    const ready = mask(text.slice(0, text.length - held.length));
    return ready === "" ? [] : [{ ...event, text: ready }];
  }
}

/** The hook to give to `createGateway(config, { hooks: [maskEmails] })`. */
export const maskEmails: Hook = {
  name: "mask-emails",
  onFailure: "closed",
  onRequest: {
    reads: "body",
    writes: true,
    run: ({ document }) => {
      if (document === null) return undefined;
      const edits = new Edits(document);
      let isChanged = false;
      for (const node of textsOf(document, document.member(document.root, "messages"))) {
        const text = document.string(node);
        const masked = mask(text);
        if (masked === text) continue;
        isChanged = true;
        edits.replace(node, encodeString(masked));
      }
      return isChanged ? { body: Buffer.concat(edits.finish().parts) } : undefined;
    },
  },
  onEvent: { writes: true, open: () => new AddressTap() },
};
