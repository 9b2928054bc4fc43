// What a proxy pays that parses each body and writes it anew to change one member: raw sockets, JSON.parse, JSON.stringify.
import { connect, createServer } from "node:net";

import { MessageReader } from "./http-frames.mjs";

const upstreamPort = Number(process.argv[2]);

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ port: upstreamPort, host: "127.0.0.1", noDelay: true });
  const reader = new MessageReader((_head, body) => {
    const request = JSON.parse(body.toString());
    request.model = "up";
    const text = JSON.stringify(request);
    upstream.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`,
      "latin1",
    );
    upstream.write(text);
  });
  client.on("data", (data) => reader.push(data));
  upstream.on("data", (data) => client.write(data));
  const destroy = () => {
    client.destroy();
    upstream.destroy();
  };
  client.on("error", destroy);
  client.on("close", destroy);
  upstream.on("error", destroy);
  upstream.on("close", destroy);
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
