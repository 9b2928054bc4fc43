/** The registry that the command line works with: every built-in dialect and provider kind. */
import { DialectRegistry } from "@dragoman/core";
import { BUILT_IN_DIALECTS, BUILT_IN_KINDS } from "@dragoman/dialects";

/** Makes the registry of all built-in dialects. */
export function createBuiltInRegistry(): DialectRegistry {
  return new DialectRegistry(BUILT_IN_DIALECTS, BUILT_IN_KINDS);
}
