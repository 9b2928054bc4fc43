// A remote machine, used through its agent.
import { request as httpRequest } from "node:http";

import type { HostInventory } from "../contract/record.ts";
import type { Located, TargetOptions } from "../contract/target.ts";
import type { ResourceSample } from "../resources/sample.ts";
import type { AgentMethod } from "./agent-server.ts";
import type { Host, StartedMock, StartedProcess, TargetLaunch } from "./host.ts";
import type { Placement } from "./pinning.ts";

/** Longest start of a target that an agent may wait for. */
const CALL_TIMEOUT_MS = 180_000;

/** Address and token of an agent. */
export interface AgentAddress {
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

/** Calls one agent; a method rejects with the agent's own message. */
export class AgentHost implements Host {
  readonly #address: AgentAddress;

  constructor(address: AgentAddress) {
    this.#address = address;
  }

  async inventory(role: HostInventory["role"]): Promise<HostInventory> {
    return (await this.#call("inventory", role)) as HostInventory;
  }

  async locate(target: string, options: TargetOptions): Promise<Located> {
    return (await this.#call("locate", target, options)) as Located;
  }

  async startMock(workers: number, placement: Placement): Promise<StartedMock> {
    return (await this.#call("startMock", workers, placement)) as StartedMock;
  }

  async startTarget(launch: TargetLaunch): Promise<StartedProcess> {
    return (await this.#call("startTarget", launch)) as StartedProcess;
  }

  async sample(handle: string): Promise<ResourceSample | undefined> {
    return (await this.#call("sample", handle)) as ResourceSample | undefined;
  }

  async ended(handle: string): Promise<string | undefined> {
    return (await this.#call("ended", handle)) as string | undefined;
  }

  async stop(handle: string): Promise<void> {
    await this.#call("stop", handle);
  }

  async cpus(): Promise<readonly number[]> {
    return (await this.#call("cpus")) as readonly number[];
  }

  #call(method: AgentMethod, ...args: readonly unknown[]): Promise<unknown> {
    const { host, port, token } = this.#address;
    const body = JSON.stringify(args);
    const headers = { authorization: `Bearer ${token}`, "content-length": Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        { host, port, method: "POST", path: `/${method}`, headers, timeout: CALL_TIMEOUT_MS },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const answer = JSON.parse(Buffer.concat(chunks).toString()) as {
              readonly value?: unknown;
              readonly error?: string;
            };
            if (response.statusCode === 200) resolve(answer.value);
            else reject(new Error(`agent ${host}:${port}: ${answer.error ?? "no reason given"}`));
          });
        },
      );
      outgoing.on("timeout", () => outgoing.destroy(new Error(`agent ${host}:${port} did not answer ${method}`)));
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }
}
