// The upstream client over plain sockets: strict HTTP/1.1, one request at a time per connection, keep-alive pools per origin.
// It owns the sockets, the one read buffer and the pool; calls time out, retry and account elsewhere.

import type { LookupFunction, OnReadOpts, Socket } from "node:net";

import type { UpstreamCall, UpstreamClient, UpstreamOrigin, UpstreamRequest, UpstreamSink } from "@dragoman/core";

import { Connection } from "./connection.ts";
import type { ConnectionOwner } from "./connection.ts";
import { Connector } from "./connector.ts";
import type { WireTlsOptions } from "./connector.ts";
import { IdlePool } from "./idle-pool.ts";
import { serializeRequestHead } from "./request-bytes.ts";
import type { ParserLimits } from "./response-parser.ts";
import { TurnWrites } from "./turn-writes.ts";
import { WireCall } from "./wire-call.ts";

/** Settings of a wire client; every one has a default. */
export interface WireClientOptions {
  /** Idle connections kept for each origin. Default 256. */
  readonly maxIdlePerOrigin?: number;
  /** How long an idle connection is kept, less when its server announces less. Default 60 s. */
  readonly idleTimeoutMs?: number;
  /** Bytes of one head or trailer section. Default 64 KiB. */
  readonly maxHeadBytes?: number;
  /** Fields of one head or trailer section. Default 200. */
  readonly maxHeaderCount?: number;
  /** Interim answers (1xx) before the final one. Default 16. */
  readonly maxInformational?: number;
  /** A reused connection that fails within this time without an answer counts as stale. Default 2 s; negative = never. */
  readonly staleWindowMs?: number;
  /** Size of the shared read buffer. Default 64 KiB. */
  readonly readBufferBytes?: number;
  /** Overwrite the read buffer after each use. For tests. */
  readonly poisonReadBuffer?: boolean;
  /** Silence before the kernel probes the peer. Default 30 s; 0 = never. */
  readonly keepAliveProbeMs?: number;
  /** TLS towards upstreams. */
  readonly tls?: WireTlsOptions;
  /** Replaces `dns.lookup`. */
  readonly lookup?: LookupFunction;
}

/** Counts for metrics and tests. `opened`, `reused` and `resent` only grow. */
export interface WireStats {
  readonly open: number;
  readonly idle: number;
  readonly opened: number;
  readonly reused: number;
  readonly resent: number;
}

/** An upstream client that tells how its connections are doing. */
export interface WireClient extends UpstreamClient {
  /** Counts at this moment. */
  stats(): WireStats;
}

/**
 * Makes a client with pools of its own. `send` throws `state_violation` for a request that cannot be written as it is; everything
 * else that goes wrong is a failure given to the sink. `close` refuses further calls, destroys idle connections, and is fulfilled
 * once the running calls have ended; cancel those that must not be waited for.
 */
export function createWireClient(options: WireClientOptions = {}): WireClient {
  return new PooledWireClient(options);
}

class PooledWireClient implements WireClient, ConnectionOwner {
  readonly limits: ParserLimits;
  readonly idleTimeoutMs: number;
  readonly staleWindowMs: number;
  readonly readBuffer: Buffer;
  readonly isReadBufferPoisoned: boolean;
  readonly turnWrites: TurnWrites = new TurnWrites();

  readonly #connector: Connector;
  readonly #pool: IdlePool<Connection>;
  readonly #connections: Set<Connection> = new Set();
  #opened = 0;
  #reused = 0;
  #resent = 0;
  #closing: PromiseWithResolver | null = null;

  constructor(options: WireClientOptions) {
    this.limits = {
      maxHeadBytes: options.maxHeadBytes ?? 64 * 1024,
      maxHeaderCount: options.maxHeaderCount ?? 200,
      maxInformational: options.maxInformational ?? 16,
    };
    this.idleTimeoutMs = options.idleTimeoutMs ?? 60_000;
    this.staleWindowMs = options.staleWindowMs ?? 2000;
    // Slow allocation: a buffer of its own, not a slice of Node's shared slab.
    this.readBuffer = Buffer.allocUnsafeSlow(options.readBufferBytes ?? 64 * 1024);
    this.isReadBufferPoisoned = options.poisonReadBuffer ?? false;
    this.#connector = new Connector({
      tls: options.tls ?? {},
      keepAliveProbeMs: options.keepAliveProbeMs ?? 30_000,
      lookup: options.lookup,
    });
    this.#pool = new IdlePool(options.maxIdlePerOrigin ?? 256, Math.min(5000, Math.max(10, this.idleTimeoutMs / 2)));
  }

  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall {
    const call = new WireCall(request, serializeRequestHead(request), sink);
    if (this.#closing !== null) {
      process.nextTick(refuseClosed, call);
      return call;
    }
    const idle = this.#pool.take(request.origin.key, performance.now());
    if (idle === null) this.#connect(call);
    else {
      this.#reused += 1;
      idle.start(call);
    }
    return call;
  }

  stats(): WireStats {
    return {
      open: this.#connections.size,
      idle: this.#pool.size,
      opened: this.#opened,
      reused: this.#reused,
      resent: this.#resent,
    };
  }

  close(): Promise<void> {
    if (this.#closing === null) {
      this.#closing = makeResolver();
      this.#pool.clear();
      this.#settleClose();
    }
    return this.#closing.promise;
  }

  open(origin: UpstreamOrigin, onread: OnReadOpts): Socket {
    return this.#connector.open(origin, onread);
  }

  park(connection: Connection): boolean {
    return this.#closing === null && this.#pool.park(connection);
  }

  resend(call: WireCall): void {
    this.#resent += 1;
    this.#connect(call);
  }

  unpark(connection: Connection): void {
    this.#pool.remove(connection);
  }

  forget(connection: Connection): void {
    this.#connections.delete(connection);
    this.#settleClose();
  }

  #connect(call: WireCall): void {
    this.#opened += 1;
    this.#connections.add(new Connection(this, call));
  }

  #settleClose(): void {
    if (this.#closing !== null && this.#connections.size === 0) this.#closing.resolve();
  }
}

interface PromiseWithResolver {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function makeResolver(): PromiseWithResolver {
  let resolve!: () => void;
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

function refuseClosed(call: WireCall): void {
  call.fail("connect", "the upstream client is closed");
  call.release();
}
