// Writes one response to a socket: counts the bytes, waits for room, and does what the faults of the wire ask for. Every method
// returns false once the response is over (cut on purpose, or the client left); nothing is written after that.
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import type { CallEnd, UpstreamCall } from "./call-log.ts";
import { bytesOf, findFault } from "./faults.ts";
import type { Fault, Hangup } from "./faults.ts";
import type { ResponsePlan } from "./response-plan.ts";

/** What the sender needs besides the socket. */
export interface SenderPorts {
  /** Waits; tests may count instead. */
  delay(milliseconds: number): Promise<void>;
  /** Bytes of the call were handed to the socket. */
  onProgress(): void;
  /** Resolves on `release()` or when the socket closes. */
  waitForRelease(): Promise<void>;
}

/** How the sending ended: with a complete answer on a kept connection, or with the connection's end. */
export type SendOutcome = "kept" | "closed";

const LINE = "\r\n";

/**
 * How long a reset waits behind the last bytes. libuv reports data and a reset that it polls together as data and a clean end, so
 * a peer on Node sees the reset as such only when it has read the data before.
 */
const RESET_GRACE_MS = 20;

/** Sends the responses of one call. */
export class AnswerSender {
  readonly #socket: Socket;
  readonly #call: UpstreamCall;
  readonly #faults: readonly Fault[];
  readonly #ports: SenderPorts;
  readonly #cut: Extract<Fault, { kind: "cut" }> | null;
  readonly #splitBytes: number;

  constructor(socket: Socket, call: UpstreamCall, faults: readonly Fault[], ports: SenderPorts) {
    this.#socket = socket;
    this.#call = call;
    this.#faults = faults;
    this.#ports = ports;
    this.#cut = findFault(faults, "cut") ?? null;
    this.#splitBytes = findFault(faults, "split")?.bytes ?? 0;
  }

  /** Sends a planned response to its end. */
  async send(plan: ResponsePlan): Promise<SendOutcome> {
    const stall = findFault(this.#faults, "stall")?.after;
    if (stall === "request") await this.#ports.waitForRelease();
    const raw = findFault(this.#faults, "raw");
    if (raw !== undefined) return this.#sendRaw(raw);
    if (!(await this.#sendInterim())) return "closed";
    const head = plan.rawHead ?? renderHead(plan);
    // One write for head and whole body, as servers do; a stream's head goes out at once.
    const isJoined = plan.framing === "length" && stall !== "head" && stall !== 0 && !this.#isPaced();
    if (!isJoined && !(await this.write(head))) return "closed";
    if (stall === "head") await this.#ports.waitForRelease();
    if (!(await this.#sendBody(plan, isJoined ? head : null))) return "closed";
    if (plan.framing === "none" && plan.rawHead === null) return this.hangUp("end", "complete");
    return "kept";
  }

  /** Writes bytes, up to the cut; waits until the socket has room again. */
  async write(bytes: Buffer): Promise<boolean> {
    const room = this.#cut === null ? bytes.length : Math.max(0, this.#cut.bytes - this.#call.bytesSent);
    const isCut = this.#cut !== null && room <= bytes.length;
    const written = await this.#writeSplit(isCut ? bytes.subarray(0, room) : bytes);
    if (written && isCut && this.#cut !== null) await this.hangUp(this.#cut.by, "cut");
    return written && !isCut;
  }

  /** Ends the connection after what was written has left this process. */
  async hangUp(by: Hangup, ended: CallEnd): Promise<"closed"> {
    this.#call.ended ??= ended;
    const socket = this.#socket;
    if (by === "reset" && this.#call.bytesSent > 0) await sleep(RESET_GRACE_MS);
    if (socket.destroyed) return "closed";
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve());
      if (by === "end") socket.end(() => resolve());
      else socket.write("", () => socket.resetAndDestroy());
    });
    return "closed";
  }

  #isPaced(): boolean {
    return findFault(this.#faults, "slow") !== undefined || findFault(this.#faults, "cut-after") !== undefined;
  }

  async #sendRaw(raw: Extract<Fault, { kind: "raw" }>): Promise<SendOutcome> {
    if (!(await this.write(bytesOf(raw.bytes)))) return "closed";
    return raw.afterwards === "keep" ? "kept" : this.hangUp(raw.afterwards, "complete");
  }

  async #sendInterim(): Promise<boolean> {
    const fault = findFault(this.#faults, "interim");
    if (fault === undefined) return true;
    const bytes = Buffer.from(`HTTP/1.1 ${fault.status} Interim${LINE}x-scripted: interim${LINE}${LINE}`, "latin1");
    for (let sent = 0; sent < fault.count; sent += 1) if (!(await this.write(bytes))) return false;
    return true;
  }

  /** The last piece, the end of the framing and bytes behind the answer share a write. */
  async #sendBody(plan: ResponsePlan, head: Buffer | null): Promise<boolean> {
    const tail = this.#tailOf(plan);
    let before = head;
    let count = 0;
    const pieces = plan.pieces[Symbol.iterator]();
    for (let current = pieces.next(); current.done !== true; count += 1) {
      const next = pieces.next();
      if (!(await this.#pause(count))) return false;
      const framed = frame(plan, current.value);
      const parts = [...(before === null ? [] : [before]), framed, ...(next.done === true ? [tail] : [])];
      before = null;
      if (!(await this.write(parts.length === 1 ? framed : Buffer.concat(parts)))) return false;
      current = next;
    }
    if (!(await this.#pause(count))) return false;
    const rest = count > 0 ? null : Buffer.concat([...(before === null ? [] : [before]), tail]);
    return rest === null || rest.length === 0 ? !this.#socket.destroyed : this.write(rest);
  }

  #tailOf(plan: ResponsePlan): Buffer {
    const extra = findFault(this.#faults, "extra-bytes");
    const behind = extra?.when === "at-once" ? bytesOf(extra.bytes) : Buffer.alloc(0);
    if (plan.framing !== "chunked") return behind;
    const trailers = plan.trailers.map(([name, value]) => `${name}: ${value}${LINE}`).join("");
    return Buffer.concat([Buffer.from(`0${LINE}${trailers}${LINE}`, "latin1"), behind]);
  }

  /** What the faults ask for when `count` pieces are written; false when the connection is gone then. */
  async #pause(count: number): Promise<boolean> {
    const cutAfter = findFault(this.#faults, "cut-after");
    if (cutAfter?.records === count) {
      await this.hangUp(cutAfter.by, "cut");
      return false;
    }
    if (findFault(this.#faults, "stall")?.after === count) await this.#ports.waitForRelease();
    const slow = findFault(this.#faults, "slow");
    if (slow !== undefined) await this.#ports.delay(slow.delayMs);
    return !this.#socket.destroyed;
  }

  async #writeSplit(bytes: Buffer): Promise<boolean> {
    if (this.#splitBytes === 0) return this.#writeOnce(bytes);
    for (let start = 0; start < bytes.length; start += this.#splitBytes) {
      if (!(await this.#writeOnce(bytes.subarray(start, start + this.#splitBytes)))) return false;
      // Lets the peer read between two writes, so that they do not arrive as one.
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    return true;
  }

  async #writeOnce(bytes: Buffer): Promise<boolean> {
    const socket = this.#socket;
    if (socket.destroyed || !socket.writable) return false;
    this.#call.bytesSent += bytes.length;
    this.#ports.onProgress();
    if (bytes.length > 0 && !socket.write(bytes)) await waitForRoom(socket);
    return !socket.destroyed;
  }
}

function waitForRoom(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      socket.off("drain", finish);
      socket.off("close", finish);
      resolve();
    };
    socket.on("drain", finish);
    socket.on("close", finish);
  });
}

function renderHead(plan: ResponsePlan): Buffer {
  const lines = plan.headers.map(([name, value]) => `${name}: ${value}${LINE}`).join("");
  return Buffer.from(`HTTP/1.1 ${plan.status} ${plan.reason}${LINE}${lines}${LINE}`, "latin1");
}

function frame(plan: ResponsePlan, piece: Buffer): Buffer {
  if (plan.framing !== "chunked" || piece.length === 0) return plan.framing === "chunked" ? Buffer.alloc(0) : piece;
  return Buffer.concat([
    Buffer.from(`${piece.length.toString(16)}${LINE}`, "latin1"),
    piece,
    Buffer.from(LINE, "latin1"),
  ]);
}
