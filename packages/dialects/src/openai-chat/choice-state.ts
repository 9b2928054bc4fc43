// One choice of a running stream: which part is open, which calls there are, and the events that follow from what arrives. Parts are
// numbered in order of appearance; a text-like part ends when another kind begins or the first call starts.
import type { PartHead, Raw, Signature, StreamEvent, Text } from "@dragoman/core";

import type { CandidateContents } from "./stop.ts";
import { ToolCallTrack } from "./tool-call-track.ts";
import type { TrackedCall } from "./tool-call-track.ts";

type OpenKind = "none" | "text" | "reasoning" | "refusal" | "audio";

/** Turns what one choice receives into events. */
export class ChoiceState {
  readonly index: number;
  readonly calls: ToolCallTrack;
  readonly #emit: (event: StreamEvent) => void;
  readonly #openCalls: number[];
  #openKind: OpenKind;
  #openPart: number;
  #nextPart: number;
  #hasText: boolean;
  #hasRefusal: boolean;
  isFinished: boolean;

  constructor(index: number, emit: (event: StreamEvent) => void) {
    this.index = index;
    this.calls = new ToolCallTrack();
    this.#emit = emit;
    this.#openCalls = [];
    this.#openKind = "none";
    this.#openPart = -1;
    this.#nextPart = 0;
    this.#hasText = false;
    this.#hasRefusal = false;
    this.isFinished = false;
  }

  contents(): CandidateContents {
    return { hasCalls: this.calls.hasStarted, hasText: this.#hasText, hasRefusal: this.#hasRefusal };
  }

  text(text: Text): void {
    if (this.#openKind !== "text") this.#open("text");
    this.#hasText = true;
    this.#emit({ type: "text-delta", candidate: this.index, part: this.#openPart, text });
  }

  reasoning(text: Text): void {
    if (this.#openKind !== "reasoning") this.#open("reasoning");
    this.#emit({ type: "reasoning-delta", candidate: this.index, part: this.#openPart, text });
  }

  refusal(text: Text): void {
    if (this.#openKind !== "refusal") this.#open("refusal");
    this.#hasRefusal = true;
    this.#emit({ type: "refusal-delta", candidate: this.index, part: this.#openPart, text });
  }

  audio(raw: Raw): void {
    if (this.#openKind !== "audio") this.#open("audio");
    this.#emit({ type: "audio-delta", candidate: this.index, part: this.#openPart, raw });
  }

  /** A citation belongs to the text that is open; without one it has no place. */
  citation(raw: Raw): void {
    if (this.#openKind !== "text") return;
    this.#emit({ type: "citation-delta", candidate: this.index, part: this.#openPart, raw });
  }

  startCall(call: TrackedCall, answerId: string): void {
    this.#closeOpen();
    const id = this.calls.startId(call, answerId, this.index);
    call.part = this.#nextPart++;
    this.#openCalls.push(call.part);
    const { name, kind, signature } = call;
    const head: PartHead = { type: "tool-call", id, name, kind, ...(signature === null ? null : { signature }) };
    this.#emit({ type: "part-start", candidate: this.index, part: call.part, head });
    for (const { text, encoded } of call.pending) this.argument(call, text, encoded);
    call.pending.length = 0;
  }

  argument(call: TrackedCall, text: Text, encoded: boolean): void {
    this.#emit({ type: "arguments-delta", candidate: this.index, part: call.part, text, encoded });
  }

  /** A signature that comes before its call can start goes into the call's head. */
  signature(call: TrackedCall, signature: Signature): void {
    if (call.part === -1) call.signature = signature;
    else this.#emit({ type: "signature-delta", candidate: this.index, part: call.part, signature });
  }

  /** Ends every open part. Nothing is emitted for this choice afterwards but its stop. */
  close(): void {
    this.#closeOpen();
    for (const part of this.#openCalls) this.#emit({ type: "part-end", candidate: this.index, part });
    this.#openCalls.length = 0;
    this.isFinished = true;
  }

  #open(kind: Exclude<OpenKind, "none">): void {
    this.#closeOpen();
    this.#openKind = kind;
    this.#openPart = this.#nextPart++;
    this.#emit({ type: "part-start", candidate: this.index, part: this.#openPart, head: HEADS[kind] });
  }

  #closeOpen(): void {
    if (this.#openKind === "none") return;
    this.#openKind = "none";
    this.#emit({ type: "part-end", candidate: this.index, part: this.#openPart });
  }
}

const HEADS = {
  text: { type: "text" },
  reasoning: { type: "reasoning", form: "raw" },
  refusal: { type: "refusal" },
  audio: { type: "audio", media: { from: "base64", data: "" } },
} as const;
