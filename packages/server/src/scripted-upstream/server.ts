// The scripted upstream: a server on the loopback interface that speaks both dialects over plain sockets, so that it can send any
// bytes. It answers by script, or by the name of the requested model.
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { behaviourOfModel } from "./behaviours.ts";
import type { Behaviour } from "./behaviours.ts";
import { UpstreamCall } from "./call-log.ts";
import type { UpstreamCallLog } from "./call-log.ts";
import { UpstreamConnection } from "./connection.ts";
import type { ConnectionHost } from "./connection.ts";
import { endpointOf } from "./endpoint.ts";
import type { RequestHead } from "./http-reader.ts";
import { readReceivedRequest } from "./received-request.ts";
import type { ReceivedRequest } from "./received-request.ts";
import { ScriptRunner } from "./script.ts";
import type { Script } from "./script.ts";

/** Options of `createScriptedUpstream`. */
export interface ScriptedUpstreamOptions {
  /** Port on 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number;
  /** The first script; `script()` replaces it. */
  readonly script?: Script;
  /** How many calls are remembered; older ones are forgotten. Default 10,000. */
  readonly maxCalls?: number;
  /** Waits between the pieces of slow answers; the default is a timer. */
  readonly delay?: (milliseconds: number) => Promise<void>;
  /** Milliseconds for `startedMs`; the default is the monotonic clock. */
  readonly now?: () => number;
}

/** A running scripted upstream. */
export interface ScriptedUpstream {
  /** Origin without a path: `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly port: number;
  /** Calls in the order of their heads; their records go on changing until they are ended. */
  readonly calls: readonly UpstreamCallLog[];
  /** Connections that are open now. */
  readonly openConnections: number;
  /** Sets the script for calls from now on; null leaves every call to its model name. */
  script(script: Script | null): void;
  /** Resolves with the first remembered call, now or later, for which the predicate holds. Rejects when the upstream closes. */
  waitForCall(predicate: (call: UpstreamCallLog) => boolean): Promise<UpstreamCallLog>;
  /** Ends every stall and sends the bytes that scripts kept for later. */
  release(): void;
  /** Forgets the calls and the script; open connections stay. */
  clear(): void;
  /** Cuts every connection and stops listening. Rejects with the first error that a script threw. */
  close(): Promise<void>;
}

interface Waiter {
  readonly predicate: (call: UpstreamCallLog) => boolean;
  readonly resolve: (call: UpstreamCallLog) => void;
  readonly reject: (error: Error) => void;
}

class RunningUpstream implements ScriptedUpstream, ConnectionHost {
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #connections = new Set<UpstreamConnection>();
  readonly #waiters = new Set<Waiter>();
  readonly #maxCalls: number;
  readonly #delay: (milliseconds: number) => Promise<void>;
  readonly #now: () => number;
  #calls: UpstreamCall[] = [];
  #runner: ScriptRunner | null;
  #serial = 0;
  #connectionSerial = 0;
  #failures: unknown[] = [];

  constructor(options: ScriptedUpstreamOptions) {
    this.#maxCalls = options.maxCalls ?? 10_000;
    this.#delay = options.delay ?? ((milliseconds) => sleep(milliseconds));
    this.#now = options.now ?? ((): number => performance.now());
    this.#runner = options.script === undefined ? null : new ScriptRunner(options.script);
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get calls(): readonly UpstreamCallLog[] {
    return this.#calls;
  }

  get openConnections(): number {
    return this.#connections.size;
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  script(script: Script | null): void {
    this.#runner = script === null ? null : new ScriptRunner(script);
  }

  waitForCall(predicate: (call: UpstreamCallLog) => boolean): Promise<UpstreamCallLog> {
    const known = this.#calls.find((call) => predicate(call));
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      this.#waiters.add({ predicate, resolve, reject });
    });
  }

  release(): void {
    for (const connection of this.#connections) connection.release();
  }

  clear(): void {
    this.#calls = [];
    this.#runner = null;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const connection of this.#connections) connection.destroy();
    await closed;
    for (const waiter of this.#waiters)
      waiter.reject(new Error("The scripted upstream was closed before such a call came."));
    this.#waiters.clear();
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw new Error("A script of the scripted upstream threw.", { cause: failure });
  }

  openCall(connection: number, head: RequestHead): UpstreamCall {
    this.#serial += 1;
    const call = new UpstreamCall(this.#serial, connection, head, this.#now());
    this.#calls.push(call);
    if (this.#calls.length > this.#maxCalls) this.#calls.splice(0, this.#calls.length - this.#maxCalls);
    return call;
  }

  decide(call: UpstreamCall, request: ReceivedRequest): Behaviour {
    const byName = behaviourOfModel(request.model, request);
    const scripted = this.#runner?.decide(call, request) ?? null;
    if (scripted === null) return byName;
    return scripted.answer === undefined && scripted.error === undefined ? { ...byName, ...scripted } : scripted;
  }

  decideEarly(call: UpstreamCall): Behaviour | null {
    const scripted = this.#runner?.decideEarly(call) ?? null;
    if (scripted !== null || call.model === null) return scripted;
    if (!call.model.includes("early-")) return null;
    const { dialect } = endpointOf(call.method, call.path, call.headers);
    const { error, faults = [] } = behaviourOfModel(call.model, readReceivedRequest(dialect, undefined));
    return { ...(error === undefined ? {} : { error }), faults };
  }

  notify(): void {
    for (const waiter of this.#waiters) {
      const call = this.#calls.find((each) => waiter.predicate(each));
      if (call === undefined) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(call);
    }
  }

  fail(error: unknown): void {
    this.#failures.push(error);
  }

  delay(milliseconds: number): Promise<void> {
    return this.#delay(milliseconds);
  }

  #accept(socket: Socket): void {
    this.#connectionSerial += 1;
    const connection = new UpstreamConnection(socket, this.#connectionSerial, this);
    this.#connections.add(connection);
    socket.on("close", () => this.#connections.delete(connection));
  }
}

/** Starts a scripted upstream on 127.0.0.1. The caller closes it. */
export async function createScriptedUpstream(options: ScriptedUpstreamOptions = {}): Promise<ScriptedUpstream> {
  const upstream = new RunningUpstream(options);
  await upstream.listen(options.port ?? 0);
  return upstream;
}
