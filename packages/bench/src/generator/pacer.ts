// Decides when to send in an open loop: wakes at the scheduled times, sends everything that is due, and never waits for answers.
// A late wake-up sends the backlog at once with the original scheduled times, so lateness becomes latency and is counted.
import type { Alarm, CreateAlarm } from "../clock/ticker.ts";
import { dueUs, type Schedule } from "./schedule.ts";

/** Ports and bounds of a pacer. */
export interface PacerOptions {
  readonly schedule: Schedule;
  readonly endUs: number;
  readonly now: () => number;
  readonly createAlarm: CreateAlarm;
  /** Sends the request of a turn. `lateUs` is how long after its scheduled time the generator got to it. */
  readonly send: (turn: number, dueUs: number, lateUs: number) => void;
  readonly onFinished: () => void;
}

/** Shortest pause between two wake-ups: requests due within it leave together, at most this late. */
export const MIN_WAKE_GAP_US = 100;

/** Fixed-rate open loop. States: pacing → finished. */
export class Pacer {
  readonly #options: PacerOptions;
  readonly #alarm: Alarm;
  #turn = 0;
  #isFinished = false;

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#alarm = options.createAlarm(() => this.#wake());
    this.#alarm.wakeAt(dueUs(options.schedule, 0));
  }

  /** Sends what is due; also called when an answer arrives, since the thread is awake anyway. */
  poll(): void {
    if (!this.#isFinished) this.#sendDue(this.#options.now());
  }

  #wake(): void {
    if (this.#isFinished) return;
    const nowUs = this.#options.now();
    this.#sendDue(nowUs);
    const nextUs = dueUs(this.#options.schedule, this.#turn);
    if (nextUs >= this.#options.endUs) {
      this.#isFinished = true;
      this.#alarm.close();
      this.#options.onFinished();
      return;
    }
    this.#alarm.wakeAt(Math.max(nextUs, nowUs + MIN_WAKE_GAP_US));
  }

  #sendDue(untilUs: number): void {
    const { schedule, endUs, send, now } = this.#options;
    for (let due = dueUs(schedule, this.#turn); due <= untilUs && due < endUs; due = dueUs(schedule, this.#turn)) {
      const turn = this.#turn;
      this.#turn += 1;
      send(turn, due, now() - due);
    }
  }
}
