// Opens sockets to an origin, plain or TLS. Names are resolved again for every connection, both address families race (Node's
// default), and TLS sessions are resumed per origin. Reading goes into the one buffer that all sockets of a client share.

import { connect as connectPlain, isIP } from "node:net";
import type { LookupFunction, OnReadOpts, Socket } from "node:net";
import { connect as connectTls, createSecureContext } from "node:tls";
import type { SecureContext, SecureContextOptions } from "node:tls";

import type { UpstreamOrigin } from "@dragoman/core";

/** TLS towards upstreams. Without `ca` the roots are Node's own and those of `NODE_EXTRA_CA_CERTS`; with it, only those given. */
export interface WireTlsOptions extends Pick<
  SecureContextOptions,
  "ca" | "cert" | "key" | "passphrase" | "minVersion" | "ciphers"
> {
  /** Default true. Turn it off only against a server of your own. */
  readonly rejectUnauthorized?: boolean;
}

/** How sockets are opened. */
export interface ConnectorOptions {
  readonly tls: WireTlsOptions;
  /** Idle time before the kernel probes a silent peer; 0 = no probes. */
  readonly keepAliveProbeMs: number;
  /** Replaces `dns.lookup`. */
  readonly lookup: LookupFunction | undefined;
}

/** Sessions of this many origins are remembered. */
const MAX_SESSIONS = 256;

/** Opens sockets; owns the TLS context and the session cache. */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #sessions: Map<string, Buffer> = new Map();
  /** Made once, since reading certificates is slow; lazily when nothing in it can be wrong, since many clients never use TLS. */
  #secureContext: SecureContext | null = null;

  /** Throws what `tls.createSecureContext` throws on an unusable certificate or key. (It passes over an unusable `ca` in silence.) */
  constructor(options: ConnectorOptions) {
    this.#options = options;
    if (Object.keys(options.tls).length > 0) this.#secureContext = createSecureContext(options.tls);
  }

  /** Starts to connect. */
  open(origin: UpstreamOrigin, onread: OnReadOpts): Socket {
    const { keepAliveProbeMs, lookup, tls } = this.#options;
    const options = {
      host: origin.host,
      port: origin.port,
      noDelay: true,
      keepAlive: keepAliveProbeMs > 0,
      keepAliveInitialDelay: keepAliveProbeMs,
      onread,
      ...(lookup === undefined ? {} : { lookup }),
    };
    if (origin.protocol === "http:") return connectPlain(options);
    this.#secureContext ??= createSecureContext(tls);
    const session = this.#sessions.get(origin.key);
    const socket = connectTls({
      ...options,
      secureContext: this.#secureContext,
      rejectUnauthorized: tls.rejectUnauthorized ?? true,
      ALPNProtocols: ["http/1.1"],
      // RFC 6066 §3: no address literals in SNI.
      ...(isIP(origin.host) === 0 ? { servername: origin.host } : {}),
      ...(session === undefined ? {} : { session }),
    });
    socket.on("session", (fresh: Buffer) => this.#remember(origin.key, fresh));
    return socket;
  }

  #remember(key: string, session: Buffer): void {
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    if (this.#sessions.size <= MAX_SESSIONS) return;
    for (const oldest of this.#sessions.keys()) {
      this.#sessions.delete(oldest);
      return;
    }
  }
}
