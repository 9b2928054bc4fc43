// The front end over plain sockets against the very tests of the node:http front end: what a client and the engine see is one table.
import { describe } from "vitest";

import { serveWith } from "../http/fixtures/fake-engine.ts";
import { createWireServer } from "./index.ts";

serveWith(createWireServer);

describe("heads, bodies, expectations", async () => {
  await import("../http/http-server.test.ts");
});
describe("connections", async () => {
  await import("../http/connection.test.ts");
});
describe("TLS", async () => {
  await import("../http/node-handler.test.ts");
});
describe("answers", async () => {
  await import("../http/node-responder.test.ts");
});
