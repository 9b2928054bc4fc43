// An empty folder into which packed packages are installed as a user would: by npm, from tarballs, without a lockfile, so that every
// range resolves to what it means today. What came along is counted from npm's own list of what it put there.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { run, type Packed } from "./pack.ts";

const QUIETLY = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];

/** A folder with packages installed in it. */
export interface Consumer {
  readonly folder: string;
  readonly packed: readonly Packed[];
}

/** What an installation brought. Paths are relative to the folder. */
export interface Closure {
  /** Packages that are not ours. */
  readonly foreign: readonly string[];
  /** Packages that run something when they are installed. */
  readonly withInstallScript: readonly string[];
  /** Files that are compiled for one platform, or ask to be, of packages that are not optional. */
  readonly nativeFiles: readonly string[];
  readonly bytes: number;
}

interface HiddenLockfile {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean; readonly optional?: boolean }>>;
}

/** Makes a consumer of these packages and nothing else. */
export function createConsumer(folder: string, packed: readonly Packed[]): Consumer {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  // Whatever our packages bring must run on the Node that they promise.
  const tarballs = packed.map(({ tarball }) => tarball);
  run("npm", ["install", ...QUIETLY, "--engine-strict=true", ...tarballs], folder);
  return { folder, packed };
}

/** Installs what an application has beside our packages, as npm names it. Which Node that asks for is not ours to judge. */
export function installBeside({ folder }: Consumer, specifications: readonly string[]): void {
  run("npm", ["install", ...QUIETLY, "--engine-strict=false", ...specifications], folder);
}

/** Counts what was installed. */
export function measureClosure({ folder, packed }: Consumer): Closure {
  const modules = join(folder, "node_modules");
  const { packages } = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as HiddenLockfile;
  const ours = packed.map(({ name }) => `node_modules/${name}`);
  const missing = ours.filter((path) => packages[path] === undefined);
  if (missing.length > 0) throw new Error(`npm did not install ${missing.join(", ")}`);
  const files = listFiles(modules);
  // What npm could not install for a platform is left out, and our packages do without it.
  const optional = Object.keys(packages).filter((path) => packages[path]?.optional === true);
  const isOptional = (file: string): boolean => optional.some((path) => `node_modules/${file}`.startsWith(`${path}/`));
  return {
    foreign: Object.keys(packages).filter((path) => !ours.includes(path)),
    withInstallScript: Object.keys(packages).filter((path) => packages[path]?.hasInstallScript === true),
    nativeFiles: files.filter((path) => (path.endsWith(".node") || path.endsWith("binding.gyp")) && !isOptional(path)),
    bytes: files.reduce((sum, path) => sum + statSync(join(modules, path)).size, 0),
  };
}

/** Prints a closure, and throws when it is larger than allowed or builds something. */
export function checkClosure(name: string, closure: Closure, maxForeign: number): void {
  const { foreign, withInstallScript, nativeFiles, bytes } = closure;
  console.log(`${name}: ${foreign.length} packages beside ours, ${(bytes / 1e6).toFixed(1)} MB installed`);
  if (foreign.length > maxForeign) throw new Error(`${name} brings more than ${maxForeign}: ${foreign.join(", ")}`);
  if (withInstallScript.length > 0) throw new Error(`${name} runs install scripts: ${withInstallScript.join(", ")}`);
  if (nativeFiles.length > 0) throw new Error(`${name} brings native code: ${nativeFiles.join(", ")}`);
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
