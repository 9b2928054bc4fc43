// The mock upstream on raw sockets: recognises the dialect by path and the stream by the body, and answers with ready bytes by the
// latency script or the armed fault. Calls of one connection are answered in order.
import { createServer, type Server, type Socket } from "node:net";

import type { TrafficDialect } from "../contract/cell.ts";
import type { Agenda } from "./agenda.ts";
import { ANSWERS, errorAnswer, MODELS_ANSWER } from "./answers.ts";
import type { CallLog } from "./call-log.ts";
import type { FaultKind, FaultPlan } from "./faults.ts";
import type { LatencyProfile } from "./latency-profiles.ts";
import { renderChunk, renderWire, type WireAnswer } from "./render-answer.ts";
import { RequestReader, type ReadRequest } from "./request-reader.ts";

/** State and ports of a mock. `profile` may be changed between calls. */
export interface MockState {
  profile: LatencyProfile;
  readonly faults: FaultPlan;
  readonly log: CallLog;
  readonly agenda: Agenda;
  readonly now: () => number;
}

interface DialectWire {
  readonly plain: WireAnswer;
  readonly stream: WireAnswer;
}

const WIRE = new Map<TrafficDialect, DialectWire>(
  (Object.keys(ANSWERS) as TrafficDialect[]).map((dialect) => {
    const { plain, stream } = ANSWERS[dialect];
    return [dialect, { plain: renderWire(plain), stream: renderWire(stream ?? plain) }];
  }),
);
const MODELS = renderWire(MODELS_ANSWER);
const NOT_FOUND = renderWire(errorAnswer(404), 404);
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const STREAM_FLAG = /"stream"\s*:\s*true/;
/** Long enough to hold the flag across two chunks of a body. */
const OVERLAP_BYTES = 32;

/** Creates the server; the caller listens and closes. */
export function createMockServer(state: MockState): Server {
  return createServer({ noDelay: true }, (socket) => {
    new MockConnection(state, socket);
  });
}

class MockConnection {
  readonly #state: MockState;
  readonly #socket: Socket;
  readonly #waiting: ReadRequest[] = [];
  #isAnswering = false;

  constructor(state: MockState, socket: Socket) {
    this.#state = state;
    this.#socket = socket;
    const reader = new RequestReader({
      onRequest: (request) => {
        if (this.#isAnswering) this.#waiting.push(request);
        else this.#answer(request);
      },
      onContinue: () => socket.write(CONTINUE),
      onBroken: () => socket.destroy(),
    });
    socket.on("data", (bytes) => reader.feed(bytes as Buffer));
    socket.on("error", () => {
      // A caller that resets the connection is counted when "close" follows.
    });
    socket.on("close", () => {
      if (this.#isAnswering) state.log.disconnect();
    });
  }

  #answer(request: ReadRequest): void {
    const { log, faults } = this.#state;
    log.call(request);
    this.#isAnswering = true;
    const path = request.target.split("?", 1)[0] ?? "";
    const isLast = /\r\nconnection:[^\r]*\bclose\b/i.test(request.head) || /^[^\r]* HTTP\/1\.0/.test(request.head);
    if (request.method === "GET") {
      this.#send(path.endsWith("/models") ? MODELS : NOT_FOUND, isLast);
      return;
    }
    const dialect = dialectOf(path);
    const wire = dialect === undefined ? undefined : WIRE.get(dialect);
    if (wire === undefined) {
      log.unknownTarget();
      this.#send(NOT_FOUND, isLast);
      return;
    }
    const answer = asksForStream(request.body) ? wire.stream : wire.plain;
    const fault = faults.next();
    if (fault === undefined) {
      this.#play(answer, isLast, 0);
      return;
    }
    log.fault();
    this.#fail(fault, answer, isLast);
  }

  /** Plays an answer by the latency script. */
  #play(answer: WireAnswer, isLast: boolean, extraMs: number): void {
    const { profile, agenda, now } = this.#state;
    const firstMs = profile.firstMs + extraMs;
    if (firstMs === 0 && profile.gapMs === 0) {
      this.#send(answer, isLast);
      return;
    }
    const startUs = now() + firstMs * 1000;
    if (profile.gapMs === 0 || answer.parts.length === 1) {
      agenda.add(startUs, () => this.#send(answer, isLast));
      return;
    }
    // Each part by its own point in time, so that one late part does not delay all that follow.
    const playPart = (index: number): void => {
      const part = answer.parts[index];
      if (part === undefined || this.#socket.destroyed) return;
      const isFinal = index === answer.parts.length - 1;
      this.#socket.write(
        index === 0 ? Buffer.concat([answer.head, part]) : isFinal ? Buffer.concat([part, answer.end]) : part,
      );
      if (isFinal) this.#done(isLast);
      else agenda.add(startUs + (index + 1) * profile.gapMs * 1000, () => playPart(index + 1));
    };
    agenda.add(startUs, () => playPart(0));
  }

  #fail(fault: FaultKind, answer: WireAnswer, isLast: boolean): void {
    switch (fault.kind) {
      case "status": {
        const headers = fault.retryAfterSeconds === undefined ? [] : [`retry-after: ${fault.retryAfterSeconds}`];
        this.#play(renderWire(errorAnswer(fault.status), fault.status, headers), isLast, 0);
        return;
      }
      case "delay":
        this.#play(answer, isLast, fault.delayMs);
        return;
      case "close":
        this.#abandon(() => this.#socket.destroy());
        return;
      case "hang":
        return;
      case "truncate":
        this.#socket.write(cut(answer, fault.parts));
        this.#abandon(() => this.#socket.end());
        return;
      case "reset":
        // The pause lets the first half leave before the reset discards what is still unsent.
        this.#socket.write(cut(answer, fault.parts), () =>
          this.#state.agenda.add(this.#state.now() + 20_000, () => this.#abandon(() => this.#socket.resetAndDestroy())),
        );
        return;
      case "no-terminator":
        this.#socket.write(Buffer.concat([answer.head, ...answer.parts.slice(0, -1), answer.end]));
        this.#done(isLast);
        return;
      case "error-event": {
        const error = renderChunk(
          Buffer.from(`event: error\ndata: ${errorAnswer(500).parts[0]?.toString() ?? ""}\n\n`),
        );
        this.#socket.write(Buffer.concat([answer.head, ...answer.parts.slice(0, fault.parts ?? 1), error, answer.end]));
        this.#done(isLast);
        return;
      }
      case "garbage":
        this.#play(
          renderWire({ contentType: "application/json", parts: [Buffer.from("<html>not json</html>")] }),
          isLast,
          0,
        );
    }
  }

  #send(answer: WireAnswer, isLast: boolean): void {
    if (this.#socket.destroyed) return;
    this.#socket.write(answer.whole);
    this.#done(isLast);
  }

  #done(isLast: boolean): void {
    this.#isAnswering = false;
    if (isLast) this.#socket.end();
    const next = this.#waiting.shift();
    if (next !== undefined) this.#answer(next);
  }

  /** The mock itself ends the connection: not a disconnect of the caller. */
  #abandon(end: () => void): void {
    this.#isAnswering = false;
    end();
  }
}

/** Head and the first parts of a stream, or the first half of a plain body. */
function cut(answer: WireAnswer, parts: number | undefined): Buffer {
  const [only] = answer.parts;
  if (answer.parts.length === 1 && only !== undefined) {
    return Buffer.concat([answer.head, only.subarray(0, only.length >> 1)]);
  }
  return Buffer.concat([answer.head, ...answer.parts.slice(0, parts ?? answer.parts.length >> 1)]);
}

function dialectOf(path: string): TrafficDialect | undefined {
  if (path.endsWith("/chat/completions")) return "openai-chat";
  if (path.endsWith("/messages")) return "anthropic";
  if (path.endsWith("/embeddings")) return "openai-embeddings";
  if (path.endsWith("/responses")) return "openai-responses";
  return undefined;
}

/** Searches chunk by chunk with an overlap, without joining a large body. */
function asksForStream(body: readonly Buffer[]): boolean {
  let tail = "";
  for (const chunk of body) {
    const text = tail + chunk.toString("latin1");
    if (STREAM_FLAG.test(text)) return true;
    tail = text.slice(-OVERLAP_BYTES);
  }
  return false;
}
