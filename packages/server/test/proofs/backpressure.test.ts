// A client that does not read holds its upstream up: what the gateway and the kernel take in between is bounded, however much the
// upstream has to say, and nothing of it is lost.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, describe, expect, it } from "vitest";

import { until } from "../harness/until.ts";
import { deployment } from "./engine-stack.ts";
import { startProofServer } from "./proof-server.ts";
import type { ProofServer } from "./proof-server.ts";
import { chunk, LAST_CHUNK, STREAM_HEAD } from "./raw-upstream.ts";
import type { RawCall } from "./raw-upstream.ts";
import { StreamClient } from "./stream-client.ts";
import {
  closingRecords,
  contentRecord,
  openingRecords,
  PROOF_DIALECTS,
  spokenText,
  streamRequest,
  textOf,
} from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

const MIB = 1024 * 1024;
const OFFERED_BYTES = 200 * MIB;
const EVENT_TEXT_BYTES = 64 * 1024;
/**
 * What may leave the upstream before the client reads: the queue (256 KiB), a read and a record of the gateway, and what two pairs of
 * loopback sockets take. A sender's buffer grows to 4 MiB by default (`tcp_wmem`), a receiver's only when it reads.
 */
const MAX_ABSORBED_BYTES = 12 * MIB;
/** Growth of this process's buffers meanwhile. Upstream and client are part of it. */
const MAX_GROWTH_BYTES = 24 * MIB;
/** The upstream counts as held up when it could not hand over anything for this long; more would only be stricter. */
const STILL_MS = 300;
const PAIRS = PROOF_DIALECTS.map((upstream) => ({ client: "chat" as const, upstream }));

let server: ProofServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

/** Finds the texts of a stream as it comes. */
class TextHash {
  readonly #hash = createHash("sha256");
  #rest: Buffer = Buffer.alloc(0);

  push(bytes: Buffer): void {
    const all = this.#rest.byteLength === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const end = all.lastIndexOf("\n\n");
    if (end < 0) {
      this.#rest = all;
      return;
    }
    this.#hash.update(spokenText(all.toString("utf8", 0, end)));
    this.#rest = Buffer.from(all.subarray(end + 2));
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}

/** The n-th text: its number, then filling. */
function eventText(index: number): string {
  return String(index).padStart(12, "0") + FILLING;
}
const FILLING = "0123456789abcdef".repeat(EVENT_TEXT_BYTES / 16).slice(12);

/** Offers the whole stream as fast as it is taken; gives the digest of its texts. */
async function offer(call: RawCall, dialect: ProofDialect): Promise<string> {
  const hash = createHash("sha256");
  await call.write(STREAM_HEAD + chunk(textOf(openingRecords(dialect))));
  for (let sent = 0, index = 0; sent < OFFERED_BYTES; sent += EVENT_TEXT_BYTES, index += 1) {
    const text = eventText(index);
    hash.update(text);
    await call.write(chunk(contentRecord(dialect, text).text));
  }
  await call.write(chunk(textOf(closingRecords(dialect))) + LAST_CHUNK);
  return hash.digest("hex");
}

/** Resolves once a number has stopped to grow. */
async function standstill(read: () => number): Promise<number> {
  let last = -1;
  while (read() !== last) {
    last = read();
    await sleep(STILL_MS);
  }
  return last;
}

const buffersInUse = (): number => process.memoryUsage().arrayBuffers;

describe.each(PAIRS)("a $client client of a $upstream upstream", ({ client: dialect, upstream }) => {
  it("holds up an upstream with 200 MiB to say while it does not read, then gets every byte", async () => {
    const offered: { digest: string | null } = { digest: null };
    server = await startProofServer({
      models: { m: { attempts: 1, deployments: [deployment("a", upstream)] } },
      onRequest: (call) => {
        void offer(call, upstream).then((digest) => (offered.digest = digest));
      },
    });
    const before = buffersInUse();
    const got = new TextHash();
    const client = StreamClient.ask(server.port, dialect, streamRequest(dialect, "m"), (bytes) => got.push(bytes));
    client.outgoing.once("response", (incoming) => incoming.pause());
    await until(() => (server?.upstream.calls.length ?? 0) > 0, "the call");
    const [call] = server.upstream.calls;
    if (call === undefined) throw new Error("a call was made");
    const absorbed = await standstill(() => call.handedBytes);
    expect(absorbed).toBeGreaterThan(0);
    expect(absorbed).toBeLessThan(MAX_ABSORBED_BYTES);
    expect(buffersInUse() - before).toBeLessThan(MAX_GROWTH_BYTES);
    client.incoming?.resume();
    await new Promise<void>((resolve) => client.outgoing.once("close", () => resolve()));
    expect(client.isComplete).toBe(true);
    expect(got.digest()).toBe(offered.digest);
    await server.atRest();
  });

  it("passes an event of 1 MiB, far larger than the queue, in one piece", async () => {
    const text = FILLING.repeat(17).slice(0, MIB);
    server = await startProofServer({
      models: { m: { attempts: 1, deployments: [deployment("a", upstream)] } },
      onRequest: (call) => {
        const records = [
          ...openingRecords(upstream),
          contentRecord(upstream, text),
          contentRecord(upstream, " and on"),
          ...closingRecords(upstream),
        ];
        void call.write(STREAM_HEAD + records.map((record) => chunk(record.text)).join("") + LAST_CHUNK);
      },
    });
    const client = StreamClient.ask(server.port, dialect, streamRequest(dialect, "m"));
    await until(() => client.isComplete, "the whole answer");
    expect(spokenText(client.text) === `${text} and on`).toBe(true);
    await server.atRest();
  });
});
