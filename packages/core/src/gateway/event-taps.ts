/** The event hooks of one answer: each event passes through the taps in order. A tap that fails is dropped, or ends the answer. */
import type { StreamEvent } from "../ir/index.ts";
import type { EventTap, Hook, HookView } from "./hook.ts";
import type { HookRunner } from "./hook-runner.ts";

interface OpenTap {
  readonly hook: Hook;
  readonly tap: EventTap;
  readonly writes: boolean;
  isDropped: boolean;
}

/** Thrown to end an answer when a tap that must not fail has failed; the failure itself is in the log by then. */
export class TapFailure extends Error {}

export class EventTaps {
  /** Whether any tap may replace events: the answer is then encoded anew. */
  readonly writes: boolean;
  readonly #runner: HookRunner;
  readonly #taps: OpenTap[];

  private constructor(runner: HookRunner, taps: OpenTap[]) {
    this.#runner = runner;
    this.#taps = taps;
    this.writes = taps.some((tap) => tap.writes);
  }

  /** Opens the taps of one answer; null when no hook watches events. Throws `TapFailure` when a tap cannot be opened. */
  static open(runner: HookRunner, view: HookView): EventTaps | null {
    const taps: OpenTap[] = [];
    for (const hook of runner.hooks) {
      const { onEvent } = hook;
      if (onEvent === undefined) continue;
      try {
        taps.push({ hook, tap: onEvent.open(view), writes: onEvent.writes, isDropped: false });
      } catch (thrown) {
        runner.reportFailure(hook, thrown);
        if (hook.onFailure !== "open") throw new TapFailure("A tap could not be opened.");
      }
    }
    return taps.length === 0 ? null : new EventTaps(runner, taps);
  }

  /** Passes one event through all taps; the result goes on to the client where taps write. */
  pass(event: StreamEvent): readonly StreamEvent[] {
    let events: readonly StreamEvent[] = [event];
    for (const open of this.#taps) {
      if (open.isDropped) continue;
      const next: StreamEvent[] = [];
      for (const current of events) this.#feed(open, current, next);
      events = next;
    }
    return events;
  }

  #feed(open: OpenTap, event: StreamEvent, next: StreamEvent[]): void {
    try {
      const returned = open.isDropped ? undefined : open.tap.event(event);
      if (open.writes && returned !== undefined) for (const replacement of returned) next.push(replacement);
      else next.push(event);
    } catch (thrown) {
      this.#runner.reportFailure(open.hook, thrown);
      if (open.hook.onFailure !== "open") throw new TapFailure("A tap failed.");
      open.isDropped = true;
      next.push(event);
    }
  }
}
