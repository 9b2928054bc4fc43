/** The engine's ports on Node. */
export { createNodeClock } from "./node-clock.ts";
export { NODE_HASHER } from "./node-hasher.ts";
export { createNodeRandom } from "./node-random.ts";
export { SILENT_LOGGER } from "./silent-logger.ts";
