// The bench's upstream: answers from pre-rendered bytes, so that it never is the bottleneck. Streams come one event every 2 ms.
import { createServer } from "node:net";

import { MessageReader } from "./http-frames.mjs";
import { ANTHROPIC_ANSWER, ANTHROPIC_EVENTS, CHAT_ANSWER, CHAT_EVENTS } from "./traffic.mjs";

const EVENT_INTERVAL_MS = 2;
const UPSTREAM_HEADERS = Array.from({ length: 12 }, (_, index) => `x-upstream-field-${index}: value-${index}\r\n`).join(
  "",
);

const whole = (body) =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${UPSTREAM_HEADERS}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
const chunk = (text) => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);

const CHAT = whole(CHAT_ANSWER);
const ANTHROPIC = whole(ANTHROPIC_ANSWER);
const STREAM_HEAD = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${UPSTREAM_HEADERS}transfer-encoding: chunked\r\n\r\n`,
);
const CHAT_CHUNKS = CHAT_EVENTS.map(chunk);
const ANTHROPIC_CHUNKS = ANTHROPIC_EVENTS.map(chunk);
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

function stream(socket, chunks) {
  socket.write(STREAM_HEAD);
  let next = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) {
      clearInterval(timer);
      return;
    }
    if (next < chunks.length - 1) {
      socket.write(chunks[next++]);
      return;
    }
    clearInterval(timer);
    socket.write(Buffer.concat([chunks[next], LAST_CHUNK]));
  }, EVENT_INTERVAL_MS);
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  const reader = new MessageReader((head, body) => {
    const isAnthropic = head.includes("/messages ");
    const isStream = body.includes('"stream":true');
    if (isStream) stream(socket, isAnthropic ? ANTHROPIC_CHUNKS : CHAT_CHUNKS);
    else socket.write(isAnthropic ? ANTHROPIC : CHAT);
  });
  socket.on("data", (data) => reader.push(data));
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
