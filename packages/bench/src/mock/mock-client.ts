// Client of the mock's control door, used by the procedure and by the conformance checks.
import { request as httpRequest } from "node:http";

import type { LatencyProfileId } from "../contract/cell.ts";
import type { CallCounts, LoggedCall } from "./call-log.ts";
import type { Fault } from "./faults.ts";

/** Talks to the control port of one mock. All methods reject when the mock is gone. */
export class MockClient {
  readonly #host: string;
  readonly #port: number;

  constructor(host: string, controlPort: number) {
    this.#host = host;
    this.#port = controlPort;
  }

  async setProfile(profile: LatencyProfileId): Promise<void> {
    await this.#ask("PUT", "/profile", { profile });
  }

  /** Arms faults and forgets the ones armed before; an empty list makes the mock healthy. */
  async arm(faults: readonly Fault[]): Promise<void> {
    await this.#ask("PUT", "/faults", faults);
  }

  /** Forgets all calls; with `isDetailed` the next ones are kept with headers and body. */
  async resetCalls(isDetailed: boolean): Promise<void> {
    await this.#ask("PUT", "/calls", { detailed: isDetailed });
  }

  async counts(): Promise<CallCounts> {
    return (await this.#ask("GET", "/counts")) as CallCounts;
  }

  async calls(): Promise<readonly LoggedCall[]> {
    return (await this.#ask("GET", "/calls")) as readonly LoggedCall[];
  }

  async isHealthy(): Promise<boolean> {
    return this.#ask("GET", "/health").then(
      () => true,
      () => false,
    );
  }

  #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? "" : JSON.stringify(body);
      const outgoing = httpRequest(
        {
          host: this.#host,
          port: this.#port,
          method,
          path,
          headers: { "content-length": Buffer.byteLength(text) },
          timeout: 5000,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const answer = Buffer.concat(chunks).toString();
            if (response.statusCode === 200) resolve(JSON.parse(answer));
            else reject(new Error(`the mock refused ${method} ${path}: ${answer}`));
          });
        },
      );
      outgoing.on("timeout", () => outgoing.destroy(new Error(`the mock did not answer ${method} ${path}`)));
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  }
}
