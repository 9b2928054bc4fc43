// Watches the body of a streamed answer: counts content events, and knows whether the stream ended by its terminator. Reads any
// framing of SSE lines that gateways produce; it does not judge the events' JSON.

/** Told when a content event is complete. */
export type OnContent = () => void;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;

const CONTENT_MEMBERS = [Buffer.from('"content":'), Buffer.from('"text":'), Buffer.from('"delta":')];
/** `[DONE]` ends a Chat Completions stream, the other two end Messages and Responses streams. */
const TERMINATORS = [Buffer.from("data: [DONE]"), Buffer.from('"message_stop"'), Buffer.from('"response.completed"')];

/** State of one streamed answer. */
export class SseWatch {
  readonly #onContent: OnContent;
  #carry: Buffer | null = null;
  #isTerminated = false;

  constructor(onContent: OnContent) {
    this.#onContent = onContent;
  }

  get isTerminated(): boolean {
    return this.#isTerminated;
  }

  reset(): void {
    this.#carry = null;
    this.#isTerminated = false;
  }

  /** Takes the next body bytes. They may be overwritten once the call has returned. */
  feed(bytes: Buffer): void {
    const all = this.#carry === null ? bytes : Buffer.concat([this.#carry, bytes]);
    let start = 0;
    let lineStart = 0;
    for (let at = all.indexOf(LINE_FEED); at >= 0; at = all.indexOf(LINE_FEED, at + 1)) {
      const lineEnd = at > lineStart && all[at - 1] === CARRIAGE_RETURN ? at - 1 : at;
      if (lineEnd === lineStart) {
        this.#readEvent(all.subarray(start, lineStart));
        start = at + 1;
      }
      lineStart = at + 1;
    }
    this.#carry = start === all.length ? null : Buffer.from(all.subarray(start));
  }

  #readEvent(event: Buffer): void {
    if (event.length === 0) return;
    if (hasText(event)) this.#onContent();
    if (TERMINATORS.some((terminator) => event.includes(terminator))) this.#isTerminated = true;
  }
}

/** A content event carries a non-empty string under one of the members that hold text in the three dialects. */
function hasText(event: Buffer): boolean {
  for (const member of CONTENT_MEMBERS) {
    const at = event.indexOf(member);
    if (at < 0) continue;
    let next = at + member.length;
    while (event[next] === SPACE) next += 1;
    if (event[next] === QUOTE && event[next + 1] !== QUOTE) return true;
  }
  return false;
}
