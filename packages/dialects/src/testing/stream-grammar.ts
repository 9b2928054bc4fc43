// The grammar of neutral streams as a checker. Per candidate: idle → open parts → stopped; the stream: started → ended or failed.
import type { StreamEvent } from "@dragoman/core";

import { ensure } from "./law.ts";

interface CandidateState {
  readonly open: Set<number>;
  next: number;
  isStopped: boolean;
}

/** Follows the events of one stream and throws at the first that may not come where it comes. */
export class StreamGrammar {
  readonly #candidates = new Map<number, CandidateState>();
  #isStarted = false;
  #last: "end" | "error" | null = null;

  /** How the stream ended, or null while it has not. */
  get outcome(): "end" | "error" | null {
    return this.#last;
  }

  /** Whether every candidate that showed itself has stopped. */
  get isStopped(): boolean {
    return this.#candidates.size > 0 && [...this.#candidates.values()].every((candidate) => candidate.isStopped);
  }

  add(event: StreamEvent): void {
    ensure(
      this.#last === null,
      () => `${event.type} comes after ${this.#last ?? ""}, which is the last event of a stream`,
    );
    switch (event.type) {
      case "start":
        ensure(!this.#isStarted, () => "a second start");
        this.#isStarted = true;
        return;
      case "part-start":
        this.#start(event.candidate, event.part);
        return;
      case "text-delta":
      case "refusal-delta":
      case "reasoning-delta":
      case "arguments-delta":
      case "signature-delta":
      case "citation-delta":
      case "audio-delta":
        ensure(
          this.#candidate(event.candidate).open.has(event.part),
          () => `${event.type} for part ${event.part}, which is not open`,
        );
        return;
      case "part-end":
        ensure(
          this.#candidate(event.candidate).open.delete(event.part),
          () => `part-end for part ${event.part}, which is not open`,
        );
        return;
      case "logprobs-delta":
        this.#candidate(event.candidate);
        return;
      case "stop":
        this.#stop(event.candidate);
        return;
      case "end":
        for (const [index, { isStopped }] of this.#candidates)
          ensure(isStopped, () => `the stream ends, but candidate ${index} has not stopped`);
        this.#last = "end";
        return;
      case "error":
        this.#last = "error";
        return;
      case "usage":
      case "ping":
        return;
    }
  }

  #start(candidate: number, part: number): void {
    const state = this.#candidate(candidate);
    ensure(!state.isStopped, () => `part ${part} starts after the stop of candidate ${candidate}`);
    ensure(part === state.next, () => `part ${part} starts, but the next number is ${state.next}`);
    state.next += 1;
    state.open.add(part);
  }

  #stop(candidate: number): void {
    const state = this.#candidate(candidate);
    ensure(!state.isStopped, () => `candidate ${candidate} stops twice`);
    ensure(
      state.open.size === 0,
      () => `candidate ${candidate} stops while parts ${[...state.open].join(", ")} are open`,
    );
    state.isStopped = true;
  }

  #candidate(index: number): CandidateState {
    const known = this.#candidates.get(index);
    if (known !== undefined) return known;
    const made: CandidateState = { open: new Set(), next: 0, isStopped: false };
    this.#candidates.set(index, made);
    return made;
  }
}

/** Checks a whole stream; it must end, with `end` or an error. */
export function checkGrammar(events: readonly StreamEvent[]): StreamGrammar {
  const grammar = new StreamGrammar();
  for (const event of events) grammar.add(event);
  ensure(grammar.outcome !== null, () => "the stream has neither end nor error");
  return grammar;
}
