/** One part of a neutral stream on its way to become a content block: what is known of it, and what waits to be written. */
import type { ByteSlice } from "@dragoman/core";

import { ObjectTracker } from "./object-tracker.ts";

/** What becomes of a part; `omitted` has no form in this dialect. */
export type BlockKind = "text" | "thinking" | "call" | "custom-call" | "whole" | "omitted";

export class StreamBlock {
  readonly kind: BlockKind;
  /** What `content_block_start` says, in JSON. */
  readonly opening: string;
  /** Position of the block in the message once it is opened, -1 before. */
  index = -1;
  isEnded = false;
  isClosed = false;
  /** Escaped texts that wait for the block's turn, or for a visible character. */
  backlog: ByteSlice[] = [];
  /** Everything of the block's delta records before their text, made when it opens. */
  prefix: Buffer | null = null;
  hasDelta = false;
  /** The signature of a thinking block, or of the thinking block before a call. */
  carrier: string | null = null;
  isRedacted = false;
  segment = -1;
  readonly #tracker: ObjectTracker | null;

  constructor(kind: BlockKind, opening: string) {
    this.kind = kind;
    this.opening = opening;
    this.#tracker = kind === "call" ? new ObjectTracker() : null;
  }

  get isOpen(): boolean {
    return this.index >= 0 && !this.isClosed;
  }

  /** A call whose arguments are one whole object; anything else is never complete by itself. */
  get isComplete(): boolean {
    return this.#tracker?.isComplete === true;
  }

  /** Whether a later part may take its place: text and thinking yield at once, calls when nothing can follow. */
  get isYielding(): boolean {
    const isCall = this.kind === "call" || this.kind === "custom-call";
    return this.isEnded || !isCall || this.isComplete;
  }

  /** Takes note of argument bytes, without the escapes of a string around them. */
  track(bytes: Uint8Array): void {
    this.#tracker?.push(bytes);
  }
}
