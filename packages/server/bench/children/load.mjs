// The load: a closed loop over kept connections, in a process of its own. With a rate it is paced: a connection that is free waits for
// its turn, so that subjects of different speed are compared at the same rate. Answers with the number of requests that completed.
import { connect } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** One connection that sends the next request when the last answer is whole. */
class Client {
  constructor(load) {
    this.load = load;
    this.socket = connect({
      port: load.port,
      host: "127.0.0.1",
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafeSlow(65_536),
        callback: (length, buffer) => (this.read(buffer.subarray(0, length)), true),
      },
    });
    this.socket.on("error", (error) => load.fail(error));
    this.socket.on("close", () => load.fail(new Error("the server closed a kept connection")));
    this.isChunked = false;
    this.left = -1;
    this.tail = Buffer.alloc(0);
    this.send();
  }

  send() {
    if (this.load.isStopping) return;
    if (this.load.pacer !== null && !this.load.pacer.admits(this)) return;
    this.sendNow();
  }

  sendNow() {
    this.left = -1;
    this.isChunked = false;
    this.tail = Buffer.alloc(0);
    this.socket.write(this.load.request);
  }

  read(bytes) {
    if (this.left === -1 && !this.isChunked) {
      const joined = this.tail.length === 0 ? bytes : Buffer.concat([this.tail, bytes]);
      const headEnd = joined.indexOf(HEAD_END);
      if (headEnd < 0) {
        this.tail = Buffer.from(joined);
        return;
      }
      const head = joined.latin1Slice(0, headEnd).toLowerCase();
      if (!head.startsWith("http/1.1 200")) this.load.fail(new Error(head.slice(0, 200)));
      const rest = joined.subarray(headEnd + 4);
      this.tail = Buffer.alloc(0);
      const length = /content-length: *(\d+)/.exec(head);
      this.isChunked = length === null;
      this.left = length === null ? -1 : Number(length[1]);
      if (rest.length > 0 || this.left === 0) this.body(rest);
      return;
    }
    this.body(bytes);
  }

  body(bytes) {
    if (!this.isChunked) {
      this.left -= bytes.length;
      if (this.left === 0) this.done();
      return;
    }
    const end = this.tail.length === 0 ? bytes : Buffer.concat([this.tail, bytes]);
    if (end.length >= 5 && end.subarray(end.length - 5).equals(LAST_CHUNK)) this.done();
    else this.tail = Buffer.from(end.subarray(Math.max(0, end.length - 4)));
  }

  done() {
    this.load.completed += 1;
    this.send();
  }
}

/** Spreads sends evenly over time; what fell due while every connection was busy is not caught up. */
class Pacer {
  constructor(perSecond) {
    this.perMillisecond = perSecond / 1000;
    this.waiting = [];
    this.credit = 0;
    this.last = performance.now();
    this.timer = setInterval(() => this.release(), 1);
  }

  admits(client) {
    if (this.credit < 1) {
      this.waiting.push(client);
      return false;
    }
    this.credit -= 1;
    return true;
  }

  release() {
    const now = performance.now();
    this.credit += (now - this.last) * this.perMillisecond;
    this.last = now;
    while (this.credit >= 1 && this.waiting.length > 0) {
      this.credit -= 1;
      this.waiting.shift().sendNow();
    }
    this.credit = Math.min(this.credit, this.perMillisecond);
  }

  stop() {
    clearInterval(this.timer);
  }
}

let load = null;

process.on("message", (message) => {
  if (message.type === "start") {
    const body = Buffer.from(message.body);
    const head = Buffer.from(
      `POST ${message.path} HTTP/1.1\r\nhost: 127.0.0.1:${message.port}\r\ncontent-type: application/json\r\naccept: application/json\r\nuser-agent: OpenAI/JS 6.49.0\r\nx-stainless-lang: js\r\nx-stainless-package-version: 6.49.0\r\nx-stainless-os: Linux\r\nx-stainless-arch: x64\r\nx-stainless-runtime: node\r\nx-stainless-runtime-version: v24.0.0\r\nx-stainless-retry-count: 0\r\nauthorization: Bearer ${message.key}\r\naccept-encoding: gzip, deflate\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    load = {
      port: message.port,
      request: Buffer.concat([head, body]),
      completed: 0,
      isStopping: false,
      pacer: message.rate > 0 ? new Pacer(message.rate) : null,
      fail: (error) => {
        if (load.isStopping) return;
        load.isStopping = true;
        process.send({ type: "failed", message: error.message });
      },
    };
    load.clients = Array.from({ length: message.connections }, () => new Client(load));
  } else if (message.type === "count") {
    process.send({ type: "count", completed: load.completed });
  } else if (message.type === "stop") {
    load.isStopping = true;
    load.pacer?.stop();
    for (const client of load.clients) client.socket.destroy();
    process.send({ type: "stopped" });
  }
});
process.send({ type: "ready" });
