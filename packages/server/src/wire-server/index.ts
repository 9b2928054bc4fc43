// The doors of the front end over plain sockets.

export { createWireServer } from "./wire-server.ts";
