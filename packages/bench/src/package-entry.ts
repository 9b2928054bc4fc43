// Where the built entry files of this package lie: processes and worker threads are started by path, which only the build has.
import { existsSync } from "node:fs";
import { dirname, basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Absolute path of a built entry such as `mock/process-entry`, also when the caller itself runs from sources.
 *
 * @throws Error when the package was not built.
 */
export function packageEntry(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!["dist", "src"].includes(basename(folder))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("this file lies in neither src nor dist");
    folder = parent;
  }
  const entry = join(dirname(folder), "dist", `${name}.js`);
  if (!existsSync(entry)) throw new Error(`${entry} does not exist: build the package first`);
  return entry;
}
