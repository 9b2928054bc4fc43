// The control: two sockets and nothing between them. What any gateway on Node pays at least.
import { connect, createServer } from "node:net";

const upstreamPort = Number(process.argv[2]);

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({
    port: upstreamPort,
    host: "127.0.0.1",
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafeSlow(65_536),
      callback: (length, buffer) => {
        client.write(Buffer.from(buffer.subarray(0, length)));
        return true;
      },
    },
  });
  client.on("data", (data) => upstream.write(data));
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
