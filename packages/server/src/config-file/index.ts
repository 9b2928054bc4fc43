/** The configuration file, the secrets it refers to, and the configuration of a start without one. */
export { formatFileProblem, loadConfigFile } from "./load-config-file.ts";
export type { LoadResult } from "./load-config-file.ts";
export { createSecretResolver, reasonOf } from "./secret-resolver.ts";
export { configFromEnvironment, discoveryVariables } from "./zero-config.ts";
export { readSource } from "./source-text.ts";
