/** One gateway whose upstream calls and client are driven by hand, for tests that need one thing to happen at one moment. */
import {
  compileConfig,
  ConfigValidator,
  DialectRegistry,
  GatewayEngine,
  type ClientRequest,
  type EngineLimits,
  type ExchangeOutcome,
  type GatewayConfig,
  type HeaderList,
  type ModelConfig,
  type Responder,
  type Ticket,
  type UpstreamRequest,
  type UpstreamSink,
} from "../../src/index.ts";
import { ALPHA, BETA, makeClient, makeKind, makeProvider } from "./tiny-dialect.ts";
import { VirtualClock } from "./virtual-clock.ts";

const VALIDATOR = new ConfigValidator();

/** An upstream call that does what the test says. */
export interface ManualCall {
  readonly request: UpstreamRequest;
  readonly sink: UpstreamSink;
  isPaused: boolean;
  isCancelled: boolean;
}

/** A client that reads as the test says. */
export class ManualClient implements Responder {
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  hasRoom = true;
  status = 0;
  headers: HeaderList = [];
  received = "";
  ending: "none" | "ended" | "aborted" = "none";

  head(status: number, headers: HeaderList): void {
    this.status = status;
    this.headers = headers;
  }
  write(bytes: Uint8Array): boolean {
    this.received += Buffer.from(bytes).toString();
    return this.hasRoom;
  }
  end(bytes: Uint8Array | null): void {
    this.received += bytes === null ? "" : Buffer.from(bytes).toString();
    this.ending = "ended";
  }
  abort(): void {
    this.ending = "aborted";
  }
}

/** What differs from a gateway with one model `m` of one deployment. */
export interface ManualGatewayOptions {
  readonly model?: Partial<ModelConfig>;
  readonly limits?: Partial<EngineLimits>;
  readonly maxQueueBytes?: number;
  readonly credentials?: readonly string[];
  /** Members of every ticket in place of those that let everything in. */
  readonly ticket?: Partial<Ticket>;
}

export class ManualGateway {
  readonly clock = new VirtualClock();
  readonly calls: ManualCall[] = [];
  readonly outcomes: ExchangeOutcome[] = [];
  readonly defects: string[] = [];
  readonly engine: GatewayEngine;
  /** The client dialect `alpha`, open to being replaced member by member. */
  readonly client = makeClient(ALPHA);
  #bodyHolders = 0;

  constructor(options: ManualGatewayOptions = {}) {
    const registry = new DialectRegistry(
      [
        { client: this.client, provider: makeProvider(ALPHA) },
        { client: makeClient(BETA), provider: makeProvider(BETA) },
      ],
      [makeKind("alpha-kind", ["alpha"], "drain"), makeKind("beta-kind", ["beta"], "drain")],
    );
    const config: GatewayConfig = {
      version: 1,
      server: { limits: { maxQueue: options.maxQueueBytes ?? 262_144 }, headers: { debug: "on" } },
      providers: {
        pa: { kind: "alpha-kind", credentials: options.credentials ?? ["key-one"] },
        pb: { kind: "beta-kind" },
      },
      models: { m: { deployments: [{ id: "a", provider: "pa", model: "x" }], ...options.model } },
    };
    const compiled = compileConfig(config, { registry, generation: 1, validator: VALIDATOR });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
    this.engine = new GatewayEngine({
      registry,
      snapshot: compiled.snapshot,
      ports: {
        clock: this.clock.engine,
        random: { next: () => 0.5, id: (length) => "r".repeat(length) },
        hasher: { sha256Hex: (text) => text },
        logger: {
          debug: () => undefined,
          info: () => undefined,
          warn: () => undefined,
          error: (fields) => this.defects.push(String(fields["error"])),
        },
        upstream: {
          send: (request, sink) => {
            const call: ManualCall = { request, sink, isPaused: false, isCancelled: false };
            this.calls.push(call);
            return {
              pause: () => {
                call.isPaused = true;
              },
              resume: () => {
                call.isPaused = false;
              },
              cancel: () => {
                call.isCancelled = true;
              },
            };
          },
          close: () => Promise.resolve(),
        },
        admission: {
          open: () => ({
            ok: true,
            ticket: {
              hold: () => null,
              attempt: () => null,
              settle: () => undefined,
              seal: null,
              releaseClient: () => undefined,
              close: () => undefined,
              ...options.ticket,
            },
          }),
        },
      },
      makeAuthenticator: () => ({ authenticate: () => null }),
      observers: [{ onOutcome: (outcome) => this.outcomes.push(outcome) }],
      limits: options.limits ?? {},
      userAgent: "test",
    });
  }

  get bodyHolders(): number {
    return this.#bodyHolders;
  }

  /** Starts an exchange and runs it to its first upstream call. */
  async ask(
    members: Readonly<Record<string, unknown>> = { stream: true },
    path = "/alpha/generate",
  ): Promise<ManualClient> {
    const client = new ManualClient();
    const bytes = Buffer.from(JSON.stringify({ model: "m", input: "hello", ...members }));
    const body = { bytes, retain: () => (this.#bodyHolders += 1), release: () => (this.#bodyHolders -= 1) };
    const request: ClientRequest = {
      method: "POST",
      path,
      query: "",
      headers: [],
      contentLength: bytes.byteLength,
      remoteAddress: null,
      readBody: () => {
        this.#bodyHolders += 1;
        return Promise.resolve({ ok: true, body });
      },
    };
    this.engine.handle(request, client, { principal: { id: "p", owner: null, tags: [], models: ["*"], debug: false } });
    await this.advance(0);
    return client;
  }

  /** The latest call. */
  get call(): ManualCall {
    const call = this.calls.at(-1);
    if (call === undefined) throw new Error("there is no call");
    return call;
  }

  /** Lets the latest call answer with a head. */
  open(contentType = "text/event-stream", status = 200): void {
    this.call.sink.onSent();
    this.call.sink.onHead(status, ["content-type", contentType]);
  }

  /** Lets the latest call bring pieces of its body. */
  say(...pieces: readonly (string | Uint8Array)[]): void {
    for (const piece of pieces) this.call.sink.onData(Buffer.from(piece));
  }

  /** Lets virtual time pass. */
  async advance(byMs: number): Promise<void> {
    let isOver = false;
    this.clock.schedule(byMs, () => {
      isOver = true;
    });
    await this.clock.run(() => isOver, byMs + 1);
  }
}
