// What this package knows of its own place: its version, and its built entry files. Processes and worker threads are started by path,
// which only the build has.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Absolute path of a built entry such as `mock/process-entry`, also when the caller itself runs from sources.
 *
 * @throws Error when the package was not built.
 */
export function packageEntry(name: string): string {
  const entry = join(packageRoot(), "dist", `${name}.js`);
  if (!existsSync(entry)) throw new Error(`${entry} does not exist: build the package first`);
  return entry;
}

/** Version of this package. */
export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as {
    readonly version: string;
  };
  return manifest.version;
}

/** The folder above `src` or `dist`, in either of which this file lies at some depth. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!["dist", "src"].includes(basename(folder))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("this file lies in neither src nor dist");
    folder = parent;
  }
  return dirname(folder);
}
