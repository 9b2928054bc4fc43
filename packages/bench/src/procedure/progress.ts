// Progress of a run: a bar, what is running, and when it will be over, corrected by how long the finished turns really took.
import { estimateSeconds, type Turn } from "./rotation.ts";

const BAR_WIDTH = 24;

/** Counts turns off. All times in seconds. */
export class Progress {
  readonly #estimates: readonly number[];
  #finished = 0;
  #measuredEstimate = 0;
  #measuredSeconds = 0;

  constructor(turns: readonly Turn[]) {
    this.#estimates = turns.map(estimateSeconds);
  }

  /** A turn is over; `seconds` is absent for one that an earlier run had finished. */
  finish(seconds: number | undefined): void {
    if (seconds !== undefined) {
      this.#measuredEstimate += this.#estimates[this.#finished] ?? 0;
      this.#measuredSeconds += seconds;
    }
    this.#finished += 1;
  }

  get remainingSeconds(): number {
    const remaining = this.#estimates.slice(this.#finished).reduce((sum, each) => sum + each, 0);
    return remaining * (this.#measuredEstimate === 0 ? 1 : this.#measuredSeconds / this.#measuredEstimate);
  }

  line(turn: Turn): string {
    const total = this.#estimates.length;
    const filled = Math.round((this.#finished / Math.max(1, total)) * BAR_WIDTH);
    const bar = "#".repeat(filled) + ".".repeat(BAR_WIDTH - filled);
    const name = `${turn.cell.id} ${turn.target.id} ${turn.repetition}/${turn.cell.windows.repetitions}`;
    return `[${bar}] ${this.#finished}/${total} ${name}, about ${formatSeconds(this.remainingSeconds)} left`;
  }
}

function formatSeconds(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${Math.ceil(seconds)} s` : `${minutes} min ${Math.round(seconds % 60)} s`;
}
