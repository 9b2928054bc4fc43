// Log of the calls the mock received: counts for every call, details (with the body) only while they are asked for and bounded, so
// that a load run costs no memory.

/** One call as it came in. */
export interface LoggedCall {
  readonly method: string;
  readonly target: string;
  /** Header lines as received, without the request line. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Counters of a mock process. */
export interface CallCounts {
  readonly calls: number;
  readonly unknownTargets: number;
  /** Calls whose connection the caller closed before the answer was complete. */
  readonly disconnects: number;
  /** Calls that an armed fault hit. */
  readonly faults: number;
}

/** Most detailed calls that are kept; the oldest go first. */
const MAX_LOGGED_CALLS = 1000;

/** Collects calls. */
export class CallLog {
  readonly #details: LoggedCall[] = [];
  #isDetailed = false;
  #calls = 0;
  #unknownTargets = 0;
  #disconnects = 0;
  #faults = 0;

  get counts(): CallCounts {
    return {
      calls: this.#calls,
      unknownTargets: this.#unknownTargets,
      disconnects: this.#disconnects,
      faults: this.#faults,
    };
  }

  get details(): readonly LoggedCall[] {
    return this.#details;
  }

  /** Forgets everything and turns the recording of details on or off. */
  reset(isDetailed: boolean): void {
    this.#details.length = 0;
    this.#isDetailed = isDetailed;
    this.#calls = 0;
    this.#unknownTargets = 0;
    this.#disconnects = 0;
    this.#faults = 0;
  }

  call(request: {
    readonly method: string;
    readonly target: string;
    readonly head: string;
    readonly body: readonly Buffer[];
  }): void {
    this.#calls += 1;
    if (!this.#isDetailed) return;
    if (this.#details.length >= MAX_LOGGED_CALLS) this.#details.shift();
    this.#details.push({
      method: request.method,
      target: request.target,
      headers: request.head
        .split("\r\n")
        .slice(1)
        .map(
          (line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()] as const,
        ),
      body: Buffer.concat(request.body).toString(),
    });
  }

  unknownTarget(): void {
    this.#unknownTargets += 1;
  }

  fault(): void {
    this.#faults += 1;
  }

  disconnect(): void {
    this.#disconnects += 1;
  }
}
