// Virtual time for tests: events in order of time, and the clock stands at the event that runs.
import type { Alarm } from "../clock/ticker.ts";

/** A clock that moves only when it is told to run. */
export class TestClock {
  nowUs = 0;
  /** Added to every alarm: how late the generator wakes. */
  latenessUs: (deadlineUs: number) => number = () => 0;
  readonly #events: { readonly atUs: number; readonly action: () => void }[] = [];

  readonly now = (): number => this.nowUs;

  at(atUs: number, action: () => void): void {
    this.#events.push({ atUs, action });
  }

  readonly createAlarm = (onWake: () => void): Alarm => {
    let current = 0;
    return {
      wakeAt: (deadlineUs) => {
        current += 1;
        const mine = current;
        this.at(deadlineUs + this.latenessUs(deadlineUs), () => {
          if (mine === current) onWake();
        });
      },
      close: () => {
        current = -1;
      },
    };
  };

  /** Runs all events, also the ones that events add. */
  run(): void {
    while (this.#events.length > 0) {
      const next = this.#events.reduce((first, each) => (each.atUs < first.atUs ? each : first));
      this.#events.splice(this.#events.indexOf(next), 1);
      this.nowUs = Math.max(this.nowUs, next.atUs);
      next.action();
    }
  }
}
