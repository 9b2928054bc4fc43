/** The package's version, read from its own manifest so that it is stated once. */
import { createRequire } from "node:module";

const manifest: unknown = createRequire(import.meta.url)("../package.json");

const hasVersion = (value: unknown): value is { readonly version: string } =>
  typeof value === "object" && value !== null && "version" in value && typeof value.version === "string";

/** Version of this package, as its manifest states it. */
export const VERSION: string = hasVersion(manifest) ? manifest.version : "0.0.0";
