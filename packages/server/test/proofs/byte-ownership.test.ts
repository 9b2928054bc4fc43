// Who owns which bytes until when: released bodies and the upstream client's read buffer are overwritten at once here, so a byte that
// is used a moment too long arrives somewhere as poison or as somebody else's.
import { createHash } from "node:crypto";

import { afterEach, describe, expect, it } from "vitest";

import { until } from "../harness/until.ts";
import { deployment } from "./engine-stack.ts";
import { startProofServer } from "./proof-server.ts";
import type { ProofServer } from "./proof-server.ts";
import { chunk, jsonAnswer, LAST_CHUNK, STREAM_HEAD } from "./raw-upstream.ts";
import type { RawCall } from "./raw-upstream.ts";
import { StreamClient } from "./stream-client.ts";
import {
  closingRecords,
  contentRecord,
  openingRecords,
  PROOF_DIALECTS,
  recordedStream,
  spokenText,
  streamRequest,
  textOf,
} from "./streams.ts";
import type { ProofDialect } from "./streams.ts";

const PAIRS = PROOF_DIALECTS.map((upstream) => ({ client: "chat" as const, upstream }));
/** Below the largest size that a pool keeps, so that the buffer is used again; far above what sockets take at once. */
const BODY_BYTES = 4_000_000;
/** More than the kernel takes while nobody reads, so that a part is still to be sent from the body's own memory. */
const HUGE_BODY_BYTES = 12_000_000;

let server: ProofServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

/** A text whose every part tells whose it is and where it stands. */
function distinctText(name: string, length: number): string {
  const parts: string[] = [];
  for (let at = 0; at < length; at += 16) parts.push(`${name}${String(at).padStart(15, "0")}`);
  return parts.join("").slice(0, length);
}

/** The prompt that an upstream was sent, whatever its dialect. */
function promptOf(call: RawCall): string {
  const body = JSON.parse(call.body.toString("utf8")) as {
    readonly messages: readonly { readonly content: string | readonly { readonly text: string }[] }[];
  };
  const content = body.messages[0]?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}

const digest = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const streamed = (dialect: ProofDialect, text: string): string =>
  STREAM_HEAD +
  recordedStream(dialect, [text])
    .map((record) => chunk(record.text))
    .join("") +
  LAST_CHUNK;
const modelOf = (call: RawCall): string =>
  /"model" ?: ?"([^"]+)"/u.exec(
    call.body.toString("latin1", 0, 4_096) + call.body.toString("latin1", Math.max(0, call.receivedBytes - 4_096)),
  )?.[1] ?? "";

const RATE_LIMIT = jsonAnswer(429, '{"error":{"type":"rate_limit_error","message":"Slow down."}}');
/** What the kernel cannot take as a whole is still being written; of the rest it may be that the pool has the memory again. */
const REFUSALS = [
  { name: "most of the body is still in this process", bodyBytes: HUGE_BODY_BYTES, refusal: RATE_LIMIT },
  {
    name: "the body is on its way, and closes",
    bodyBytes: BODY_BYTES,
    refusal: RATE_LIMIT.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"),
  },
] as const;

describe.each(PAIRS)("a $client client of a $upstream upstream", ({ client: dialect, upstream }) => {
  it.each(REFUSALS)(
    "falls back with the right bytes when the first upstream refuses while $name",
    async ({ bodyBytes, refusal }) => {
      let refused: RawCall | null = null;
      const churned: string[] = [];
      server = await startProofServer({
        models: {
          m: {
            attempts: 1,
            deployments: [deployment("a", upstream, { tier: 1 }), deployment("b", upstream, { tier: 2 })],
          },
          other: { attempts: 1, deployments: [deployment("c", upstream)] },
        },
        onHead: (call) => {
          if (refused !== null || call.bodyLength < bodyBytes) return;
          refused = call;
          // Refuses at once, and takes the rest of the body only later.
          call.socket.pause();
          call.socket.write(refusal);
        },
        onRequest: (call) => {
          if (call === refused) return;
          if (modelOf(call) === "up-c") churned.push(promptOf(call));
          call.socket.write(streamed(upstream, modelOf(call)));
        },
      });
      const prompt = distinctText("p", bodyBytes);
      const client = StreamClient.ask(server.port, dialect, streamRequest(dialect, "m", prompt));
      // Other requests want buffers of the same size all the while; they are told apart by their length.
      const others = Array.from({ length: 3 }, (_, index) => distinctText(String(index), BODY_BYTES - 1_000));
      const port = server.port;
      const clients = others.map((text) => StreamClient.ask(port, dialect, streamRequest(dialect, "other", text)));
      await until(() => client.isComplete && clients.every((other) => other.isComplete), "all answers");
      expect(client.status).toBe(200);
      expect(spokenText(client.text)).toBe("up-b");
      const { calls } = server.upstream;
      const second = calls.find((call) => call !== refused && modelOf(call) === "up-b");
      expect(second === undefined ? "" : digest(promptOf(second))).toBe(digest(prompt));
      expect(churned.map(digest).toSorted()).toEqual(others.map(digest).toSorted());
      // What the first upstream gets of the cut body in the end is a beginning of it, to the last byte.
      const first = refused as RawCall | null;
      if (first === null || second === undefined) throw new Error("two calls were made");
      first.socket.resume();
      await until(() => first.isClosed, "the refused connection to be closed");
      const whole = Buffer.from(second.body.toString("utf8").replace('"up-b"', '"up-a"'));
      expect(first.body.equals(whole.subarray(0, first.receivedBytes))).toBe(true);
      expect(server.admission.rules.flat().toSorted()).toEqual(["actual", "actual", "actual", "actual", "failed_free"]);
      await server.atRest();
    },
  );

  it("sends the rest of a body rightly after the answer has begun and other bodies want its memory", async () => {
    let slow: RawCall | null = null;
    const churned: string[] = [];
    server = await startProofServer({
      models: {
        m: { attempts: 1, deployments: [deployment("a", upstream)] },
        other: { attempts: 1, deployments: [deployment("c", upstream)] },
      },
      onHead: (call) => {
        if (slow !== null || call.bodyLength < HUGE_BODY_BYTES) return;
        slow = call;
        // Answers before it has read the request: the gateway commits, but the body is still needed.
        call.socket.pause();
        call.socket.write(
          STREAM_HEAD + chunk(textOf(openingRecords(upstream)) + contentRecord(upstream, "early").text),
        );
      },
      onRequest: (call) => {
        if (call === slow) {
          call.socket.write(chunk(textOf(closingRecords(upstream))) + LAST_CHUNK);
          return;
        }
        churned.push(promptOf(call));
        call.socket.write(streamed(upstream, "other"));
      },
    });
    const prompt = distinctText("p", HUGE_BODY_BYTES);
    const client = StreamClient.ask(server.port, dialect, streamRequest(dialect, "m", prompt));
    await until(() => client.text.includes("early"), "the early content");
    const others = Array.from({ length: 3 }, (_, index) => distinctText(String(index), BODY_BYTES));
    for (const text of others) {
      const other = StreamClient.ask(server.port, dialect, streamRequest(dialect, "other", text));
      await until(() => other.isComplete, "another answer");
    }
    const call = slow as RawCall | null;
    if (call === null) throw new Error("the first call was made");
    call.socket.resume();
    await until(() => client.isComplete, "the whole answer");
    expect(digest(promptOf(call))).toBe(digest(prompt));
    expect(churned.map(digest).toSorted()).toEqual(others.map(digest).toSorted());
    expect(spokenText(client.text)).toBe("early");
    await server.atRest();
  });

  it("keeps the bytes of a client that does not read apart from those of one that does", async () => {
    const pieceBytes = 50_000;
    const pieces = 200;
    server = await startProofServer({
      models: { m: { attempts: 1, deployments: [deployment("a", upstream)] } },
      onRequest: (call) => {
        const name = promptOf(call);
        void (async () => {
          await call.write(STREAM_HEAD + chunk(textOf(openingRecords(upstream))));
          for (let index = 0; index < pieces; index += 1)
            await call.write(chunk(contentRecord(upstream, distinctText(name, pieceBytes)).text));
          await call.write(chunk(textOf(closingRecords(upstream))) + LAST_CHUNK);
        })();
      },
    });
    const stalled = StreamClient.ask(server.port, dialect, streamRequest(dialect, "m", "s"));
    await until(() => stalled.receivedBytes > 0, "the first bytes");
    stalled.incoming?.pause();
    const { port } = server;
    const readers = ["x", "y"].map((name) => ({
      name,
      client: StreamClient.ask(port, dialect, streamRequest(dialect, "m", name)),
    }));
    await until(() => readers.every(({ client }) => client.isComplete), "the answers of those that read");
    expect(stalled.isComplete).toBe(false);
    stalled.incoming?.resume();
    await until(() => stalled.isComplete, "the answer of the client that had not read");
    const all = [...readers, { name: "s", client: stalled }];
    expect(all.map(({ client }) => digest(spokenText(client.text)))).toEqual(
      all.map(({ name }) => digest(distinctText(name, pieceBytes).repeat(pieces))),
    );
    await server.atRest();
  });
});
