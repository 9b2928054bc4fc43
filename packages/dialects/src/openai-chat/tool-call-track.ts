// Tool calls of one choice while its stream runs. A fragment is matched to its call by index, else by id, else it belongs to the call
// opened last; a call starts when its name is known. Bytes of fragments that came before the name are copied, up to a bound.
import { retainText } from "@dragoman/core";
import type { Signature, Text } from "@dragoman/core";

import { base62Digest } from "../shared/tool-ids.ts";

/** One call of a choice. `part` is −1 until it started. */
export interface TrackedCall {
  readonly id: string | null;
  part: number;
  name: string;
  kind: "function" | "custom";
  /** Arguments that arrived before the name. */
  readonly pending: PendingText[];
  /** A signature that arrived before the name. */
  signature: Signature | null;
}

/** Bytes that wait for their call to start. */
export interface PendingText {
  readonly text: Text;
  readonly encoded: boolean;
}

/** The calls of one choice. */
export class ToolCallTrack {
  readonly #byIndex = new Map<number, TrackedCall>();
  readonly #byId = new Map<string, TrackedCall>();
  readonly #startedIds = new Set<string>();
  #last: TrackedCall | null = null;
  #startedCount = 0;

  /** The call that a fragment belongs to. An id that differs from the one bound to an index begins a new call. */
  callOf(index: number, id: string | null): TrackedCall {
    const known = this.#find(index, id);
    if (known !== null) return known;
    const call: TrackedCall = { id, part: -1, name: "", kind: "function", pending: [], signature: null };
    if (index >= 0) this.#byIndex.set(index, call);
    if (id !== null) this.#byId.set(id, call);
    this.#last = call;
    return call;
  }

  #find(index: number, id: string | null): TrackedCall | null {
    if (index >= 0) {
      const bound = this.#byIndex.get(index);
      if (bound === undefined) return null;
      return id === null || bound.id === null || bound.id === id ? bound : null;
    }
    return id === null ? this.#last : (this.#byId.get(id) ?? null);
  }

  /** Keeps a fragment for later; returns its length in bytes. */
  keep(call: TrackedCall, text: Text, encoded: boolean): number {
    call.pending.push({ text: retainText(text), encoded });
    return typeof text === "string" ? text.length : text.end - text.start;
  }

  /**
   * The id under which a call starts: its own, unless it has none or an earlier call of this choice has the same one. Made-up ids
   * depend on the answer's id and the call's place only.
   */
  startId(call: TrackedCall, answerId: string, choice: number): string {
    const place = this.#startedCount++;
    const isFree = call.id !== null && !this.#startedIds.has(call.id);
    const id = isFree && call.id !== null ? call.id : `call_${base62Digest(`${answerId}/${choice}/${place}`, 24)}`;
    this.#startedIds.add(id);
    return id;
  }

  get hasStarted(): boolean {
    return this.#startedCount > 0;
  }
}
