/** The logger of an embedding host that gives none. */
import type { Logger } from "@dragoman/core";

const ignore = (): void => {
  // A host without a logger hears of requests through observers.
};

export const SILENT_LOGGER: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
